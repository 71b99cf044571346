// SPDX-License-Identifier: Apache-2.0
// Learning rates and bias corrections of a job: a table computed in binary64 by repeated multiplication and
// rounded once to binary32.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::program {

/// Everything below is in binary64 on the exact values of the spec's binary32 numbers:
///   correction_k(t) = 1 / (1 − beta_k^t), t = 1 … inner_steps (moments restart every round), the power by
///   t−1 multiplications; one_minus_beta_k = 1 − beta_k;
///   lr(g) = learning_rate · (g + 1) / warmup_steps for global step g = round·inner_steps + step below
///   warmup_steps, then learning_rate; decay = lr(g) (unrounded) · weight_decay.
class Schedule {
public:
    /// REQUIRES a TrainConfig that check_spec accepts.
    explicit Schedule(const TrainConfig& train);

    /// Coefficients of inner step `step` (from 0) of `round`; `decay` is that of decaying tensors, callers
    /// put 0 for the others. REQUIRES step < inner_steps.
    [[nodiscard]] arithmetic::AdamWCoefficients at(std::uint64_t round, std::uint32_t step) const;

private:
    struct Corrections {
        float first;
        float second;
    };
    TrainConfig train_;
    std::vector<Corrections> corrections_;
};

}  // namespace assay::program
