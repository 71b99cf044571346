// SPDX-License-Identifier: Apache-2.0
// What a buyer adds to a job that runs: money to its escrow, heights to its deadline.
#include "contracts/program/program.hpp"
#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

/// Two miners and two verifiers work for a job whose budget covers one round at its dearest and no second.
struct Bought {
    Env env;
    Hash256 id;
    Amount round;  ///< what a round costs at its dearest

    explicit Bought(JobSpec spec = small_job()) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        round = round_cost(env.params(), spec, spec.market.max_price, program::work_units(spec)).value();
        spec.market.budget = round;
        id = env.post(spec);
    }
    void begin() { env.hold_auction(id, {{"m1", 1'000}, {"m2", 1'000}}, {"v1", "v2", "v3"}); }
    Person& buyer() { return env.person("buyer"); }
};

}  // namespace

TEST_CASE("a top-up moves balance to the escrow, and the budget as submitted stays") {
    Bought w;
    const std::uint64_t before = w.env.balance("buyer");
    w.env.send(w.buyer(), JobTopUp{w.id, amount(5'000)});
    w.env.send(w.buyer(), JobTopUp{w.id, amount(1)});
    const Job job = w.env.job(w.id);
    CHECK(job.spec.market.budget == w.round);
    CHECK(job.whole_budget() == w.round.plus(amount(5'001)));
    CHECK(job.escrow == job.whole_budget());
    CHECK(w.env.balance("buyer") == before - 5'001);
    CHECK(w.env.events().back().kind == EventKind::kToppedUp);
    CHECK(w.env.events().back().amount == amount(1));
}

TEST_CASE("a job that was topped up goes on where it would have been exhausted") {
    const bool adds = GENERATE(false, true);
    CAPTURE(adds);
    Bought w;
    w.begin();
    if (adds) w.env.send(w.buyer(), JobTopUp{w.id, *w.round.times(3, 1, base::Rounding::kDown)});
    play_job(w.env, w.id);
    const Job job = w.env.job(w.id);
    CHECK(job.end_reason == (adds ? Reason::kJobComplete : Reason::kJobExhausted));
    CHECK(job.rounds_done == (adds ? 3 : 1));
    CHECK(job.spent.units() + job.refunded.units() == job.whole_budget().units());
    // The record of additions leaves with the job, and what is left of the job counts it.
    w.env.next_block();
    w.env.next_block();
    CHECK_FALSE(w.env.state().get(job_additions_key(w.id)));
    CHECK(read_ended_job(w.env.state(), w.id)->budget == job.whole_budget());
    CHECK(read_job_additions(w.env.whole(), w.id).topped_up == job.additions.topped_up);
}

TEST_CASE("nobody tops up another's job, one that is over, with nothing, or with what is not there") {
    Bought w;
    Person& stranger = w.env.person("other");
    w.env.refuse(Reason::kUnknownJob, w.buyer(), JobTopUp{bytes_of("no job"), amount(1)});
    w.env.refuse(Reason::kNotYours, stranger, JobTopUp{w.id, amount(1)});
    w.env.refuse(Reason::kZeroAmount, w.buyer(), JobTopUp{w.id, amount(0)});
    w.env.refuse(Reason::kInsufficientBalance, w.buyer(), JobTopUp{w.id, amount(w.env.balance("buyer") + 1)});
    w.env.send(w.buyer(), JobTopUp{w.id, amount(w.env.balance("buyer"))});
    CHECK(w.env.balance("buyer") == 0);
    w.env.send(w.buyer(), JobCancel{w.id});
    w.env.refuse(Reason::kJobOver, w.buyer(), JobTopUp{w.id, amount(1)});
    w.env.refuse(Reason::kJobOver, w.buyer(), JobExtend{w.id, 1});
    w.env.advance_to(w.env.height() + 3);
    w.env.refuse(Reason::kJobOver, w.buyer(), JobTopUp{w.id, amount(1)});
}

TEST_CASE("what was ever added to a job stays an amount") {
    Bought w;
    // As if its own pay had come back to the buyer and been added, over and over.
    w.env.send(w.buyer(), JobTopUp{w.id, amount(1)});
    w.env.edit<JobProgress>(job_progress_key(w.id), [&](JobProgress& progress) {
        progress.spent = *amount(base::kAmountMax).minus(progress.escrow);
    });
    w.env.edit<JobAdditions>(job_additions_key(w.id), [&](JobAdditions& additions) {
        additions.topped_up = *amount(base::kAmountMax).minus(w.round);
    });
    w.env.refuse(Reason::kAmountOverflow, w.buyer(), JobTopUp{w.id, amount(1)});
}

TEST_CASE("an extended job begins rounds for as long as the new deadline is ahead") {
    const bool extends = GENERATE(false, true);
    CAPTURE(extends);
    JobSpec spec = small_job();
    spec.market.deadline_blocks = 12;
    Bought w(spec);
    w.env.send(w.buyer(), JobTopUp{w.id, *w.round.times(3, 1, base::Rounding::kDown)});
    w.begin();
    const std::uint64_t old = w.env.job(w.id).current_deadline();
    if (extends) w.env.send(w.buyer(), JobExtend{w.id, 1'000});
    CHECK(w.env.job(w.id).current_deadline() == old + (extends ? 1'000 : 0));
    w.env.advance_to(old);
    play_job(w.env, w.id);
    CHECK(w.env.job(w.id).end_reason == (extends ? Reason::kJobComplete : Reason::kJobDeadline));
}

TEST_CASE("a deadline comes no later after the submission than a job file may name") {
    Bought w;
    const std::uint64_t left = 1'000'000'000 - small_job().market.deadline_blocks;
    Person& stranger = w.env.person("other");
    w.env.refuse(Reason::kUnknownJob, w.buyer(), JobExtend{bytes_of("no job"), 1});
    w.env.refuse(Reason::kNotYours, stranger, JobExtend{w.id, 1});
    w.env.refuse(Reason::kZeroAmount, w.buyer(), JobExtend{w.id, 0});
    w.env.refuse(Reason::kDeadlineTooFar, w.buyer(), JobExtend{w.id, left + 1});
    w.env.refuse(Reason::kDeadlineTooFar, w.buyer(), JobExtend{w.id, UINT64_MAX});
    w.env.send(w.buyer(), JobExtend{w.id, left - 1});
    w.env.send(w.buyer(), JobExtend{w.id, 1});
    w.env.refuse(Reason::kDeadlineTooFar, w.buyer(), JobExtend{w.id, 1});
}

}  // namespace assay::contracts::test
