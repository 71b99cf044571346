// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench` its sides: programs that prepare a case and time runs of it, with lines on stdin and
// stdout. So a comparison can alternate between processes, each with its own environment, threads and peak
// memory. Ours is assay-worker --bench, LibTorch's is assay-libtorch-peer; torch_peer.py answers the same
// lines for PyTorch.
//
// clang-format off
//   name
//       name TEXT: the peer; none of ours
//   gemm SIDE KIND TOKENS IN OUT
//       ready: a product of a linear layer
//   step SIDE LAYERS WIDTH HEADS CONTEXT VOCABULARY BATCH
//       ready: a GPT-2
//   state WORK LAYERS WIDTH HEADS CONTEXT VOCABULARY
//       ready: the state of its slot. WORK: roots, or copy (to the host)
//   parts SIDE LAYERS WIDTH HEADS CONTEXT VOCABULARY BATCH
//       parts NAME COUNT SECONDS …: of one step, where the device tells what its parts took, longest first
//   run N
//       times T1 … TN: seconds of each run of the case
//   peak
//       peak BYTES: largest resident memory so far; on a card, what the last step planned for (ours),
//       or took (PyTorch)
// clang-format on
//
// KIND: forward, input or weight (its gradients), head-input or head-weight (gradients of the LM head). SIDE:
// f32, i16 (ours) or peer (LibTorch fp32). What cannot be done is answered by `error TEXT`.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/step/device.hpp"
#include "trainer/step/gemm.hpp"

namespace assay::verifier {

/// What one call runs once.
using TimedWork = std::function<void()>;

/// The cases that a program can prepare. Each fails with kUsage for a side or a model that the program does
/// not have.
struct BenchCases {
    std::string name;
    std::function<base::Outcome<TimedWork>(std::string_view side, trainer::GemmShape, trainer::GemmKind)>
        gemm;
    std::function<base::Outcome<TimedWork>(std::string_view side, const program::ModelConfig&,
                                           std::uint32_t batch)>
        step;
    /// Times of the parts of such a step. Null when the program cannot report them.
    std::function<base::Outcome<std::vector<trainer::WorkTime>>(
        std::string_view side, const program::ModelConfig&, std::uint32_t batch)>
        parts;
    /// Null when the program has no such case.
    std::function<base::Outcome<TimedWork>(std::string_view work, const program::ModelConfig&)> state;
    /// Peak bytes on a device with its own memory; null: use the process's peak.
    std::function<std::uint64_t()> peak;
};

/// Answers lines of `in` on `out` until `in` ends.
void serve_bench(std::FILE* in, std::FILE* out, const BenchCases& cases);

}  // namespace assay::verifier
