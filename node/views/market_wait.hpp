// SPDX-License-Identifier: Apache-2.0
// How long a job would have waited for lots, by the clearings that the ledger keeps: for `job why` and plans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::node {

/// Lots that a job wants of any one of some classes.
struct LotWish {
    std::vector<contracts::LotClass> classes;
    std::uint32_t lots = 1;
    base::Amount price;  ///< the most that it pays for a work unit
};

/// Waits in epochs, had the job come at each epoch that is kept. Of such an epoch the ledger says how many
/// lots were sold, up to which price, and how many were left at the base price: it would have served the
/// wish if enough were sold for no more than it pays, or left. This is what was, and no promise.
struct WaitView {
    std::uint64_t epochs = 0;   ///< that are kept, of any of the classes
    std::uint64_t serving = 0;  ///< of those, that would have served it
    /// 50 % and 90 % quantiles, 0: the very next clearing. Nothing: longer than what is kept can say.
    std::optional<std::uint64_t> median, high;
    std::uint64_t epoch_heights = 0;  ///< of one epoch

    [[nodiscard]] std::string text() const;
    template <class Visit>
    void fields(Visit& visit) const {
        visit("epochs", epochs);
        visit("serving", serving);
        visit("median", median);
        visit("high", high);
        visit("epoch_heights", epoch_heights);
    }
};

WaitView wait_for(const contracts::StateView& state, const LotWish& wish);

/// Whether this clearing sold, or left, so many lots at a price of at most so much.
bool would_serve(const contracts::ClassEpoch& cleared, std::uint32_t lots, base::Amount price);

}  // namespace assay::node
