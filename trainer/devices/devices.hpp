// SPDX-License-Identifier: Apache-2.0
// Opens devices by the name that a machine's owner chose. Only devices.cpp knows which ones exist; a new one
// needs a folder next to trainer/cpu and a line there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/cpu/cpu_options.hpp"
#include "trainer/cuda/card_ways.hpp"
#include "trainer/devices/device_fault.hpp"
#include "trainer/step/device.hpp"
#include "trainer/step/gemm.hpp"

namespace assay::trainer {

struct DeviceOptions {
    /// "cpu"; "cuda:N": card N, as the driver counts; "reference": the scalar law; "cuda-host": a GPU's
    /// kernels, emulated.
    std::string name = "cpu";
    int threads = 1;      ///< of the host, 1 … 256
    CpuOptions cpu = {};  ///< for the processor only
    /// Bytes of its own memory that a GPU may use, or that an emulated one has; 0: all that it has. Other
    /// devices work in the host's memory.
    std::uint64_t memory = 0;
    cuda::CardWays ways = {};                         ///< of a GPU
    std::optional<DeviceFault> fault = std::nullopt;  ///< planted on purpose
};

/// Returns the device, ready to work. kPreflight when this build has none of that name, when the machine
/// lacks it (for a card the error names what is missing, cards.hpp), or when its results would not have the
/// law's bits now (Device::check); kUsage for a wrong number of threads.
base::Outcome<std::unique_ptr<Device>> open_device(const DeviceOptions& options);

/// Returns a product on pseudorandom matrices that is ready to run on the device. Each call does the whole
/// product once, packing included, as training does it: a weight's gradient is added to what is there. The
/// caller measures time. On a processor it is only the product, on any other device a whole operator
/// (operator_bench.hpp). Errors of open_device; kFailure when memory is short.
base::Outcome<std::function<void()>> make_gemm_bench(const DeviceOptions& options, program::Profile profile,
                                                     GemmShape shape, GemmKind kind);

}  // namespace assay::trainer
