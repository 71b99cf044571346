// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "contracts/program/program.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/identity/team.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/phases.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/seals.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// Changes one record of the job. REQUIRES that there is one: the check of the same transaction found it.
template <class Record, class Change>
void edit(Work& work, const Bytes& key, Change change) {
    auto record = required(load<Record>(work.state, key));
    change(record);
    store(work.state, key, record);
}

/// The link bond is locked from the node's free stake, the buyer's from its owner's account.
void join_beacon(Work& work, const Hash256& job, Bidding& bidding, BeaconMember member) {
    const JobTerms terms = required(read_job_terms(work.state, job));
    const auto bond = link_bond(params_of(work.state, terms), terms.spec, terms.slot_work);
    ASSAY_CHECK(bond.has_value());  // the job was refused otherwise
    member.bond = *bond;
    member.place = bidding.members++;
    if (member.role == BeaconRole::kBuyer) {
        charge_balance(work.state, member.owner, member.bond, &Supply::escrow);
    } else {
        lock_stake(work.state, member.node, member.bond);
    }
    store(work.state, beacon_member_key(job, member.node), member);
}

/// A job that leases and waited for verifiers alone looks in the next block whether it can begin.
void wake(Work& work, const Hash256& id) {
    JobProgress job = required(read_job_progress(work.state, id));
    const JobTerms terms = required(read_job_terms(work.state, id));
    const bool waits = job.phase == JobPhase::kWaiting && work.block.height < job.phase_deadline;
    if (!waits || work.block.height < last_of_enlistment(params_of(work.state, terms), terms)) return;
    job.phase_deadline = work.block.height;
    schedule(work.state, id, job, job.phase_deadline);
    store(work.state, job_progress_key(id), job);
}

/// Others may join for as long as asks are sealed, once somebody is there; nobody is waited for when no place
/// is open. A window that members' bonds wait for is not cut.
void shorten_refill(Work& work, Job job) {
    if (job.phase != JobPhase::kRefill || members_wait_for_window(work.state, job)) return;
    const bool full = open_places(work.state, job) == 0;
    const std::uint64_t window = full ? 0 : params_of(work.state, job).ask_commit_window;
    const std::uint64_t last = later(work.block.height, window);
    if (last >= job.phase_deadline) return;
    job.phase_deadline = last;
    schedule(work.state, job.id, job, last);
    write_job(work.state, job);
}

BeaconMember member_of(const PublicKey& node, const PublicKey& owner, BeaconRole role, const Hash256& tip) {
    BeaconMember member;
    member.node = node;
    member.owner = owner;
    member.role = role;
    member.tip = tip;
    return member;
}

/// `payer` is the job's buyer; the submitter's node key serves it.
Hash256 submit(Work& work, const Sent& sent, const JobSubmit& tx, const PublicKey& payer) {
    const Hash256 id = job_id(sent.id);
    const Params params = read_current_params(work.state);
    JobTerms terms;
    terms.spec = tx.spec;
    terms.params = params_hash(params);
    terms.buyer = payer;
    terms.buyer_node = tx.node;
    terms.submitted_at = work.block.height;
    terms.deadline = work.block.height + tx.spec.market.deadline_blocks;
    terms.slot_work = program::work_units(tx.spec);
    store(work.state, job_terms_key(id), terms);
    JobProgress progress;
    progress.phase = terms.leases() ? JobPhase::kWaiting : JobPhase::kAskCommit;
    progress.phase_deadline = terms.leases() ? std::min(terms.deadline - 1, last_of_enlistment(params, terms))
                                             : later(work.block.height, params.ask_commit_window);
    progress.escrow = tx.spec.market.budget;
    progress.base_root = tx.spec.initial_root;
    progress.base_blob = tx.spec.initial_blob;
    schedule(work.state, id, progress, progress.phase_deadline);
    store(work.state, job_progress_key(id), progress);
    store(work.state, buyer_endpoint_key(id), tx.endpoint);
    charge_balance(work.state, payer, progress.escrow, &Supply::escrow);
    const auto fee = job_fee(params, tx.spec);
    ASSAY_CHECK(fee.has_value());  // the check of the same transaction added it up
    charge_balance(work.state, payer, *fee, &Supply::burned);
    list_as_active(work.state, id);
    work.tell({.kind = EventKind::kJobSubmitted, .job = id, .node = tx.node, .amount = progress.escrow});
    Bidding bidding;
    join_beacon(work, id, bidding, member_of(tx.node, payer, BeaconRole::kBuyer, tx.beacon_tip));
    store(work.state, bidding_key(id), bidding);
    return id;
}

void take_room_of(Work& work, const PublicKey& sponsor, const PublicKey& member, Amount amount) {
    edit<TeamMember>(work, team_member_key(sponsor, member),
                     [&](TeamMember& record) { take_room(record, work.block.height, amount); });
}

}  // namespace

void carry_out(Work& work, const Sent& sent, const EndpointUpdate& tx) {
    if (!tx.job.is_zero()) {
        return store(work.state, buyer_endpoint_key(tx.job), tx.endpoint);
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

void carry_out(Work& work, const Sent& sent, const JobSubmit& tx) { submit(work, sent, tx, sent.owner); }

void carry_out(Work& work, const Sent& sent, const TeamSubmit& tx) {
    const Amount before = read_account(work.state, tx.sponsor).balance;
    const Hash256 id = submit(work, sent, tx, tx.sponsor);
    JobAdditions additions;
    additions.by_member = difference(before, read_account(work.state, tx.sponsor).balance);
    store(work.state, job_additions_key(id), additions);
    take_room_of(work, tx.sponsor, sent.owner, additions.by_member);
}

void carry_out(Work& work, const Sent&, const JobCancel& tx) {
    JobProgress progress = required(read_job_progress(work.state, tx.job));
    progress.cancel_asked = true;
    // A round that runs is finished first: its end asks for the wish.
    if (progress.phase == JobPhase::kRounds) return store(work.state, job_progress_key(tx.job), progress);
    Job job = required(read_job(work.state, tx.job));
    job.cancel_asked = true;
    end_job(work, job, Reason::kJobCancelled);
    write_job(work.state, job);
}

void carry_out(Work& work, const Sent& sent, const JobTopUp& tx) {
    edit<JobProgress>(work, job_progress_key(tx.job),
                      [&](JobProgress& progress) { progress.escrow = sum(progress.escrow, tx.amount); });
    JobAdditions additions = read_job_additions(work.state, tx.job);
    additions.topped_up = sum(additions.topped_up, tx.amount);
    const PublicKey buyer = required(read_job_terms(work.state, tx.job)).buyer;
    if (sent.owner != buyer) {
        additions.by_member = sum(additions.by_member, tx.amount);
        take_room_of(work, buyer, sent.owner, tx.amount);
    }
    store(work.state, job_additions_key(tx.job), additions);
    charge_balance(work.state, buyer, tx.amount, &Supply::escrow);
    work.tell({.kind = EventKind::kToppedUp, .job = tx.job, .node = sent.sender, .amount = tx.amount});
}

// A job is due when its phase ends, and asks for its deadline then: the index of deadlines stays as it is.
void carry_out(Work& work, const Sent& sent, const JobExtend& tx) {
    JobAdditions additions = read_job_additions(work.state, tx.job);
    additions.extended += tx.blocks;
    store(work.state, job_additions_key(tx.job), additions);
    const std::uint64_t deadline = current_deadline(required(read_job_terms(work.state, tx.job)), additions);
    work.tell({.kind = EventKind::kExtended, .job = tx.job, .node = sent.sender, .number = deadline});
}

void carry_out(Work& work, const Sent& sent, const AskCommit& tx) {
    Ask ask;
    ask.miner = sent.sender;
    ask.seal = tx.seal;
    ask.deposit = params_of(work.state, required(read_job_terms(work.state, tx.job))).ask_deposit;
    take_free(work.state, sent.sender, ask.deposit, &Supply::deposits);
    store(work.state, ask_key(tx.job, sent.sender), ask);
    edit<Bidding>(work, bidding_key(tx.job), [](Bidding& bidding) { ++bidding.auction.asks_sealed; });
}

void carry_out(Work& work, const Sent& sent, const AskReveal& tx) {
    // The deposit comes back when the auction is held.
    Ask ask = *read_ask(work.state, tx.job, sent.sender);
    ask.revealed = true;
    ask.price = tx.price;
    ask.salt = tx.salt;
    store(work.state, ask_key(tx.job, sent.sender), ask);
}

void carry_out(Work& work, const Sent& sent, const VerifierEnlist& tx) {
    edit<Bidding>(work, bidding_key(tx.job), [&](Bidding& bidding) {
        EnlistedVerifier verifier;
        verifier.node = sent.sender;
        verifier.owner = sent.owner;
        verifier.locked = tx.stake;
        verifier.bond = tx.stake;
        verifier.place = bidding.verifiers++;
        store(work.state, panel_key(tx.job, sent.sender), verifier);
        join_beacon(work, tx.job, bidding,
                    member_of(sent.sender, sent.owner, BeaconRole::kVerifier, tx.beacon_tip));
    });
    lock_stake(work.state, sent.sender, tx.stake);
    work.tell({.kind = EventKind::kEnlisted, .job = tx.job, .node = sent.sender});
    wake(work, tx.job);
}

void carry_out(Work& work, const Sent& sent, const ValidatorEnlist& tx) {
    edit<Bidding>(work, bidding_key(tx.job), [&](Bidding& bidding) {
        join_beacon(work, tx.job, bidding,
                    member_of(sent.sender, sent.owner, BeaconRole::kValidator, tx.beacon_tip));
    });
    work.tell({.kind = EventKind::kEnlisted, .job = tx.job, .node = sent.sender});
}

void carry_out(Work& work, const Sent& sent, const JobJoin& tx) {
    const Job before = required(read_job(work.state, tx.job));
    const Amount bond = bond_in(work.state, params_of(work.state, before), before, sent.sender);
    vacate_place(work, before);
    lock_stake(work.state, sent.sender, bond);
    edit<Bidding>(work, bidding_key(tx.job), [&](Bidding& bidding) {
        RosterEntry entry;
        entry.node = sent.sender;
        entry.owner = sent.owner;
        entry.ask = bidding.auction.clearing_price;
        // It says that it is there: its first absence costs what a second one costs.
        entry.missed = kAbsenceWeight;
        entry.place = bidding.auction.winners + bidding.joined++;
        entry.locked = bond;
        store(work.state, roster_key(tx.job, entry.node), entry);
    });
    work.tell({.kind = EventKind::kEnlisted, .job = tx.job, .node = sent.sender});
    shorten_refill(work, required(read_job(work.state, tx.job)));
}

}  // namespace assay::contracts
