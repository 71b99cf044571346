// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/claim/claims.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/migration_steps.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

namespace {

/// The one who ordered blocks. Its owner stands with its node key; its endpoint served nothing.
struct SequencerOfSchema2 {
    PublicKey owner;
    PublicKey node;
    std::string endpoint;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.owner, self.node, self.endpoint);
    }
};

/// The parts of a list, without the wrapping of their old layout.
template <class Now, class Old>
std::vector<Now> unwrapped(std::vector<Old>& old) {
    std::vector<Now> now;
    for (Old& one : old) now.push_back(std::move(one.now));
    return now;
}

/// What was locked for the running round's slots, and what its escrow owes them, is theirs to hold.
void open_claims(State& state, Job& job, const Round& round) {
    const Params params = params_of(state, job);
    const Amount price = job.auction.clearing_price;
    const std::vector<SlotRound> slots = list_slots(state, job.id, round.number);
    for (const SlotRound& slot : slots) {
        if (!slot.assigned) continue;
        const Amount pay = set_aside(job, slot_pay(price, job.slot_work));
        open_claim(state, {job.id, round.number, ClaimKind::kSlot, slot.slot},
                   {slot.miner, slot.owner, slot.bond, pay});
    }
    std::uint32_t place = 0;
    for (const MergePosting& posting : round.merges) {
        EnlistedVerifier& verifier = enlisted_verifier(job, posting.verifier);
        const Amount bond = merge_bond(params, round, slots, verifier);
        verifier.bond = difference(verifier.bond, bond);
        const Amount pay = set_aside(job, merge_fee(params, price, job.slot_work));
        open_claim(state, {job.id, round.number, ClaimKind::kMerge, place++},
                   {posting.verifier, verifier.owner, bond, pay});
    }
}

}  // namespace

/// A record of a whole job, and of a whole round, becomes one record for each piece that a message changes.
/// What falls due is listed by height, and the active jobs are counted. What a running round owes and has
/// locked becomes its claims. The sequencer becomes a validator set of one. Nothing changes its meaning, and
/// no money leaves its bucket.
void from_2_to_3(State& state) {
    const auto sequencer = required(load<SequencerOfSchema2>(state, validators_key()));
    store(state, validators_key(), ValidatorSet::of_one(sequencer.node));
    MetaOfSchema2 meta = stored<MetaOfSchema2>(required(state.get(meta_key())));
    meta.now.active_jobs = static_cast<std::uint32_t>(list_active_jobs(state).size());
    store(state, meta_key(), meta.now);
    rewrite<RoundOfSchema2>(state, Table::kRound, [&](const Bytes&, RoundOfSchema2& old) {
        old.round.links = unwrapped<BeaconLink>(old.links);
        old.round.merges = unwrapped<MergePosting>(old.merges);
        write_round(state, old.round);
    });
    rewrite<JobOfSchema2>(state, Table::kJobTerms, [&](const Bytes&, JobOfSchema2& old) {
        Job& job = old.job;
        job.roster = unwrapped<RosterEntry>(old.roster);
        job.verifiers = unwrapped<EnlistedVerifier>(old.verifiers);
        job.beacon = unwrapped<BeaconMember>(old.beacon);
        if (job.phase == JobPhase::kRounds) {
            const Round round = required(read_round(state, job.id, job.round));
            open_claims(state, job, round);
            schedule(state, job.id, job, round.phase_deadline);
        } else if (job.phase != JobPhase::kEnded) {
            schedule(state, job.id, job, job.phase_deadline);
        }
        write_job(state, job);
    });
}

}  // namespace assay::contracts
