// SPDX-License-Identifier: Apache-2.0
// The law of a job's rounds: the strategy's row and the numbers that its functions take.
#pragma once

#include <cstdint>
#include <span>

#include "contracts/program/job_spec.hpp"
#include "contracts/program/strategies/strategy.hpp"

namespace assay::program {

/// The row of the job's engine and strategy. REQUIRES a spec that check_spec accepts.
const StrategyRow& strategy_of(const JobSpec& spec);

/// The job's settings for the row's functions.
RoundSettings round_settings(const JobSpec& spec);

/// The clip of a slot's update in the job's merges: kWholeClip in jobs without a norm bound.
std::uint32_t update_clip(const JobSpec& spec, std::span<const std::int64_t> update);

/// is_clip: whether a number can be the clip of an update, which is at most kWholeClip. is_share: whether a
/// weight and a clip can be those of an update in a merge.
bool is_clip(std::uint32_t number);
bool is_share(std::uint64_t weight, std::uint32_t clip);

/// Whether a slot goes on with arrays of its last accepted round.
bool carries_state(const JobSpec& spec);

}  // namespace assay::program
