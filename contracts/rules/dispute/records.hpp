// SPDX-License-Identifier: Apache-2.0
// What the state stores about games over claims (docs/concepts/dispute.md), for the rules and every reader of
// the state. A game judges only its two players: the claimant answers for its own inputs and outputs, and the
// challenger only points at differences.
#pragma once

#include <cstdint>

#include "contracts/base/amount.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/dispute/way.hpp"
#include "contracts/rules/claim/records.hpp"

namespace assay::contracts {

/// The most games that one claimant plays at a time; its other games wait with their clocks stopped.
inline constexpr std::size_t kGamesAtOnce = 2;

enum class GamePhase : std::uint8_t {
    kQueued = 1,   ///< the claimant plays kGamesAtOnce others
    kRunning = 2,  ///< somebody's clock runs
    kEnded = 3,
};
std::string_view to_text(GamePhase phase);

/// How a game ended.
enum class GameEnd : std::uint8_t {
    kNone = 1,      ///< it has not
    kJudged = 2,    ///< the referee computed
    kSilent = 3,    ///< the player whose turn it was let its clock run out
    kConceded = 4,  ///< the loser conceded
    kClosed = 5,    ///< the claim died in another game: nobody lost this one
    kVoid = 6,      ///< the job's own data are at fault: nobody lost it
};
std::string_view to_text(GameEnd end);

/// What the referee computed at the end of a game that was judged.
struct GameFinding {
    dispute::GameReason reason = dispute::GameReason::kAgrees;
    std::uint64_t cell = 0;
    std::uint64_t claimed_high = 0;  ///< of the claimed bits, with `claimed_low`
    std::uint64_t claimed_low = 0;
    std::uint64_t computed_high = 0;
    std::uint64_t computed_low = 0;
    std::uint32_t witness_bytes = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.reason, self.cell, self.claimed_high, self.claimed_low, self.computed_high,
              self.computed_low, self.witness_bytes);
    }
};

struct Game {
    std::uint32_t number = 0;  ///< of the job's games, from 0
    std::uint32_t round = 0;   ///< with kind and claim number: of the claim
    ClaimKind kind = ClaimKind::kSlot;
    std::uint32_t claim = 0;
    dispute::UnitKind unit = dispute::UnitKind::kSegment;
    std::uint32_t part = 0;  ///< of a segment its number, of a clip its slot, else 0
    PublicKey claimant;
    PublicKey claimant_owner;
    PublicKey challenger;
    PublicKey challenger_owner;
    bool called = false;   ///< the claimant is a verifier that vouched for a dead claim
    bool accuses = false;  ///< opened by an Accusation: what the challenger locked for the job is at stake
    Amount bond;  ///< of the challenger's stake; none when it accuses, or calls about the unit of a game that
                  ///< it won
    Amount cost;  ///< the cost of replaying the slot-round, and the most that a winner gets
    std::uint64_t opened_at = 0;
    GamePhase phase = GamePhase::kQueued;
    // While it runs, in heights.
    std::uint64_t claimant_clock = 0;    ///< what is left when its turn begins
    std::uint64_t challenger_clock = 0;  ///< the same
    std::uint64_t turn_since = 0;
    /// The first height at which the player to move counts as silent; 0 when the game does not run.
    std::uint64_t due = 0;
    std::uint32_t moves = 0;
    dispute::Way way;  ///< without what was posted, which is in GamePieces
    // Once it has ended.
    GameEnd end = GameEnd::kNone;
    bool claimant_lost = false;
    std::uint64_t ended_at = 0;
    GameFinding finding;
    Amount lost;  ///< by the loser: to_winner + to_buyer + burned
    Amount to_winner;
    Amount to_buyer;
    Amount returned;  ///< of the claim's held pay: to the job's escrow
    Amount fees;      ///< set aside for those who accused the claim; paid to their owners

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.number, self.round, self.kind, self.claim, self.unit, self.part, self.claimant,
              self.claimant_owner, self.challenger, self.challenger_owner, self.called, self.accuses,
              self.bond, self.cost, self.opened_at, self.phase, self.claimant_clock, self.challenger_clock,
              self.turn_since, self.due, self.moves, self.way, self.end, self.claimant_lost, self.ended_at,
              self.finding, self.lost, self.to_winner, self.to_buyer, self.returned, self.fees);
    }

    [[nodiscard]] bool is_open() const { return phase != GamePhase::kEnded; }
    /// Whether the claim died in this game.
    [[nodiscard]] bool killed_claim() const { return claimant_lost && !called; }
    [[nodiscard]] ClaimId claim_id(const Hash256& job) const { return {job, round, kind, claim}; }
};

/// The large parts of a game, stored until it has ended.
struct GamePieces {
    dispute::UnitClaim unit;
    std::vector<Hash256> posted;  ///< Way::posted
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.unit, self.posted);
    }
};

/// The name of a game.
struct GameName {
    Hash256 job;
    std::uint32_t number = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.number);
    }
    friend bool operator==(const GameName&, const GameName&) = default;
};

/// A game that its claimant plays. Of each claimant the state holds those that it plays, in the order in
/// which they were started, while there is one.
struct PlayedGame {
    GameName game;
    PublicKey challenger_owner;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.game, self.challenger_owner);
    }
};

}  // namespace assay::contracts

namespace assay::base {
ASSAY_ENUM_RANGE(contracts::ClaimKind, kSlot, kMerge);
ASSAY_ENUM_RANGE(contracts::GamePhase, kQueued, kEnded);
ASSAY_ENUM_RANGE(contracts::GameEnd, kNone, kVoid);
}  // namespace assay::base
