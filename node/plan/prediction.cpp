// SPDX-License-Identifier: Apache-2.0
#include "node/plan/prediction.hpp"

namespace assay::node {

const RoundPrediction* JobPrediction::up_to(std::uint32_t rounds_done) const {
    const RoundPrediction* found = nullptr;
    for (const RoundPrediction& each : rounds)
        if (each.rounds <= rounds_done) found = &each;
    return found;
}

ForetoldNumber compare(const Interval80& predicted, double actual) {
    return {.predicted = predicted,
            .actual = actual,
            .within = predicted.holds(actual),
            .off = predicted.median == 0 ? 0 : actual / predicted.median - 1};
}

}  // namespace assay::node
