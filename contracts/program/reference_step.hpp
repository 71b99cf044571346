// SPDX-License-Identifier: Apache-2.0
// The reference interpreter, for tests and the reference device. It runs a program operator by operator with
// contracts/arithmetic and keeps every tensor. It is slow and plain on purpose, as the oracle for the
// trainer's executor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/trace.hpp"

namespace assay::program {

/// A slot's arrays, each parameter_count() long.
struct SlotArrays {
    std::vector<float> parameters;
    std::vector<float> first_moment;
    std::vector<float> second_moment;
};

struct StepOutcome {
    Fingerprint fingerprint;                ///< bits that were not reached are zero
    std::optional<std::uint32_t> diverged;  ///< first operator, in program order, with a NaN or Inf output
    std::vector<float> gradient;            ///< flat, before clipping; empty when diverged
};

/// Runs one step over `tokens` (sequences of T+1 ids below the vocabulary, one after another, at least one).
/// On divergence `state` does not change.
StepOutcome reference_step(const Program& program, const arithmetic::AdamWCoefficients& coefficients,
                           std::span<const std::uint32_t> tokens, SlotArrays& state);

/// The mean loss of `tokens` by an evaluation program; nothing when an operator diverged.
std::optional<float> reference_loss(const Program& program, std::span<const std::uint32_t> tokens,
                                    std::span<const float> parameters);

}  // namespace assay::program
