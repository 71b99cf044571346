// SPDX-License-Identifier: Apache-2.0
// Gives commands, pages and metrics the view of a job: its money, who works for it, and how each of its slots
// was judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/views/runway_view.hpp"

namespace assay::node {

/// A job in one line.
struct JobSummary {
    base::Hash256 id;
    std::string name;
    contracts::JobPhase phase = contracts::JobPhase::kAskCommit;
    contracts::Reason end_reason = contracts::Reason::kNone;
    std::uint32_t rounds_done = 0;
    std::uint32_t rounds = 0;
    base::Amount escrow, spent, refunded;

    /// The reason of its end, or the phase that it is in.
    [[nodiscard]] std::string_view state() const {
        return phase == contracts::JobPhase::kEnded ? to_text(end_reason) : to_text(phase);
    }

    template <class Visit>
    void fields(Visit& visit) const {
        visit("id", id);
        visit("name", name);
        visit("phase", phase);
        visit("end_reason", end_reason);
        visit("rounds_done", rounds_done);
        visit("rounds", rounds);
        visit("escrow", escrow);
        visit("spent", spent);
        visit("refunded", refunded);
    }
};

/// Every job of a ledger.
struct JobList {
    std::vector<JobSummary> jobs;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("jobs", jobs);
    }
};

/// A miner that won the job's auction.
struct RosterView {
    base::PublicKey miner;
    base::Amount ask;
    bool dropped = false;
    contracts::Reason dropped_for = contracts::Reason::kNone;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("miner", miner);
        visit("ask", ask);
        visit("dropped", dropped);
        visit("dropped_for", dropped_for);
    }
};

/// A verifier that enlisted for the job.
struct EnlistedView {
    base::PublicKey verifier;
    base::PublicKey owner;
    base::Amount locked;       ///< at its enlistment
    base::Amount bond;         ///< what is left of it beside what stands behind a merge; 0 once the job ended
    std::uint32_t missed = 0;  ///< EnlistedVerifier::missed
    bool dropped = false;      ///< it is drawn no more

    template <class Visit>
    void fields(Visit& visit) const {
        visit("verifier", verifier);
        visit("owner", owner);
        visit("locked", locked);
        visit("bond", bond);
        visit("missed", missed);
        visit("dropped", dropped);
    }
};

/// A slot of a round that was dealt.
struct SlotView {
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    base::PublicKey miner;
    base::Amount price;  ///< of a work unit; zero when nobody holds the slot
    contracts::Reason verdict = contracts::Reason::kNone;
    bool served = false;  ///< its miner opened the starts of its drawn runs
    bool stored = false;  ///< more than half of the deciding stake holds what it submitted

    template <class Visit>
    void fields(Visit& visit) const {
        visit("round", round);
        visit("slot", slot);
        visit("miner", miner);
        visit("price", price);
        visit("verdict", verdict);
        visit("served", served);
        visit("stored", stored);
    }
};

/// A lot that a job has now or in the next epoch.
struct LeaseView {
    base::PublicKey miner;
    base::Amount price;  ///< of a work unit
    std::uint64_t epoch = 0;
    std::uint64_t from = 0;   ///< height, included
    std::uint64_t until = 0;  ///< height, not included
    bool instant = false;     ///< taken at the base price after the clearing

    template <class Visit>
    void fields(Visit& visit) const {
        visit("miner", miner);
        visit("price", price);
        visit("epoch", epoch);
        visit("from", from);
        visit("until", until);
        visit("instant", instant);
    }
};

/// The result of a merged round.
struct MergedRound {
    std::uint32_t round = 0;
    std::uint64_t slots = 0;
    base::Hash256 base_root;  ///< of the merged state
    base::Hash256 beacon;     ///< also draws the held-out sequences
    float held_out_loss = 0;  ///< over those; `assay model eval --beacon` computes it again
    std::string held_out_bits;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("round", round);
        visit("slots", slots);
        visit("base_root", base_root);
        visit("beacon", beacon);
        visit("held_out_loss", held_out_loss);
        visit("held_out_bits", held_out_bits);
    }
};

/// A job in full.
struct JobView {
    JobSummary summary;
    base::PublicKey buyer;
    std::uint64_t submitted_at = 0;         ///< height
    std::uint64_t deadline = 0;             ///< height
    std::uint64_t ended_at = 0;             ///< height; 0: it has not
    std::optional<base::PublicKey> member;  ///< of the buyer's team, who submitted it
    base::Amount budget, topped_up;         ///< as submitted, and added since
    std::optional<RunwayView> runway;       ///< nothing: it is over
    std::uint32_t slots = 0;
    std::uint64_t seed = 0;
    std::uint64_t work_units = 0;  ///< of a slot's round
    /// For a work unit: the price of the job's own auction or, if it leases, the highest price of the last
    /// round that was dealt.
    base::Amount clearing_price;
    base::Amount fee;        ///< burned at its submission
    base::Amount link_bond;  ///< of each member of its beacon
    base::Hash256 base_root;
    std::optional<base::Hash256> initial_blob;  ///< nothing when it started from its seed
    std::uint32_t machines_least = 0;           ///< 0: it holds its own auction
    std::uint32_t machines_most = 0;
    std::vector<LeaseView> leases;
    std::vector<RosterView> roster;
    std::vector<base::PublicKey> verifiers;
    std::vector<EnlistedView> enlisted;  ///< the same, with what they locked and missed
    std::uint32_t missed_most = 0;       ///< EnlistedView::missed at which one is dropped
    std::vector<SlotView> slot_rounds;   ///< rounds and slots ascending
    std::vector<MergedRound> merged_rounds;

    template <class Visit>
    void fields(Visit& visit) const {
        summary.fields(visit);
        visit("buyer", buyer);
        visit("submitted_at", submitted_at);
        visit("deadline", deadline);
        visit("ended_at", ended_at);
        visit("member", member);
        visit("budget", budget);
        visit("topped_up", topped_up);
        visit("runway", runway);
        visit("slots", slots);
        visit("work_units_per_slot_round", work_units);
        visit("clearing_price", clearing_price);
        visit("fee", fee);
        visit("link_bond", link_bond);
        visit("base_root", base_root);
        visit("initial_blob", initial_blob);
        visit("machines_least", machines_least);
        visit("machines_most", machines_most);
        visit("leases", leases);
        visit("roster", roster);
        visit("verifiers", verifiers);
        visit("enlisted", enlisted);
        visit("missed_most", missed_most);
        visit("slot_rounds", slot_rounds);
        visit("merged_rounds", merged_rounds);
    }
};

/// What was burned for the job's bytes and slots when it was submitted.
std::optional<base::Amount> fee_of(const contracts::StateView& state, const contracts::JobTerms& job);

JobSummary summary_of(const contracts::StateView& state, const contracts::Job& job);
/// For a job whose records have left the state.
JobSummary summary_of(const base::Hash256& id, const contracts::EndedJob& job);
/// Lists every job; reads no record that has left the state.
JobList jobs_of(const contracts::StateView& state);
JobView job_view(const contracts::StateView& state, const contracts::Job& job);

}  // namespace assay::node
