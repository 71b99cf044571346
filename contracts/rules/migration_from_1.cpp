// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/migration_steps.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

namespace {

// The layouts of schema 1, as tests/vectors/state_schema_1.txt holds them. Each names, in the old order, the
// fields of today's record that it fills; a field that schema 1 did not have keeps its default until the
// migration sets it. Records that are not here have the layout that they had.

struct ParamsOfSchema1 {
    Params now;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& p = self.now;
        visit(p.ask_commit_window, p.ask_reveal_window, p.commit_window, p.beacon_window, p.reveal_window,
              p.audit_seal_window, p.audit_open_window, p.merge_seal_window, p.merge_open_window,
              p.unbonding_delay, p.miner_fee, p.verifier_fee, p.ask_deposit, p.verifier_bond,
              p.verifier_penalty, p.link_penalty, p.probation_rounds, p.max_missed, p.speed_window,
              p.audit_fee_ppm, p.merge_fee_ppm, p.forfeit_buyer_ppm, p.forfeit_verifier_ppm);
    }
};

struct MinerOfSchema1 {
    Miner now;
    std::uint32_t verified_rounds = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& m = self.now;
        visit(m.owner, m.endpoint, m.registered_at, self.verified_rounds, m.prepaid, m.earned, m.forfeited);
    }
};

struct EnlistedOfSchema1 {
    EnlistedOfSchema2 next;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& e = self.next.now;
        visit(e.node, e.owner, e.bond, e.missed, e.dropped);
    }
};

struct AskOfSchema1 {
    Ask now;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.now.miner, self.now.seal, self.now.deposit, self.now.revealed, self.now.price);
    }
};

struct JobOfSchema1 {
    JobOfSchema2 next;
    std::vector<EnlistedOfSchema1> verifiers;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& j = self.next.job;
        visit(j.id, j.spec, j.buyer, j.buyer_node, j.buyer_endpoint, j.submitted_at, j.deadline, j.phase,
              j.phase_deadline, j.cancel_asked, j.end_reason, j.ended_at, j.slot_work, j.escrow, j.spent,
              j.refunded, j.auction, self.next.roster, self.verifiers, self.next.beacon, j.round,
              j.rounds_done, j.last_beacon, j.base_root, j.base_blob);
    }
};

/// Its training loss was one verifier's sum over fingerprints that nobody had audited; it is dropped.
struct MergeClaimOfSchema1 {
    MergeClaim now;
    std::uint32_t train_loss = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.now.base_root, self.now.base_blob, self.now.held_out_loss, self.train_loss);
    }
};

struct MergePostingOfSchema1 {
    MergePostingOfSchema2 next;
    MergeClaimOfSchema1 claim;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& p = self.next.now;
        visit(p.verifier, p.stage, p.sealed, p.opened, p.seal, self.claim);
    }
};

struct RoundOfSchema1 {
    RoundOfSchema2 next;
    std::vector<MergePostingOfSchema1> merges;
    MergeClaimOfSchema1 result;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& r = self.next.round;
        visit(r.job, r.number, r.phase, r.phase_deadline, r.started_at, r.settled_at, r.base_root,
              r.base_blob, self.next.links, r.link_missing, r.beacon, self.merges, r.merged, self.result,
              r.merged_slots, r.lines);
    }
};

/// A seal that covers a claim of schema 1 opens to nothing any more: who has not opened it seals again, in
/// what is left of the opening's window.
void take_back_seals(RoundOfSchema2& old) {
    RoundPhase& phase = old.round.phase;
    const bool pair = phase == RoundPhase::kMergeSeal || phase == RoundPhase::kMergeOpen;
    const bool third = phase == RoundPhase::kMergeThirdSeal || phase == RoundPhase::kMergeThirdOpen;
    bool taken = false;
    for (auto& [posting] : old.merges) {
        const bool running = posting.stage == Stage::kPair ? pair : third;
        if (!running || !posting.sealed || posting.opened) continue;
        posting.sealed = false;
        posting.seal = {};
        taken = true;
    }
    if (taken && phase == RoundPhase::kMergeOpen) phase = RoundPhase::kMergeSeal;
    if (taken && phase == RoundPhase::kMergeThirdOpen) phase = RoundPhase::kMergeThirdSeal;
}

}  // namespace

/// One set of parameters for the chain becomes a set with a name, and every job, running or ended, is under
/// that one: nothing could have changed it. It has the fixed penalties and the unbounded gains of that time;
/// what is submitted from now on is under the new parameters' defaults.
///
/// A verifier had locked Params::verifier_bond, whatever was taken since. Rounds name no judges and asks no
/// salt: what was drawn from stakes and ties of that time stays as it is. How much work stood behind a
/// miner's verified rounds is not known: everyone begins its probation anew, with what is left of its fee.
/// A merge claims no training loss; the ledger knows it.
void from_1_to_2(State& state) {
    const auto old = load<ParamsOfSchema1>(state, params_key());
    ASSAY_CHECK(old.has_value());
    Params terms = old->now;
    terms.verifier_penalty_ppm = 0;
    terms.gain_bound_max_ppm = 1'000 * kPartsPerMillion;
    set_current_params(state, terms);
    set_current_params(state, old->now);
    const Hash256 set = params_hash(terms);
    rewrite<JobOfSchema1>(state, Table::kJobTerms, [&](const Bytes& key, JobOfSchema1& job) {
        job.next.job.params = set;
        for (EnlistedOfSchema1& verifier : job.verifiers) {
            verifier.next.now.locked = terms.verifier_bond;
            job.next.verifiers.push_back(verifier.next);
        }
        store(state, key, job.next);
    });
    rewrite<MinerOfSchema1>(state, Table::kMiner, [&](const Bytes& key, const MinerOfSchema1& miner) {
        store(state, key, miner.now);
    });
    rewrite<AskOfSchema1>(state, Table::kAsk,
                          [&](const Bytes& key, const AskOfSchema1& ask) { store(state, key, ask.now); });
    rewrite<RoundOfSchema1>(state, Table::kRound, [&](const Bytes& key, RoundOfSchema1& stale) {
        RoundOfSchema2& next = stale.next;
        for (MergePostingOfSchema1& posting : stale.merges) {
            posting.next.now.claim = posting.claim.now;
            next.merges.push_back(posting.next);
        }
        Round& round = next.round;
        round.result = stale.result.now;
        take_back_seals(next);
        const auto job = load<JobOfSchema2>(state, job_terms_key(round.job));
        if (round.merged && job) {
            const AuditedLoss loss =
                audited_loss(state, round.job, job->job.spec, round.number, round.merged_slots);
            round.train_loss = loss.bits;
            round.train_steps = loss.steps;
        }
        store(state, key, next);
    });
}

}  // namespace assay::contracts
