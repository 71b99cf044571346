// SPDX-License-Identifier: Apache-2.0
// States of a job as values, for JobRunner and its callers: the base state of a round, the state of a slot
// inside a round, and the update that the slot submits. Each array is flat in canonical order
// (contracts/program/tensors.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace assay::trainer {

/// What a round starts from: θ_r and the outer optimizer's momentum. `step` is round · inner_steps for the
/// round that follows the merge that made this state. It is less than that of the current round when rounds
/// were settled without a merge in between.
struct BaseState {
    std::uint64_t step = 0;
    std::vector<float> parameters;
    std::vector<float> outer_momentum;
    friend bool operator==(const BaseState&, const BaseState&) = default;
};

/// The state of round 0 with these weights: step 0, the outer momentum zero.
inline BaseState first_state(std::vector<float> parameters) {
    const std::size_t count = parameters.size();
    return {0, std::move(parameters), std::vector<float>(count, 0.0F)};
}

/// A slot inside a round. `step` counts the inner steps done in this round, 0 … inner_steps;
/// `cursor` = round · inner_steps + step. `age` counts the steps that went into the moments; it is set
/// exactly in jobs that carry moments over rounds.
struct SlotState {
    std::uint64_t step = 0;
    std::uint64_t cursor = 0;
    std::vector<float> parameters;
    std::vector<float> first_moment;
    std::vector<float> second_moment;
    std::optional<std::uint64_t> age = std::nullopt;
    friend bool operator==(const SlotState&, const SlotState&) = default;
};

/// What a slot continues from: the moments at the end of its last accepted round, and their age.
struct CarriedState {
    std::uint64_t age = 0;
    std::vector<float> first_moment;
    std::vector<float> second_moment;
    friend bool operator==(const CarriedState&, const CarriedState&) = default;
};

/// Takes the carried state from the state at the end of a slot's round.
inline CarriedState carried_of(SlotState end) {
    return {end.age.value_or(0), std::move(end.first_moment), std::move(end.second_moment)};
}

/// θ_start − θ_end, rounded as the job's codec rounds, as integers at 2^sum_exponent.
struct Update {
    std::vector<std::int64_t> values;
    friend bool operator==(const Update&, const Update&) = default;
};

}  // namespace assay::trainer
