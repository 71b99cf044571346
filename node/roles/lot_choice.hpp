// SPDX-License-Identifier: Apache-2.0
// Gives the buyer role LotChoice, which finds what its job could bid for and lease once for each height and
// price. The role plans at every event, and the market may hold a hundred thousand asks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "node/roles/lot_buyer.hpp"

namespace assay::node {

/// For one job. Both functions REQUIRE that `state` is the state after the block of `height`.
class LotChoice {
public:
    /// As offers_for(). Valid until the next call.
    const std::vector<ClassOffer>& offers(const contracts::StateView& state, const contracts::JobTerms& job,
                                          std::uint64_t height, base::Amount price);
    /// As choose_lease().
    std::optional<contracts::LeaseTake> lease(const contracts::StateView& state, const contracts::Job& job,
                                              std::uint64_t height, base::Amount price);

private:
    template <class Found>
    struct Kept {
        std::uint64_t height = 0;
        base::Amount price;
        Found found;

        [[nodiscard]] bool is_of(std::uint64_t at, base::Amount for_price) const {
            return height == at && price == for_price;
        }
    };
    std::optional<Kept<std::vector<ClassOffer>>> offers_;
    std::optional<Kept<std::optional<contracts::LeaseTake>>> lease_;
};

}  // namespace assay::node
