// SPDX-License-Identifier: Apache-2.0
// Gives views ClearedMarket: why an opened bid or ask won or lost. It takes the input of a clearing from the
// state before its block, and computes the price that would have changed the result. Nothing is a guess:
// critical prices come from the law of the clearing (contracts/rules/market/clearing.hpp), and whether the
// rules accept a bid at such a price from the rules themselves, run on a copy.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/rules/market/clearing.hpp"
#include "contracts/rules/market/sorted_class.hpp"
#include "contracts/rules/state/events.hpp"
#include "contracts/rules/state/work.hpp"
#include "contracts/rules/tables.hpp"
#include "node/views/lot_class.hpp"

namespace assay::node {

enum class BidEnd : std::uint8_t {
    kWon = 1,
    kOutbid = 2,      ///< a higher price would have won
    kBelowBase = 3,   ///< the same; the bid was below the class's base price
    kNoCapacity = 4,  ///< nobody offered in the class
    kTooFewLots = 5,  ///< fewer lots were offered than it asked for
    kNoPrice = 6,     ///< others bid the largest amount that there is
    kSetAside = 7,    ///< its escrow did not cover it, its job was over or lacked verifiers
    kNotOpened = 8,   ///< it stayed sealed
};
/// "won", "outbid", "below_base", "no_capacity", "too_few_lots", "no_price", "set_aside", "not_opened".
std::string_view to_text(BidEnd end);

/// The result of a job's bid in one clearing. Prices are base units per work unit.
struct BidWhy {
    std::uint64_t epoch = 0;       ///< the epoch that was cleared
    std::uint64_t cleared_at = 0;  ///< height
    bool foreseen = false;         ///< the clearing is still to come; this is its result if nothing more is
                                   ///< sent
    base::Hash256 job;
    BidEnd end = BidEnd::kNotOpened;
    contracts::Reason reason = contracts::Reason::kNone;  ///< of one that was set aside
    // Of an opened bid.
    contracts::LotClass kind;
    std::uint32_t lots = 0;
    base::Amount price;
    base::Amount base_price;
    std::uint64_t offered = 0;         ///< lots of the class
    std::optional<base::Amount> pays;  ///< a winner, for each lot
    /// The least price at which it would have won, all else equal; for a winner what it pays. Nothing: no
    /// price would have won.
    std::optional<base::Amount> least;
    /// Why the rules would have refused a bid at `least`: above the job's cap, or not covered. kNone: they
    /// would have leased it the lots.
    contracts::Reason least_refused = contracts::Reason::kNone;

    [[nodiscard]] std::string text() const;
    template <class Visit>
    void fields(Visit& visit) const {
        visit("epoch", epoch);
        visit("cleared_at", cleared_at);
        visit("foreseen", foreseen);
        visit("job", job);
        visit("end", end);
        visit("reason", reason);
        visit("class", class_code(kind));
        visit("lots", lots);
        visit("price", price);
        visit("base_price", base_price);
        visit("offered", offered);
        visit("pays", pays);
        visit("least_winning_price", least);
        visit("least_refused", least_refused);
        visit("text", text());
    }
};

enum class AskEnd : std::uint8_t {
    kSold = 1,
    kTooDear = 2,    ///< a lower price would have been sold
    kNotWanted = 3,  ///< no price would have been sold
    kSetAside = 4,   ///< measured as slower than its class
    kNotOpened = 5,  ///< it stayed sealed
};
/// "sold", "too_dear", "not_wanted", "set_aside", "not_opened".
std::string_view to_text(AskEnd end);

/// The result of a node's ask in one clearing.
struct AskWhy {
    std::uint64_t epoch = 0;
    std::uint64_t cleared_at = 0;
    bool foreseen = false;
    base::PublicKey node;
    AskEnd end = AskEnd::kNotOpened;
    contracts::Reason reason = contracts::Reason::kNone;  ///< of one that was set aside
    // Of an opened ask.
    contracts::LotClass kind;
    base::Amount price;
    base::Amount base_price;
    std::uint64_t wanted = 0;          ///< lots of bids for the class
    std::optional<base::Amount> gets;  ///< if sold, for a work unit
    /// The highest price at which it would have been sold, all else equal. Nothing: no price.
    std::optional<base::Amount> most;
    bool left = false;  ///< not sold, and on offer at the base price

    [[nodiscard]] std::string text() const;
    template <class Visit>
    void fields(Visit& visit) const {
        visit("epoch", epoch);
        visit("cleared_at", cleared_at);
        visit("foreseen", foreseen);
        visit("node", node);
        visit("end", end);
        visit("reason", reason);
        visit("class", class_code(kind));
        visit("price", price);
        visit("base_price", base_price);
        visit("wanted", wanted);
        visit("gets", gets);
        visit("most_sold_price", most);
        visit("left", left);
        visit("text", text());
    }
};

/// The result for a job that waited for lots which a clearing left.
struct WaitWhy {
    std::uint64_t epoch = 0;
    std::uint64_t cleared_at = 0;
    bool foreseen = false;
    base::Hash256 job;
    contracts::LotClass kind;
    std::uint32_t lots = 0;
    bool served = false;
    base::Amount base_price;
    std::uint64_t left = 0;    ///< lots of the class that the auction left at the base price
    std::uint64_t others = 0;  ///< of those, leased to other jobs that waited
    [[nodiscard]] std::string text() const;
    template <class Visit>
    void fields(Visit& visit) const {
        visit("epoch", epoch);
        visit("cleared_at", cleared_at);
        visit("foreseen", foreseen);
        visit("job", job);
        visit("class", class_code(kind));
        visit("lots", lots);
        visit("served", served);
        visit("base_price", base_price);
        visit("left", left);
        visit("others", others);
        visit("text", text());
    }
};

/// Whether a clearing took place, or is foreseen under the assumption that nothing more is sent until then.
enum class ClearingTime : std::uint8_t { kPast = 1, kForeseen = 2 };

/// All bids and asks that were opened for one clearing, and their results.
class ClearedMarket {
public:
    /// Computes it from the state before a block. Nothing when that block's height clears no epoch.
    /// kVerification when the rules give other leases than the law of the clearing, which is a bug of this
    /// program. Keeps a reference to `before`.
    static base::Outcome<std::optional<ClearedMarket>> of(const contracts::StateView& before,
                                                          const contracts::BlockContext& block,
                                                          ClearingTime time = ClearingTime::kPast);

    [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
    [[nodiscard]] std::uint64_t height() const { return block_.height; }
    /// The markets of all classes in which something was opened.
    [[nodiscard]] const std::map<contracts::LotClass, contracts::ClassMarket>& classes() const {
        return classes_;
    }
    /// Nothing: the job had sealed no bid.
    [[nodiscard]] std::optional<BidWhy> why_bid(const base::Hash256& job) const;
    /// Nothing: the node had no ask.
    [[nodiscard]] std::optional<AskWhy> why_ask(const base::PublicKey& node) const;
    /// Nothing: the job did not wait.
    [[nodiscard]] std::optional<WaitWhy> why_wait(const base::Hash256& job) const;

private:
    ClearedMarket(const contracts::StateView& before, contracts::BlockContext block, ClearingTime time);
    void gather();
    void clear();
    [[nodiscard]] bool agrees() const;
    [[nodiscard]] contracts::Reason refusal_at(const BidWhy& bid, base::Amount price) const;

    const contracts::StateView* before_;
    contracts::BlockContext block_;
    ClearingTime time_;
    std::uint64_t epoch_ = 0;
    contracts::Events told_;  ///< by the block's own deadlines
    std::map<contracts::LotClass, contracts::ClassMarket> classes_;
    std::map<contracts::LotClass, contracts::SortedClass> sorted_;     ///< each of these
    std::map<contracts::LotClass, contracts::ClassOutcome> outcomes_;  ///< of each of these, by the law
    std::map<base::Hash256, contracts::Reason> bids_aside_;
    std::set<base::PublicKey> asks_aside_;
};

}  // namespace assay::node
