// SPDX-License-Identifier: Apache-2.0
#include "node/roles/lot_choice.hpp"

namespace assay::node {

const std::vector<ClassOffer>& LotChoice::offers(const contracts::StateView& state,
                                                 const contracts::JobTerms& job, std::uint64_t height,
                                                 base::Amount price) {
    if (!offers_ || !offers_->is_of(height, price)) offers_ = {height, price, offers_for(state, job, price)};
    return offers_->found;
}

std::optional<contracts::LeaseTake> LotChoice::lease(const contracts::StateView& state,
                                                     const contracts::Job& job, std::uint64_t height,
                                                     base::Amount price) {
    if (!lease_ || !lease_->is_of(height, price))
        lease_ = {height, price, choose_lease(state, job, height, price)};
    return lease_->found;
}

}  // namespace assay::node
