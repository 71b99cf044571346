// SPDX-License-Identifier: Apache-2.0
#include "trainer/devices/devices.hpp"

#include <new>
#include <optional>
#include <utility>

#include "trainer/cpu/cpu_device.hpp"
#include "trainer/cpu/gemm_bench.hpp"
#include "trainer/devices/cards.hpp"
#ifdef ASSAY_CUDA_HOST
#include "trainer/cuda/emulated_card.hpp"
#endif
#ifdef ASSAY_CUDA_CARDS
#include "trainer/cuda/runtime_card.hpp"
#endif
#include "trainer/devices/operator_bench.hpp"
#include "trainer/reference/reference_device.hpp"
#include "trainer/step/device_failure.hpp"

namespace assay::trainer {

using base::ErrorKind;

namespace {

constexpr int kMaxThreads = 256;

struct NamedDevice {
    std::string_view name;
    std::unique_ptr<Device> (*open)(const DeviceOptions& options);
    /// Null: products are timed as operators (operator_bench.hpp).
    std::function<void()> (*make_gemm)(const DeviceOptions& options, program::Profile profile,
                                       GemmShape shape, GemmKind kind);
};

constexpr NamedDevice kDevices[] = {
    {"cpu",
     [](const DeviceOptions& options) -> std::unique_ptr<Device> {
         return std::make_unique<CpuDevice>(options.cpu.target, options.threads, options.cpu.arena);
     },
     [](const DeviceOptions& options, program::Profile profile, GemmShape shape, GemmKind kind) {
         return make_cpu_gemm(options.cpu.target, options.threads, profile, shape, kind);
     }},
    {"reference",
     [](const DeviceOptions&) -> std::unique_ptr<Device> { return std::make_unique<ReferenceDevice>(); },
     nullptr},
#ifdef ASSAY_CUDA_HOST
    {"cuda-host",
     [](const DeviceOptions& options) -> std::unique_ptr<Device> {
         return std::make_unique<cuda::CudaHostDevice>(options.threads,
                                                       cuda::EmulatedOptions{.memory = options.memory},
                                                       cuda::CudaOptions{.ways = options.ways});
     },
     nullptr},
#endif
};

std::string names() {
    std::string text;
    for (const NamedDevice& entry : kDevices) text += (text.empty() ? "" : ", ") + std::string(entry.name);
    return text;
}

base::Outcome<const NamedDevice*> find(const DeviceOptions& options) {
    if (options.threads < 1 || options.threads > kMaxThreads) {
        return base::fail(ErrorKind::kUsage,
                          "threads: " + std::to_string(options.threads) + " is not allowed",
                          "use 1 to " + std::to_string(kMaxThreads));
    }
    for (const NamedDevice& entry : kDevices) {
        if (entry.name == options.name) return &entry;
    }
    // Appended, not added: GCC 12 takes an addition here for an overlapping copy at -O3 (GCC bug 105651).
    std::string what = "device '";
    what.append(options.name).append("' is not there: this build has ").append(names());
    return base::fail(ErrorKind::kPreflight, what,
                      "use one of: " + names() + ", or cuda:N for an NVIDIA card");
}

}  // namespace

base::Outcome<std::unique_ptr<Device>> open_device(const DeviceOptions& options) {
    std::unique_ptr<Device> device;
    if (const auto number = card_number(options.name)) {
        ASSAY_TRY(check_card(survey_cards(), card_build(), *number));
#ifdef ASSAY_CUDA_CARDS
        ASSAY_ASSIGN(device, cuda::open_card(*number, options.memory, options.ways));
#endif
    } else {
        ASSAY_ASSIGN(const NamedDevice* entry, find(options));
        device = entry->open(options);
    }
    if (options.fault) device = with_fault(std::move(device), *options.fault);
    ASSAY_TRY(device->check());
    return device;
}

base::Outcome<std::function<void()>> make_gemm_bench(const DeviceOptions& options, program::Profile profile,
                                                     GemmShape shape, GemmKind kind) {
    const auto entry = find(options);
    if (entry.ok() && (*entry)->make_gemm != nullptr)
        return (*entry)->make_gemm(options, profile, shape, kind);
    if (shape.tokens == 0 || shape.in == 0 || shape.out == 0)
        return base::fail(ErrorKind::kUsage, "bench: a size of the product is 0", "give sizes above 0");
    ASSAY_ASSIGN(auto device, open_device(options));
    try {
        return make_operator_bench(std::move(device), profile, shape, kind);
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, "this product");
    }
}

}  // namespace assay::trainer
