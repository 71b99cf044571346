// SPDX-License-Identifier: Apache-2.0
#include "trainer/devices/cards.hpp"

#include <dlfcn.h>

#include <charconv>
#include <fstream>
#include <memory>
#include <sstream>

#ifdef ASSAY_CUDA_CARDS
#include "trainer/cuda/runtime_card.hpp"
#endif

namespace assay::trainer {

using base::ErrorKind;
using base::fail;

namespace {

constexpr int kOldestCapability = 75;  // mma.sync on integers

// Functions and numbers of the driver's interface (CUDA Driver API, cuda.h), which NVIDIA keeps as they are.
constexpr int kSuccess = 0;
constexpr int kNoDevice = 100;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
constexpr int kNameBytes = 256;

class DriverLibrary {
public:
    explicit DriverLibrary(const std::string& file) : handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (!handle_) return;
        whole_ = find(init, "cuInit") && find(version, "cuDriverGetVersion") &&
                 find(count, "cuDeviceGetCount") && find(device, "cuDeviceGet") &&
                 find(name, "cuDeviceGetName") && find(attribute, "cuDeviceGetAttribute") &&
                 find(memory, "cuDeviceTotalMem_v2");
        static_cast<void>(find(error_name, "cuGetErrorName"));
    }

    [[nodiscard]] bool whole() const { return whole_; }
    [[nodiscard]] std::string error_text(int error) const {
        const char* text = nullptr;
        if (error_name != nullptr && error_name(error, &text) == kSuccess && text != nullptr) return text;
        return "CUDA error " + std::to_string(error);
    }

    int (*init)(unsigned flags) = nullptr;
    int (*version)(int* cuda) = nullptr;
    int (*count)(int* cards) = nullptr;
    int (*device)(int* card, int number) = nullptr;
    int (*name)(char* text, int bytes, int card) = nullptr;
    int (*attribute)(int* value, int which, int card) = nullptr;
    int (*memory)(std::size_t* bytes, int card) = nullptr;
    int (*error_name)(int error, const char** text) = nullptr;

private:
    struct Close {
        void operator()(void* handle) const { ::dlclose(handle); }
    };
    template <class Function>
    bool find(Function& function, const char* symbol) {
        function = reinterpret_cast<Function>(::dlsym(handle_.get(), symbol));
        return function != nullptr;
    }
    std::unique_ptr<void, Close> handle_;
    bool whole_ = false;
};

std::string first_word_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

unsigned count_on_bus(const std::filesystem::path& bus) {
    unsigned found = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(bus, error)) {
        const bool nvidia = first_word_of(entry.path() / "vendor") == "0x10de";
        // Of base class 3, display controllers: with and without an output, and not their sound.
        if (nvidia && first_word_of(entry.path() / "class").starts_with("0x03")) ++found;
    }
    return found;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  …": the first word that is a version.
std::string module_version(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string word;
    while (file >> word) {
        const bool number = word.find_first_not_of("0123456789.") == std::string::npos;
        if (number && word.find('.') != std::string::npos) return word;
    }
    return {};
}

base::Outcome<FoundCard> card_of(const DriverLibrary& driver, int number) {
    FoundCard card;
    int at = 0;
    char text[kNameBytes] = {};
    std::size_t bytes = 0;
    int error = driver.device(&at, number);
    if (error == kSuccess) error = driver.name(text, kNameBytes - 1, at);
    if (error == kSuccess) error = driver.attribute(&card.major, kCapabilityMajor, at);
    if (error == kSuccess) error = driver.attribute(&card.minor, kCapabilityMinor, at);
    if (error == kSuccess) error = driver.memory(&bytes, at);
    if (error != kSuccess) return fail(ErrorKind::kPreflight, driver.error_text(error));
    card.name = text;
    card.memory = bytes;
    return card;
}

std::string cards_text(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " card" : " cards");
}

constexpr const char* kInContainer = " (in a container: give it the cards, as docker run --gpus all does)";

std::string newer_driver(const CardBuild& build) {
    return "install NVIDIA's driver for CUDA " + cuda_text(build.runtime) + " or newer";
}

}  // namespace

std::string cuda_text(int cuda) {
    return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

std::optional<int> card_number(std::string_view device) {
    constexpr std::string_view kCard = "cuda:";
    constexpr std::size_t kMostDigits = 4;
    if (!device.starts_with(kCard)) return std::nullopt;
    device.remove_prefix(kCard.size());
    const bool digits = device.find_first_not_of("0123456789") == std::string_view::npos;
    if (device.empty() || device.size() > kMostDigits || !digits) return std::nullopt;
    int number = 0;
    std::from_chars(device.data(), device.data() + device.size(), number);
    return number;
}

namespace {
// What a build brings for a compute capability.
enum class KernelCode : std::uint8_t {
    kNone,
    kPtx,      // which the driver compiles as it loads it
    kMachine,  // which runs as it is
};

KernelCode code_for(std::string_view architectures, const FoundCard& card) {
    constexpr int kPtxFrom = 80;  // trainer/cuda/CMakeLists.txt
    const int capability = card.major * 10 + card.minor;
    KernelCode best = KernelCode::kNone;
    std::istringstream words{std::string(architectures)};
    for (std::string word; words >> word;) {
        int built = 0;
        std::from_chars(word.data(), word.data() + word.size(), built);
        // Machine code runs on later minor versions, too. With instructions of one version ("90a") it does
        // not.
        const bool own = word.ends_with('a');
        if (own ? built == capability : built / 10 == card.major && built <= capability)
            return KernelCode::kMachine;
        if (built == kPtxFrom && capability >= kPtxFrom) best = KernelCode::kPtx;
    }
    return best;
}

base::Outcome<void> check_code(const CardSurvey& survey, const CardBuild& build, const FoundCard& card,
                               const std::string& device) {
    if (build.architectures.empty()) return {};
    const KernelCode code = code_for(build.architectures, card);
    if (code == KernelCode::kMachine) return {};
    const std::string capability = std::to_string(card.major) + "." + std::to_string(card.minor);
    const std::string of_card =
        device + " (" + card.name + ") has compute capability " + capability + ", for which this build ";
    const std::string build_for =
        "build with -DASSAY_CUDA_ARCHITECTURES=" + std::to_string(card.major * 10 + card.minor) +
        (card.major == 9 ? "a" : "");
    if (code == KernelCode::kNone)
        return fail(ErrorKind::kPreflight, of_card + "has no kernels", build_for + ", or without it");
    // Drivers of one major version run each other's machine code, and do not compile newer PTX.
    if (survey.cuda >= build.runtime) return {};
    return fail(
        ErrorKind::kPreflight,
        of_card + "has no machine code; the driver would have to compile the kernels, and runs CUDA up to " +
            cuda_text(survey.cuda) + ", where they need " + cuda_text(build.runtime),
        newer_driver(build) + ", or " + build_for);
}
}  // namespace

CardBuild card_build() {
#ifdef ASSAY_CUDA_CARDS
    return {.kernels = true, .runtime = cuda::runtime_version(), .architectures = ASSAY_CUDA_ARCHITECTURES};
#else
    return {};
#endif
}

CardSurvey survey_cards(const CardPlaces& places) {
    CardSurvey survey;
    survey.on_bus = count_on_bus(places.bus);
    survey.module = module_version(places.module);
    const DriverLibrary driver(places.library);
    survey.library = driver.whole();
    if (!survey.library) return survey;
    // It answers before the driver is started.
    if (driver.version(&survey.cuda) != kSuccess) survey.cuda = 0;
    const int started = driver.init(0);
    if (started == kNoDevice) return survey;
    int count = 0;
    const int counted = started == kSuccess ? driver.count(&count) : started;
    if (counted != kSuccess) {
        survey.start = driver.error_text(counted);
        return survey;
    }
    for (int number = 0; number < count; ++number) {
        const auto card = card_of(driver, number);
        if (!card.ok()) {
            // Those behind it would be called by other numbers than the driver's.
            survey.start = "card " + std::to_string(number) + ": " + card.error().what;
            return survey;
        }
        survey.cards.push_back(*card);
    }
    return survey;
}

base::Outcome<void> check_driver(const CardSurvey& survey, const CardBuild& build) {
    if (!survey.library) {
        const bool none = survey.on_bus == 0 && survey.module.empty();
        return fail(
            ErrorKind::kPreflight,
            (none ? "this machine has no NVIDIA card on its PCI bus, and no driver"
                  : "NVIDIA's driver is missing: " + cards_text(survey.on_bus) + " on the PCI bus") +
                std::string(", since libcuda.so.1 is not there"),
            none ? "use a machine with a card, or another device: cpu" : newer_driver(build) + kInContainer);
    }
    if (survey.cuda / 1000 < build.runtime / 1000) {
        return fail(ErrorKind::kPreflight,
                    "NVIDIA's driver is too old: it runs CUDA up to " + cuda_text(survey.cuda) +
                        (survey.module.empty() ? "" : " (driver " + survey.module + ")") +
                        ", and this build needs " + cuda_text(build.runtime),
                    newer_driver(build) + ", or build with the older nvcc");
    }
    if (!survey.start.empty()) {
        return fail(
            ErrorKind::kPreflight, "NVIDIA's driver does not start: " + survey.start,
            "load its kernel module (modprobe nvidia), or start the machine again after the driver was "
            "changed; nvidia-smi says more");
    }
    if (survey.cards.empty()) {
        return fail(ErrorKind::kPreflight, "NVIDIA's driver finds no card",
                    "look at nvidia-smi and at CUDA_VISIBLE_DEVICES" + std::string(kInContainer));
    }
    return {};
}

base::Outcome<void> check_card(const CardSurvey& survey, const CardBuild& build, int number) {
    const std::string device = "cuda:" + std::to_string(number);
    if (const auto driver = check_driver(survey, build); !driver.ok()) {
        return fail(ErrorKind::kPreflight, device + " is not there: " + driver.error().what,
                    driver.error().fix);
    }
    if (number < 0 || static_cast<std::size_t>(number) >= survey.cards.size()) {
        const std::size_t last = survey.cards.size() - 1;
        return fail(ErrorKind::kPreflight,
                    device + " is not there: this machine has " + cards_text(survey.cards.size()),
                    last == 0 ? "use cuda:0" : "use cuda:0 to cuda:" + std::to_string(last));
    }
    const FoundCard& card = survey.cards[static_cast<std::size_t>(number)];
    if (card.major * 10 + card.minor < kOldestCapability) {
        return fail(ErrorKind::kPreflight,
                    device + " (" + card.name + ") has compute capability " + std::to_string(card.major) +
                        "." + std::to_string(card.minor) + ", and the kernels need 7.5",
                    "use a card of the Turing generation or a later one, or another device: cpu");
    }
    if (!build.kernels) {
        return fail(ErrorKind::kPreflight, device + ": this build has no kernels for cards",
                    "build with cmake -DASSAY_CUDA=ON (docs/gpu.md), or use another device: cpu");
    }
    return check_code(survey, build, card, device);
}

}  // namespace assay::trainer
