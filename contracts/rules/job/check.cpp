// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "contracts/rules/identity/phases.hpp"
#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/phases.hpp"
#include "contracts/rules/job/seals.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/tables.hpp"

namespace assay::contracts {

namespace {

Result<Job, Reason> running_job(const Case& c, const Hash256& id) {
    auto job = read_job(c.state, id);
    if (!job) return failed(Reason::kUnknownJob);
    if (job->phase == JobPhase::kEnded) return failed(Reason::kJobOver);
    return std::move(*job);
}

Result<Job, Reason> job_in_bidding(const Case& c, const Hash256& id) {
    ASSAY_ASSIGN(Job job, running_job(c, id));
    if (job.phase == JobPhase::kRounds) return failed(Reason::kWrongPhase);
    return job;
}

bool feeds_beacon(const Job& job, const PublicKey& node) {
    return std::any_of(job.beacon.begin(), job.beacon.end(),
                       [&](const BeaconMember& member) { return member.node == node; });
}

}  // namespace

Checked check(const Case& c, const EndpointUpdate& tx) {
    if (!tx.job.is_zero()) {
        const auto job = read_job(c.state, tx.job);
        if (!job) return failed(Reason::kUnknownJob);
        if (job->phase == JobPhase::kEnded) return failed(Reason::kJobOver);
        return job->buyer_node == c.sender ? Checked{} : failed(Reason::kNotYours);
    }
    const bool has_role = read_miner(c.state, c.sender) || read_verifier(c.state, c.sender);
    return has_role ? Checked{} : failed(Reason::kNotMiner);
}

Checked check(const Case& c, const JobSubmit& tx) {
    ASSAY_TRY(check_own_node(c.state, c.owner, tx.node));
    const JobSpec& spec = tx.spec;
    if (spec.market.deadline_blocks > std::numeric_limits<std::uint64_t>::max() - c.block.height) {
        return failed(Reason::kBadSpec);
    }
    if (list_active_jobs(c.state).size() >= kMaxActiveJobs) return failed(Reason::kTooManyJobs);
    if (read_account(c.state, c.owner).balance < spec.market.budget)
        return failed(Reason::kInsufficientBalance);
    // Building the program is the dear part: only for whoever could pay.
    ASSAY_ASSIGN(const JobTerms terms, job_terms(read_current_params(c.state), spec));
    ASSAY_TRY(check_budget(terms, spec.market));
    return {};
}

Checked check(const Case& c, const JobCancel& tx) {
    ASSAY_ASSIGN(const Job job, running_job(c, tx.job));
    if (job.buyer != c.owner) return failed(Reason::kNotYours);
    if (job.cancel_asked) return failed(Reason::kAlreadyDone);
    return {};
}

Checked check(const Case& c, const AskCommit& tx) {
    ASSAY_ASSIGN(const Job job, running_job(c, tx.job));
    if (job.phase != JobPhase::kAskCommit) return failed(Reason::kWrongPhase);
    if (!read_miner(c.state, c.sender)) return failed(Reason::kNotMiner);
    if (read_ask(c.state, tx.job, c.sender)) return failed(Reason::kAlreadyDone);
    if (job.auction.asks_sealed >= kMaxAsks) return failed(Reason::kRosterFull);
    if (read_stake(c.state, c.sender).free < params_of(c.state, job).ask_deposit) {
        return failed(Reason::kInsufficientStake);
    }
    return {};
}

Checked check(const Case& c, const AskReveal& tx) {
    ASSAY_ASSIGN(const Job job, running_job(c, tx.job));
    if (job.phase != JobPhase::kAskReveal) return failed(Reason::kWrongPhase);
    const auto ask = read_ask(c.state, tx.job, c.sender);
    if (!ask) return failed(Reason::kNoSeal);
    if (ask->revealed) return failed(Reason::kAlreadyDone);
    if (ask_seal(c.block.chain_id, tx.job, c.sender, tx.price, tx.salt) != ask->seal) {
        return failed(Reason::kSealMismatch);
    }
    return {};
}

Checked check(const Case& c, const VerifierEnlist& tx) {
    ASSAY_ASSIGN(const Job job, job_in_bidding(c, tx.job));
    if (!read_verifier(c.state, c.sender)) return failed(Reason::kNotVerifier);
    // A buyer that checks its own job could refuse to pay for good work.
    if (c.owner == job.buyer) return failed(Reason::kNotParticipant);
    if (feeds_beacon(job, c.sender)) return failed(Reason::kAlreadyDone);
    if (job.verifiers.size() >= kMaxVerifiers) return failed(Reason::kRosterFull);
    const auto least = enlistment_minimum(params_of(c.state, job), job.spec, job.slot_work);
    ASSAY_CHECK(least.has_value());  // the job was refused otherwise
    if (tx.stake < *least) return failed(Reason::kLockTooSmall);
    if (read_stake(c.state, c.sender).free < tx.stake) return failed(Reason::kInsufficientStake);
    return {};
}

Checked check(const Case& c, const SequencerEnlist& tx) {
    ASSAY_ASSIGN(const Job job, job_in_bidding(c, tx.job));
    if (c.sender != read_sequencer(c.state).node) return failed(Reason::kNotSequencer);
    if (feeds_beacon(job, c.sender)) return failed(Reason::kAlreadyDone);
    return {};
}

}  // namespace assay::contracts
