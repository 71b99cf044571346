// SPDX-License-Identifier: Apache-2.0
// Events report what a change did, for anyone who follows a ledger. They are derived: only the state is the
// truth.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "contracts/base/amount.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/rules/state/reasons.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;
using base::PublicKey;

enum class EventKind : std::uint8_t {
    kTransfer = 1,        ///< node: from; amount
    kRegistered = 2,      ///< node: a node key became miner, verifier or key
    kJobSubmitted = 3,    ///< node: buyer's node key; amount: budget
    kJobPhase = 4,        ///< number: JobPhase
    kAuctionCleared = 5,  ///< amount: clearing price; number: winners
    kEnlisted = 6,        ///< node
    kRoundStarted = 7,    ///< round
    kRoundPhase = 8,      ///< round; number: RoundPhase
    kCommitted = 9,       ///< round, slot, node
    kBeaconDrawn = 10,    ///< round; number: units drawn in all
    kRevealed = 11,       ///< round, slot, node
    kAudited = 12,        ///< round, node: a verifier opened its claims
    kRedrawn = 13,        ///< round, slot, node: one more verifier; number: Stage
    kVerdict = 14,        ///< round, slot, node: miner, reason
    kMerged = 15,         ///< round; number: slots merged
    kSettled = 16,        ///< round, slot, node, reason, amount: paid (one per line)
    kLost = 17,           ///< round, node, reason, amount: forfeited or penalised
    kDropped = 18,        ///< round, node, reason
    kRefunded = 19,       ///< amount
    kJobEnded = 20,       ///< reason
    kUnbonded = 21,       ///< node, amount
    kServed = 22,         ///< round, slot, node: a miner opened the starts of its runs
    kStored = 23,         ///< round, node: a verifier said which slots' bytes it holds
    kDisputeOpened = 24,  ///< round, slot (or place of a merge), node: challenger, amount: bond; number: game
    kDisputeMoved = 25,   ///< the same; node: who moved
    kDisputeEnded = 26,   ///< the same; node: who lost, reason, amount: lost
    kToppedUp = 27,       ///< node: the account key that sent it; amount
    kExtended = 28,       ///< node: the same; number: the height from which no round begins
    kTeamChanged = 29,    ///< node: the member's account key; amount: its cap in all, 0 once it is revoked
    // Of the market between jobs; `slot`: number_of(LotClass).
    kEpochBegan = 40,    ///< number: the epoch
    kMarketPhase = 41,   ///< number: MarketPhase
    kClassCleared = 42,  ///< slot, round: lots offered, number: lots sold, amount: base price
    kLeased = 43,        ///< job, slot, node, amount: price, number: epoch
    kBidLost = 44,       ///< job, slot, reason, amount: what it would have paid, number: epoch
    kLotsLost = 45,      ///< job: notice before the epoch's end; number: lots that it has fewer in the next
    kSealLost = 46,      ///< job or node, reason, amount: of the deposit
    kLotGone = 47,       ///< node, reason: its lot stands no more
};
inline constexpr EventKind kLastEventKind = EventKind::kLotGone;
std::string_view to_text(EventKind kind);

/// Fields that a kind does not name are zero.
struct Event {
    EventKind kind = EventKind::kTransfer;
    Hash256 job{};
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    PublicKey node{};
    Reason reason = Reason::kNone;
    Amount amount{};
    std::uint64_t number = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.kind, self.job, self.round, self.slot, self.node, self.reason, self.amount, self.number);
    }
};
using Events = std::vector<Event>;

}  // namespace assay::contracts

namespace assay::base {
ASSAY_ENUM_RANGE_WITHOUT(contracts::EventKind, kTransfer, kLotGone, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39);
}  // namespace assay::base
