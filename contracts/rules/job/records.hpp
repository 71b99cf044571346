// SPDX-License-Identifier: Apache-2.0
// What the state stores about a job, for the rules and every reader of the state: its terms, its auction, and
// the parties that work for it. Keys: job/tables.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/program/job_spec.hpp"
#include "contracts/rules/state/reasons.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;
using base::PublicKey;
using program::JobSpec;

enum class JobPhase : std::uint8_t {
    kAskCommit = 1,  ///< sealed asks, enlistments
    kAskReveal = 2,  ///< asks opened, enlistments
    kRounds = 3,     ///< see Job::round
    kEnded = 4,      ///< see Job::end_reason
    kRefill = 5,     ///< between two rounds, nobody can hold a slot: registered miners may join
    kClosing = 6,    ///< its end is decided; it waits for the windows of its claims
    kWaiting = 7,    ///< leases its machines, and has fewer than its gang (MarketTerms)
};
std::string_view to_text(JobPhase phase);
/// Whether nobody may do anything for the job any more: it has ended, or its end is decided.
constexpr bool is_over(JobPhase phase) { return phase == JobPhase::kEnded || phase == JobPhase::kClosing; }

struct JobTerms;
/// Whether jobs of this kind have the phase: the auction's phases belong to jobs that hold an auction,
/// kWaiting to jobs that lease.
bool has_phase(const JobTerms& job, JobPhase phase);

enum class BeaconRole : std::uint8_t { kBuyer = 1, kVerifier = 2, kValidator = 3 };

/// A party whose secret chain feeds the job's beacons.
struct BeaconMember {
    PublicKey node;
    BeaconRole role = BeaconRole::kBuyer;
    Hash256 tip;             ///< the last link that it opened, or the tip that it registered
    std::uint32_t used = 0;  ///< number of links that it opened, and so the index of its next one
    Amount bond;             ///< locked behind its links until the job ends; the buyer's from its account
    bool dropped = false;    ///< it withheld a link, lost its bond and is no longer a member
    PublicKey owner;
    std::uint32_t place = 0;  ///< in Job::beacon
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.role, self.tip, self.used, self.bond, self.dropped, self.owner, self.place);
    }
};

/// Rounds of attendance that make up for one absence.
inline constexpr std::uint32_t kAbsenceWeight = 2;

/// A verifier enlisted for the job.
struct EnlistedVerifier {
    PublicKey node;
    PublicKey owner;
    Amount locked;  ///< at enlistment, until the job ends
    Amount bond;    ///< what is left of it after penalties
    /// kAbsenceWeight for each round in which it missed an audit, a bitmap or a merge, minus 1 for each other
    /// round; never below zero.
    std::uint32_t missed = 0;
    bool dropped = false;  ///< no longer drawn: it missed too many rounds, or its bond is below one penalty
    std::uint32_t place = 0;  ///< in Job::verifiers
    /// Verified work units × 1000 per height between the calling of its audits and their seals, recent
    /// rounds, newest last.
    std::vector<std::uint64_t> speeds;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.owner, self.locked, self.bond, self.missed, self.dropped, self.place,
              self.speeds);
    }
    /// Minimum of the recent rounds; 0 before the first verified one.
    [[nodiscard]] std::uint64_t speed() const;
};

/// A miner that won the auction, or took an open place (is_joiner). In a job that leases: a miner that had a
/// lot of it at a dealing; it may have none now.
struct RosterEntry {
    PublicKey node;
    PublicKey owner;
    Amount ask;  ///< in a job that leases: the price of its last lot at a dealing
    /// kAbsenceWeight for each round without a commit, minus 1 for each other round in which it held a slot;
    /// never below zero. A miner that just joined begins with one absence.
    std::uint32_t missed = 0;
    /// It missed too many rounds, lost a bond, had none when its place was wanted, or left before a refill
    /// ended.
    bool dropped = false;
    Reason dropped_for = Reason::kNone;  ///< kDropped, or why it lost its bond
    std::uint32_t dropped_round = 0;
    /// Verified work units × 1000 per height between dealing and last commit, recent rounds, newest last.
    std::vector<std::uint64_t> speeds;
    std::uint32_t place = 0;  ///< in Job::roster
    /// The part of its stake that is locked from a joining to the next dealing: the bond of one slot.
    Amount locked;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.owner, self.ask, self.missed, self.dropped, self.dropped_for,
              self.dropped_round, self.speeds, self.place, self.locked);
    }
    /// Minimum of the recent rounds; 0 before the first verified one.
    [[nodiscard]] std::uint64_t speed() const;
};

/// The result of the bidding; kept for `plan`, `market` and audits.
struct AuctionOutcome {
    std::uint32_t asks_sealed = 0;
    std::uint32_t asks_revealed = 0;
    std::uint32_t above_cap = 0;    ///< revealed above the job's cap
    std::uint32_t short_stake = 0;  ///< could not cover the bond of one slot
    std::uint32_t winners = 0;
    Amount clearing_price;  ///< base units per work unit, paid to every winner
    std::optional<Amount> first_rejected;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.asks_sealed, self.asks_revealed, self.above_cap, self.short_stake, self.winners,
              self.clearing_price, self.first_rejected);
    }
};

/// What was agreed when the job was submitted. Written once.
struct JobTerms {
    program::JobSpec spec;
    Hash256 params;   ///< hash of the parameters it was submitted under (params_of)
    PublicKey buyer;  ///< owner key of the party that pays and is paid back
    PublicKey buyer_node;
    std::uint64_t submitted_at = 0;  ///< height
    std::uint64_t deadline = 0;      ///< height from which no round begins, unless it is extended
    std::uint64_t slot_work = 0;     ///< work units of one slot's round

    /// Whether it leases its machines in the market and holds no auction.
    [[nodiscard]] bool leases() const { return spec.market.terms.engaged(); }
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.spec, self.params, self.buyer, self.buyer_node, self.submitted_at, self.deadline,
              self.slot_work);
    }
};

/// What was added to a job since its submission. A job without this record has no additions.
struct JobAdditions {
    Amount topped_up;            ///< from the buyer's balance to the escrow, all top-ups together
    std::uint64_t extended = 0;  ///< heights by which the deadline was moved, all extensions together
    /// For a job that a team's member submitted, what counts against the member's caps: budget, link bond,
    /// fee, and the top-ups that the member sent. Zero for any other job.
    Amount by_member;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.topped_up, self.extended, self.by_member);
    }
};

/// What the buyer put into escrow: the budget as submitted, and what was added. Ends the process when the sum
/// is above the largest amount; no valid top-up leads there.
Amount whole_budget(const JobTerms& terms, const JobAdditions& additions);
/// The height from which no round begins, with all extensions; at most the last height.
std::uint64_t current_deadline(const JobTerms& terms, const JobAdditions& additions);

/// Where the job stands, and where its money is. Written when a phase ends.
struct JobProgress {
    JobPhase phase = JobPhase::kAskCommit;
    /// The last height of a bidding phase or of a refill. In kWaiting, the last height before the job checks
    /// by itself whether it can go on. 0 in the other phases.
    std::uint64_t phase_deadline = 0;
    /// The height of its entry among the deadlines. Once it has ended, the height at which its records leave;
    /// 0 while its end waits for the windows of its claims.
    std::uint64_t due = 0;
    bool cancel_asked = false;
    bool found_void = false;            ///< a game found its own data at fault: no further round begins
    Reason end_reason = Reason::kNone;  ///< once its end is decided
    std::uint64_t ended_at = 0;

    Amount escrow;  ///< what is left of the budget, without what open claims hold
    Amount spent;   ///< to miners and verifiers from escrow
    Amount refunded;

    std::uint32_t round = 0;        ///< the running round, or the number of rounds when ended
    std::uint32_t rounds_done = 0;  ///< settled with a merge
    std::uint32_t unmerged = 0;  ///< rounds in a row that had no merge, not counting those without a commit
    Hash256 last_beacon;
    Hash256 base_root;  ///< of the state that the running round starts from
    /// The blob id of that state. Until a round is merged it is JobSpec::initial_blob. Only the buyer vouches
    /// for that one, so a reader checks what it loads. Zero when everyone computes the state from the seed.
    Hash256 base_blob;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.phase, self.phase_deadline, self.due, self.cancel_asked, self.found_void, self.end_reason,
              self.ended_at, self.escrow, self.spent, self.refunded, self.round, self.rounds_done,
              self.unmerged, self.last_beacon, self.base_root, self.base_blob);
    }
};

/// The progress and the result of the bidding.
struct Bidding {
    AuctionOutcome auction;
    std::uint32_t verifiers = 0;  ///< enlisted
    std::uint32_t members = 0;    ///< parties whose links feed the beacons
    std::uint32_t joined = 0;     ///< miners that came to the roster after the auction, or without one
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.auction, self.verifiers, self.members, self.joined);
    }
};

/// Everything that the state holds about a job, as read_job() assembles it. It is stored in pieces, so that a
/// message writes only what it changes; write_job() writes the pieces that differ.
struct Job : JobTerms, JobProgress {
    Hash256 id;
    JobAdditions additions;  ///< write_job does not write them: only their own transactions change them
    std::string buyer_endpoint;
    AuctionOutcome auction;
    /// The auction's winners, ascending by ask, then by tie-break; after them the miners that joined later.
    /// In a job that leases: in the order in which they came.
    std::vector<RosterEntry> roster;
    std::vector<EnlistedVerifier> verifiers;  ///< in order of enlistment
    std::vector<BeaconMember> beacon;         ///< buyer first, then in order of enlistment

    [[nodiscard]] Amount whole_budget() const { return contracts::whole_budget(*this, additions); }
    [[nodiscard]] std::uint64_t current_deadline() const {
        return contracts::current_deadline(*this, additions);
    }
};

/// A miner's ask for one job.
struct Ask {
    PublicKey miner;
    Hash256 seal;
    Amount deposit;  ///< still held; zero once the auction was held
    bool revealed = false;
    Amount price;  ///< when revealed
    Hash256 salt;  ///< when revealed
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.miner, self.seal, self.deposit, self.revealed, self.price, self.salt);
    }
};

}  // namespace assay::contracts

namespace assay::base {
ASSAY_ENUM_RANGE(contracts::JobPhase, kAskCommit, kWaiting);
ASSAY_ENUM_RANGE(contracts::BeaconRole, kBuyer, kValidator);
}  // namespace assay::base
