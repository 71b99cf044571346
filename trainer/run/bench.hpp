// SPDX-License-Identifier: Apache-2.0
// Timings of our own kernels and steps, for `assay bench` to print beside a peer's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/host/targets.hpp"

namespace assay::trainer {

struct BenchOptions {
    Target target = Target::kScalar;
    int threads = 1;
    program::Profile profile = program::Profile::kF32;
};

/// Matrix product of a linear layer: `tokens` rows of `in` numbers times a weight of in × out.
struct GemmShape {
    std::uint64_t tokens = 0;
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    [[nodiscard]] double operations() const {
        return 2.0 * static_cast<double>(tokens) * static_cast<double>(in) * static_cast<double>(out);
    }
};

/// Which of the three products of a linear layer, or which gradient of the LM head: there `out` counts the
/// vocabulary, the weight is out × in, and profile i16 gives the logits' gradient three digits.
enum class GemmKind { kForward, kInputGradient, kWeightGradient, kHeadInputGradient, kHeadWeightGradient };

/// A product on pseudorandom matrices that is ready to run, as training does it: a weight's gradient is added
/// to what is there. Each call does the whole product once, packing included; the caller measures time, so
/// that a peer's runs can alternate with ours.
std::function<void()> make_gemm_bench(GemmShape shape, GemmKind kind, const BenchOptions& options);

/// A training step on pseudorandom tokens that is ready to run; each call does one whole step, AdamW
/// included. The count of tokens per call is batch · context. kUsage when the model breaks a rule.
base::Outcome<std::function<void()>> make_step_bench(const program::ModelConfig& model, std::uint32_t batch,
                                                     const BenchOptions& options);

}  // namespace assay::trainer
