// SPDX-License-Identifier: Apache-2.0
// A library with the few functions of NVIDIA's driver by which cards are found, built as libcuda.so.1. What
// it says is in FAKE_CUDA: "VERSION;INIT" and then ";NAME,MAJOR,MINOR,MIB" for each card. INIT is what cuInit
// returns. As the real one it begins with the last, if FAKE_CUDA_QUICKEST_LAST is there, unless it is told to
// go by the PCI bus. It computes nothing.
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kNotInitialised = 3;
constexpr int kInvalidDevice = 101;
bool started = false;

std::vector<std::string> split(const std::string& text, char between) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, between);) parts.push_back(part);
    return parts;
}

std::vector<std::string> fields() {
    const char* value = std::getenv("FAKE_CUDA");
    return split(value == nullptr ? "13000;0" : value, ';');
}

// The parts of a card: name, major, minor, MiB.
std::vector<std::string> card(int number) {
    const auto all = fields();
    const char* const order = std::getenv("CUDA_DEVICE_ORDER");
    const bool by_bus = order != nullptr && std::strcmp(order, "PCI_BUS_ID") == 0;
    const bool turned = std::getenv("FAKE_CUDA_QUICKEST_LAST") != nullptr && !by_bus;
    const auto place = static_cast<std::size_t>(number);
    const std::size_t at = turned ? all.size() - 1 - place : place + 2;
    return number >= 0 && place + 2 < all.size() ? split(all[at], ',') : std::vector<std::string>{};
}

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
    *version = std::stoi(fields().at(0));
    return 0;
}
int cuInit(unsigned) {
    const int error = std::stoi(fields().at(1));
    started = error == 0;
    return error;
}
int cuDeviceGetCount(int* count) {
    *count = static_cast<int>(fields().size()) - 2;
    return started ? 0 : kNotInitialised;
}
int cuDeviceGet(int* device, int number) {
    *device = number;
    return card(number).empty() ? kInvalidDevice : 0;
}
int cuDeviceGetName(char* name, int bytes, int device) {
    const auto parts = card(device);
    if (parts.empty()) return kInvalidDevice;
    std::strncpy(name, parts[0].c_str(), static_cast<std::size_t>(bytes));
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    const auto parts = card(device);
    if (parts.empty() || (attribute != 75 && attribute != 76)) return kInvalidDevice;
    *value = std::stoi(parts[attribute == 75 ? 1 : 2]);
    return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    const auto parts = card(device);
    if (parts.empty()) return kInvalidDevice;
    *bytes = static_cast<std::size_t>(std::stoull(parts[3])) << 20;
    return 0;
}
int cuGetErrorName(int error, const char** text) {
    *text = error == 999   ? "CUDA_ERROR_UNKNOWN"
            : error == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
                           : nullptr;
    return *text == nullptr ? 1 : 0;
}

}  // extern "C"
