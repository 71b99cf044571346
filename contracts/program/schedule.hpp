// SPDX-License-Identifier: Apache-2.0
// The learning rates and bias corrections of a job: a table computed in binary64 by repeated multiplication
// and rounded once to binary32.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::program {

/// Everything below is in binary64 on the exact values of the spec's binary32 numbers:
///   correction_k(t) = 1 / (1 − beta_k^t), t counting the steps of the moments (they restart every round, or
///   are carried), the power by t−1 multiplications; one_minus_beta_k = 1 − beta_k;
///   lr(g) = learning_rate · (g + 1) / warmup_steps for global step g = round·inner_steps + step below
///   warmup_steps, then learning_rate; decay = lr(g) (unrounded) · weight_decay.
///
/// The table ends where every later correction is 1. For beta2 = 0.99999 that is after 1.7 million steps,
/// some tens of milliseconds of work, and a game's move needs the table twice: so each thread remembers the
/// one that it made last.
class Schedule {
public:
    /// For moments that restart every round. REQUIRES a TrainConfig that check_spec accepts.
    explicit Schedule(const TrainConfig& train);
    /// For the job's moments. REQUIRES a spec that check_spec accepts.
    explicit Schedule(const JobSpec& spec);

    /// Coefficients of inner step `step` (from 0) of `round`. `decay` is that of decaying tensors; callers
    /// set 0 for the others. REQUIRES step < inner_steps and moments that restart every round.
    [[nodiscard]] arithmetic::AdamWCoefficients at(std::uint64_t round, std::uint32_t step) const;
    /// The same for moments that have `age` steps behind them.
    [[nodiscard]] arithmetic::AdamWCoefficients at(std::uint64_t round, std::uint32_t step,
                                                   std::uint64_t age) const;

private:
    struct Corrections {
        float first;
        float second;
    };
    using Table = std::vector<Corrections>;
    Schedule(const TrainConfig& train, std::uint64_t steps);
    static Table table_of(double beta1, double beta2, std::uint64_t steps);
    /// The same, if it is what this thread made last.
    static std::shared_ptr<const Table> remembered(double beta1, double beta2, std::uint64_t steps);

    TrainConfig train_;
    std::shared_ptr<const Table> corrections_;
};

}  // namespace assay::program
