// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/strategy/diloco.hpp"

#include <vector>

namespace assay::trainer {

bool merge_diloco(Device& device, const program::RoundSettings& settings,
                  std::span<const program::Contribution> contributions, std::span<float> parameters,
                  std::span<float> outer_momentum) {
    std::vector<arithmetic::WeightedUpdate> updates;
    updates.reserve(contributions.size());
    for (const program::Contribution& one : contributions) updates.push_back({one.update, one.weight});
    return device.merge(settings.sum_exponent, updates,
                        {settings.outer_learning_rate, settings.outer_momentum}, parameters, outer_momentum);
}

}  // namespace assay::trainer
