// SPDX-License-Identifier: Apache-2.0
// Gives the job runner devices by name: what opens the one that a machine's owner chose. devices.cpp alone
// knows which there are; a new one is another folder beside trainer/cpu and another line there.
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
    CpuOptions cpu = {};  ///< of the processor alone; each device has options of its own type
    /// Bytes of its own memory that a GPU may use, or one that is emulated has; 0: what it has. The others
    /// work in the host's.
    std::uint64_t memory = 0;
    cuda::CardWays ways = {};                         ///< of a GPU
    std::optional<DeviceFault> fault = std::nullopt;  ///< planted on purpose
};

/// The device, ready to work. kPreflight when this build has none of that name, when it is not there (of a
/// card: what is missing, cards.hpp), or when what it computes now would not have the law's bits
/// (Device::check); kUsage for a wrong number of threads.
base::Outcome<std::unique_ptr<Device>> open_device(const DeviceOptions& options);

/// A product on pseudorandom matrices that is ready to run on the device, as training does it: a weight's
/// gradient is added to what is there. Each call does the whole product once, packing included; the caller
/// measures time. A processor's is the product alone, any other device's an operator with all that belongs to
/// one (operator_bench.hpp). Errors of open_device; kFailure where memory is short.
base::Outcome<std::function<void()>> make_gemm_bench(const DeviceOptions& options, program::Profile profile,
                                                     GemmShape shape, GemmKind kind);

}  // namespace assay::trainer
