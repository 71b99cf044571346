// SPDX-License-Identifier: Apache-2.0
// Gives commands, pages and metrics the view of the market between jobs (decision 86): the phase of the
// epoch, and the price, lots and last result of each class of lots.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/views/lot_class.hpp"

namespace assay::node {

/// The result of one clearing of a class. Counts are of lots, prices in base units per work unit.
struct ClassEpochView {
    std::uint64_t epoch = 0;
    contracts::LotClass kind;
    contracts::ClassEpoch cleared;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("epoch", epoch);
        visit("class", class_code(kind));
        visit("base_price", cleared.base_price);
        visit("bids", cleared.bids);
        visit("wanted", cleared.wanted);
        visit("offered", cleared.offered);
        visit("above", cleared.above);
        visit("sold", cleared.sold);
        visit("instant", cleared.instant);
        visit("lowest", cleared.lowest);
        visit("highest", cleared.highest);
    }
};

/// A class of lots as it stands.
struct ClassView {
    contracts::LotClass kind;
    base::Amount base_price;             ///< of the running epoch: the price of a lot that is left
    base::Amount next_base_price;        ///< for the next clearing, as far as it is known now
    std::uint64_t standing = 0;          ///< opened asks, for the next clearing
    std::uint64_t leased = 0;            ///< of the running epoch
    std::uint64_t left = 0;              ///< of the running epoch, on offer at the base price
    std::uint64_t wanted = 0;            ///< lots of opened bids, and of jobs that wait for what is left
    std::optional<ClassEpochView> last;  ///< the newest clearing with an offer; nothing for a new class

    template <class Visit>
    void fields(Visit& visit) const {
        visit("class", class_code(kind));
        visit("words", class_words(kind));
        visit("base_price", base_price);
        visit("next_base_price", next_base_price);
        visit("standing", standing);
        visit("leased", leased);
        visit("left", left);
        visit("wanted", wanted);
        visit("last", last);
    }
};

struct MarketView {
    std::uint64_t height = 0;
    std::uint64_t epoch = 0;  ///< the running one
    contracts::MarketPhase phase = contracts::MarketPhase::kStopped;
    /// Heights to the next phase, and to the next epoch. Nothing while the clock stands still.
    std::optional<std::uint64_t> phase_left, epoch_left;
    std::uint64_t sealed_lots = 0;  ///< their classes are not known yet
    std::uint64_t sealed_bids = 0;
    std::vector<ClassView> classes;  ///< ascending

    template <class Visit>
    void fields(Visit& visit) const {
        visit("height", height);
        visit("epoch", epoch);
        visit("phase", phase);
        visit("phase_left", phase_left);
        visit("epoch_left", epoch_left);
        visit("sealed_lots", sealed_lots);
        visit("sealed_bids", sealed_bids);
        visit("classes", classes);
    }
};

/// `height`: of the state. Reads every ask, bid and lot once.
MarketView market_view(const contracts::StateView& state, std::uint64_t height);

struct MarketHistoryView {
    std::vector<ClassEpochView> epochs;  ///< ascending by epoch, then class

    template <class Visit>
    void fields(Visit& visit) const {
        visit("epochs", epochs);
    }
};

/// Past clearings that the ledger keeps, of one class or of all, from the last `epochs` epochs in which any
/// class was cleared (0: all that are kept).
MarketHistoryView market_epochs(const contracts::StateView& state,
                                const std::optional<contracts::LotClass>& kind, std::uint64_t epochs);

/// Every class in which somebody offers, wants, leases or has offered lots, ascending.
std::vector<contracts::LotClass> market_classes(const contracts::StateView& state);

}  // namespace assay::node
