// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "contracts/program/spec_check.hpp"
#include "contracts/rules/identity/phases.hpp"
#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/identity/team.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/job/phases.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/seals.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/tables.hpp"

namespace assay::contracts {

namespace {

Result<JobProgress, Reason> running_job(const Case& c, const Hash256& id) {
    auto job = read_job_progress(c.state, id);
    if (!job) return failed(reason_of_absence(c.state, id));
    if (is_over(job->phase)) return failed(Reason::kJobOver);
    return *job;
}

/// Verifiers and validators may enlist: while asks are taken, or before the first round of a job that leases.
Checked check_enlistment(const Case& c, const Hash256& id) {
    ASSAY_ASSIGN(const JobProgress job, running_job(c, id));
    const bool bidding = job.phase == JobPhase::kAskCommit || job.phase == JobPhase::kAskReveal;
    const bool waits = job.phase == JobPhase::kWaiting && job.round == 0;
    return bidding || waits ? Checked{} : Checked(failed(Reason::kWrongPhase));
}

JobTerms terms_of(const Case& c, const Hash256& id) {
    auto terms = read_job_terms(c.state, id);
    ASSAY_CHECK(terms.has_value());
    return std::move(*terms);
}

/// A job that leases takes nobody but by the market.
Checked check_own_auction(const Case& c, const Hash256& id) {
    return terms_of(c, id).leases() ? Checked(failed(Reason::kJobLeases)) : Checked{};
}

Amount link_bond_of(const Case& c, const JobTerms& terms) {
    const auto bond = link_bond(params_of(c.state, terms), terms.spec, terms.slot_work);
    ASSAY_CHECK(bond.has_value());  // the job was refused otherwise
    return *bond;
}

/// A submission that `payer` pays: what it takes from it in all.
Result<Amount, Reason> check_submission(const Case& c, const JobSubmit& tx, const PublicKey& payer) {
    ASSAY_TRY(check_own_node(c.state, c.owner, tx.node));
    const JobSpec& spec = tx.spec;
    if (spec.market.deadline_blocks > std::numeric_limits<std::uint64_t>::max() - c.block.height) {
        return failed(Reason::kBadSpec);
    }
    if (read_meta(c.state).active_jobs >= kMaxActiveJobs) return failed(Reason::kTooManyJobs);
    if (read_account(c.state, payer).balance < spec.market.budget)
        return failed(Reason::kInsufficientBalance);
    // Counting the work is the dear part: only for whoever could pay.
    ASSAY_ASSIGN(const JobQuote quote, quote_job(read_current_params(c.state), spec));
    ASSAY_ASSIGN(const Amount whole, check_budget(quote, spec.market));
    if (read_account(c.state, payer).balance < whole) return failed(Reason::kInsufficientBalance);
    return whole;
}

Bidding bidding_of(const Case& c, const Hash256& id) {
    const auto bidding = read_bidding(c.state, id);
    ASSAY_CHECK(bidding.has_value());
    return *bidding;
}

}  // namespace

Checked check_decides(const Case& c, const JobTerms& terms) {
    if (c.owner == terms.buyer) return {};
    if (c.owner != submitter_of(c.state, terms)) return failed(Reason::kNotYours);
    const auto member = read_team_member(c.state, terms.buyer, c.owner);
    return member && !member->revoked ? Checked{} : failed(Reason::kNotMember);
}

Checked check(const Case& c, const EndpointUpdate& tx) {
    if (!tx.job.is_zero()) {
        ASSAY_TRY(running_job(c, tx.job));
        return terms_of(c, tx.job).buyer_node == c.sender ? Checked{} : failed(Reason::kNotYours);
    }
    const bool has_role = read_miner(c.state, c.sender) || read_verifier(c.state, c.sender);
    return has_role ? Checked{} : failed(Reason::kNotMiner);
}

Checked check(const Case& c, const JobSubmit& tx) {
    const auto whole = check_submission(c, tx, c.owner);
    return whole ? Checked{} : failed(whole.error());
}

Checked check(const Case& c, const TeamSubmit& tx) {
    const auto member = read_team_member(c.state, tx.sponsor, c.owner);
    if (!member) return failed(Reason::kNotMember);
    // Who has no room for the budget has none for the whole, and is refused before the work is counted.
    ASSAY_TRY(check_room(*member, c.block.height, {}, tx.spec.market.budget));
    ASSAY_ASSIGN(const Amount whole, check_submission(c, tx, tx.sponsor));
    return check_room(*member, c.block.height, {}, whole);
}

Checked check(const Case& c, const JobCancel& tx) {
    ASSAY_ASSIGN(const JobProgress job, running_job(c, tx.job));
    ASSAY_TRY(check_decides(c, terms_of(c, tx.job)));
    if (job.cancel_asked) return failed(Reason::kAlreadyDone);
    return {};
}

Checked check(const Case& c, const JobTopUp& tx) {
    ASSAY_TRY(running_job(c, tx.job));
    const JobTerms terms = terms_of(c, tx.job);
    ASSAY_TRY(check_decides(c, terms));
    const JobAdditions additions = read_job_additions(c.state, tx.job);
    if (c.owner != terms.buyer) {
        const auto member = read_team_member(c.state, terms.buyer, c.owner);
        ASSAY_TRY(check_room(*member, c.block.height, additions.by_member, tx.amount));
    }
    // The same money can come back as pay and be added again: the sum has no other bound.
    if (!whole_budget(terms, additions).plus(tx.amount)) return failed(Reason::kAmountOverflow);
    const bool covered = read_account(c.state, terms.buyer).balance >= tx.amount;
    return covered ? Checked{} : failed(Reason::kInsufficientBalance);
}

Checked check(const Case& c, const JobExtend& tx) {
    ASSAY_TRY(running_job(c, tx.job));
    const JobTerms terms = terms_of(c, tx.job);
    ASSAY_TRY(check_decides(c, terms));
    const std::uint64_t old = current_deadline(terms, read_job_additions(c.state, tx.job));
    JobSpec spec = terms.spec;
    spec.market.deadline_blocks = later(old, tx.blocks) - terms.submitted_at;
    const bool counts = tx.blocks <= std::numeric_limits<std::uint64_t>::max() - old;
    return counts && program::check_spec(spec) ? Checked{} : failed(Reason::kDeadlineTooFar);
}

Checked check(const Case& c, const AskCommit& tx) {
    ASSAY_ASSIGN(const JobProgress job, running_job(c, tx.job));
    ASSAY_TRY(check_own_auction(c, tx.job));
    if (job.phase != JobPhase::kAskCommit) return failed(Reason::kWrongPhase);
    if (!read_miner(c.state, c.sender)) return failed(Reason::kNotMiner);
    if (read_ask(c.state, tx.job, c.sender)) return failed(Reason::kAlreadyDone);
    if (bidding_of(c, tx.job).auction.asks_sealed >= kMaxAsks) return failed(Reason::kRosterFull);
    const JobTerms terms = terms_of(c, tx.job);
    const Amount needed = stake_to_ask(c.state, params_of(c.state, terms), terms, c.sender);
    return read_stake(c.state, c.sender).free >= needed ? Checked{} : failed(Reason::kInsufficientStake);
}

Checked check(const Case& c, const AskReveal& tx) {
    ASSAY_ASSIGN(const JobProgress job, running_job(c, tx.job));
    ASSAY_TRY(check_own_auction(c, tx.job));
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
    ASSAY_TRY(check_enlistment(c, tx.job));
    if (!read_verifier(c.state, c.sender)) return failed(Reason::kNotVerifier);
    // A buyer that checks its own job could refuse to pay for good work.
    const JobTerms terms = terms_of(c, tx.job);
    if (is_of_buyer(c.state, terms, c.owner)) return failed(Reason::kNotParticipant);
    if (read_beacon_member(c.state, tx.job, c.sender)) return failed(Reason::kAlreadyDone);
    if (bidding_of(c, tx.job).verifiers >= kMaxVerifiers) return failed(Reason::kRosterFull);
    const auto least = enlistment_minimum(params_of(c.state, terms), terms.spec, terms.slot_work);
    ASSAY_CHECK(least.has_value());  // the job was refused otherwise
    if (tx.stake < *least) return failed(Reason::kLockTooSmall);
    const auto locked = tx.stake.plus(link_bond_of(c, terms));
    if (!locked || read_stake(c.state, c.sender).free < *locked) return failed(Reason::kInsufficientStake);
    return {};
}

Checked check(const Case& c, const ValidatorEnlist& tx) {
    ASSAY_TRY(check_enlistment(c, tx.job));
    if (read_validators(c.state).power_of(c.sender) == 0) return failed(Reason::kNotValidator);
    if (read_beacon_member(c.state, tx.job, c.sender)) return failed(Reason::kAlreadyDone);
    if (read_stake(c.state, c.sender).free < link_bond_of(c, terms_of(c, tx.job)))
        return failed(Reason::kInsufficientStake);
    return {};
}

Checked check(const Case& c, const JobJoin& tx) {
    ASSAY_ASSIGN(const JobProgress progress, running_job(c, tx.job));
    ASSAY_TRY(check_own_auction(c, tx.job));
    if (progress.phase != JobPhase::kRounds && progress.phase != JobPhase::kRefill)
        return failed(Reason::kWrongPhase);
    if (!read_miner(c.state, c.sender)) return failed(Reason::kNotMiner);
    if (c.state.get(roster_key(tx.job, c.sender))) return failed(Reason::kAlreadyDone);
    const auto job = read_job(c.state, tx.job);
    ASSAY_CHECK(job.has_value());
    if (open_places(c.state, *job) == 0 || job->roster.size() >= kMaxAsks) return failed(Reason::kRosterFull);
    if (read_stake(c.state, c.sender).free < bond_in(c.state, params_of(c.state, *job), *job, c.sender))
        return failed(Reason::kInsufficientStake);
    return {};
}

}  // namespace assay::contracts
