// SPDX-License-Identifier: Apache-2.0
// Gives every output how long a job's escrow lasts.
#pragma once

#include <optional>

#include "contracts/rules/runway.hpp"

namespace assay::node {

struct RunwayView : contracts::Runway {
    template <class Visit>
    void fields(Visit& visit) const {
        visit("rounds_left", rounds_left);
        visit("dearest_round", dearest_round);
        visit("at_dearest", at_dearest);
        visit("mean_round", mean_round);
        visit("at_mean", at_mean);
        visit("low", is_low());
    }
};

/// Nothing for a job that is over.
inline std::optional<RunwayView> runway_view(const contracts::StateView& state, const contracts::Job& job) {
    const auto runway = contracts::runway_of(state, job);
    return runway ? std::optional(RunwayView{*runway}) : std::nullopt;
}

}  // namespace assay::node
