// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/program.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/phases.hpp"
#include "contracts/rules/job/seals.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

Job job_record(const Work& work, const Hash256& id) {
    auto job = read_job(work.state, id);
    ASSAY_CHECK(job.has_value());
    return std::move(*job);
}

void join_beacon(Work& work, Job& job, const PublicKey& node, BeaconRole role, const Hash256& tip) {
    BeaconMember member;
    member.node = node;
    member.role = role;
    member.tip = tip;
    job.beacon.push_back(member);
    store(work.state, job_key(job.id), job);
}

}  // namespace

void carry_out(Work& work, const Sent& sent, const EndpointUpdate& tx) {
    if (!tx.job.is_zero()) {
        Job job = *read_job(work.state, tx.job);
        job.buyer_endpoint = tx.endpoint;
        return store(work.state, job_key(tx.job), job);
    }
    if (auto miner = read_miner(work.state, sent.sender)) {
        miner->endpoint = tx.endpoint;
        store(work.state, miner_key(sent.sender), *miner);
    }
    if (auto verifier = read_verifier(work.state, sent.sender)) {
        verifier->endpoint = tx.endpoint;
        store(work.state, verifier_key(sent.sender), *verifier);
    }
}

void carry_out(Work& work, const Sent& sent, const JobSubmit& tx) {
    Job job;
    job.id = job_id(sent.id);
    job.spec = tx.spec;
    const Params params = read_current_params(work.state);
    job.params = params_hash(params);
    job.buyer = sent.owner;
    job.buyer_node = tx.node;
    job.buyer_endpoint = tx.endpoint;
    job.submitted_at = work.block.height;
    job.deadline = work.block.height + tx.spec.market.deadline_blocks;
    job.phase = JobPhase::kAskCommit;
    job.phase_deadline = later(work.block.height, params.ask_commit_window);
    job.slot_work = program::work_units(tx.spec);
    job.escrow = tx.spec.market.budget;
    job.base_root = tx.spec.initial_root;
    job.base_blob = tx.spec.initial_blob;
    charge_balance(work.state, sent.owner, job.escrow, &Supply::escrow);
    work.state.put(active_job_key(job.id), {});
    work.tell({.kind = EventKind::kJobSubmitted, .job = job.id, .node = tx.node, .amount = job.escrow});
    join_beacon(work, job, tx.node, BeaconRole::kBuyer, tx.beacon_tip);
}

void carry_out(Work& work, const Sent&, const JobCancel& tx) {
    Job job = job_record(work, tx.job);
    job.cancel_asked = true;
    // A round that runs is finished first: its end asks for the wish.
    if (job.phase != JobPhase::kRounds) end_job(work, job, Reason::kJobCancelled);
    store(work.state, job_key(tx.job), job);
}

void carry_out(Work& work, const Sent& sent, const AskCommit& tx) {
    Job job = job_record(work, tx.job);
    Ask ask;
    ask.miner = sent.sender;
    ask.seal = tx.seal;
    ask.deposit = params_of(work.state, job).ask_deposit;
    take_free(work.state, sent.sender, ask.deposit, &Supply::deposits);
    store(work.state, ask_key(tx.job, sent.sender), ask);
    ++job.auction.asks_sealed;
    store(work.state, job_key(tx.job), job);
}

void carry_out(Work& work, const Sent& sent, const AskReveal& tx) {
    Ask ask = *read_ask(work.state, tx.job, sent.sender);
    give_free(work.state, sent.sender, ask.deposit, &Supply::deposits);
    ask.deposit = {};
    ask.revealed = true;
    ask.price = tx.price;
    ask.salt = tx.salt;
    store(work.state, ask_key(tx.job, sent.sender), ask);
}

void carry_out(Work& work, const Sent& sent, const VerifierEnlist& tx) {
    Job job = job_record(work, tx.job);
    EnlistedVerifier verifier;
    verifier.node = sent.sender;
    verifier.owner = sent.owner;
    verifier.locked = tx.stake;
    verifier.bond = tx.stake;
    lock_stake(work.state, sent.sender, tx.stake);
    job.verifiers.push_back(verifier);
    join_beacon(work, job, sent.sender, BeaconRole::kVerifier, tx.beacon_tip);
    work.tell({.kind = EventKind::kEnlisted, .job = tx.job, .node = sent.sender});
}

void carry_out(Work& work, const Sent& sent, const SequencerEnlist& tx) {
    Job job = job_record(work, tx.job);
    join_beacon(work, job, sent.sender, BeaconRole::kSequencer, tx.beacon_tip);
    work.tell({.kind = EventKind::kEnlisted, .job = tx.job, .node = sent.sender});
}

}  // namespace assay::contracts
