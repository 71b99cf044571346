// SPDX-License-Identifier: Apache-2.0
// Gives `job why` and plans how long a job would have waited for lots, by the clearings that the ledger
// keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::node {

/// Lots that a job wants, all from one of these classes.
struct LotWish {
    std::vector<contracts::LotClass> classes;
    std::uint32_t lots = 1;
    base::Amount price;  ///< the most that it pays for a work unit
};

/// The wait in epochs, if the job had come at each of the epochs that are kept. For each, the ledger says how
/// many lots were sold, up to which price, and how many were left at the base price. The epoch would have
/// served the wish if enough lots were left, or sold for no more than the job pays. This describes the past
/// and promises nothing.
struct WaitView {
    std::uint64_t epochs = 0;   ///< kept epochs of any of the classes
    std::uint64_t serving = 0;  ///< of those, the ones that would have served it
    /// 50 % and 90 % quantiles; 0: the very next clearing. Nothing: longer than the kept epochs can tell.
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

/// Whether this clearing sold or left `lots` lots at a price of at most `price`.
bool would_serve(const contracts::ClassEpoch& cleared, std::uint32_t lots, base::Amount price);

}  // namespace assay::node
