// SPDX-License-Identifier: Apache-2.0
// A job goes on under the parameters it was submitted under, whatever the chain decides meanwhile.
#include "contracts/program/program.hpp"
#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

Params before() {
    Params params = short_windows();
    params.probation_rounds = 1;
    params.ask_deposit = amount(1'000);
    return params;
}

/// Nothing as it was: other windows, and all else as dear as it may be.
Params after() {
    const Params old = before();
    Params params;
    for (const ParamRange& range : param_ranges()) {
        const bool window = range.name.ends_with("_window");
        range.set(params, window ? range.get(old) + 7 : range.maximum);
    }
    params.claim_window = 3 * params.audit_seal_window;
    return params;
}

/// Where in the job's life the current parameters change.
enum class Moment { kNever, kBidding, kOpeningAsks, kTraining, kAudit, kBetweenRounds };

/// A job with a cheat, an absent verifier and a withheld link.
struct CheatedJob {
    Env env{before()};
    Hash256 job;

    explicit CheatedJob(Moment moment) {
        const auto change_at = [&](Moment now) {
            if (now == moment) env.change_params(after());
        };
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3", "v4"}) env.verifier(name);
        job = env.post(small_job());
        change_at(Moment::kBidding);
        hold_auction([&] { change_at(Moment::kOpeningAsks); });
        change_at(Moment::kTraining);
        play_commits(env, job, {});
        play_links(env, job, {});
        play_serves(env, job, {});
        change_at(Moment::kAudit);
        play_verdicts(env, job, {});
        play_merges(env, job, {});
        change_at(Moment::kBetweenRounds);
        play_round(env, job, {.miners = {{"m2", MinerManner::kBadFinalise}}, .withhold_links = {"v4"}});
        play_round(env, job, {.verifiers = {{"v1", VerifierManner::kLies}, {"v2", VerifierManner::kAbsent}}});
        play_job(env, job);
        REQUIRE(env.job(job).phase == JobPhase::kEnded);
    }

    template <class Between>
    void hold_auction(Between between) {
        for (const char* name : {"v1", "v2", "v3", "v4"}) {
            env.enlist(name, job);
        }
        for (const auto& [name, price] : {std::pair{"m1", 500}, {"m2", 600}, {"m3", 700}}) {
            Person& who = env.person(name);
            const auto ask = amount(static_cast<std::uint64_t>(price));
            env.send(who, AskCommit{job, ask_seal(env.chain(), job, who.node_key(), ask, who.secret)});
        }
        env.let_deadline_pass();
        between();
        env.send(env.person("m1"), AskReveal{job, amount(500), env.person("m1").secret});
        env.send(env.person("m2"), AskReveal{job, amount(600), env.person("m2").secret});
        env.let_deadline_pass();
    }

    /// Everything but the parameters themselves.
    [[nodiscard]] std::vector<std::pair<Bytes, Bytes>> records() const {
        auto all = env.state().scan({});
        std::erase_if(all, [](const auto& record) {
            const auto table = static_cast<Table>(record.first.front());
            return table == Table::kParams || table == Table::kParamSet;
        });
        return all;
    }
};

}  // namespace

TEST_CASE("a job whose chain changes every parameter in mid-job goes on and ends as if it had changed none") {
    const Moment moment = GENERATE(Moment::kBidding, Moment::kOpeningAsks, Moment::kTraining, Moment::kAudit,
                                   Moment::kBetweenRounds);
    const CheatedJob left_alone(Moment::kNever);
    const CheatedJob changed(moment);
    CHECK(changed.env.height() == left_alone.env.height());
    CHECK(changed.records() == left_alone.records());
    CHECK(read_current_params(changed.env.state()) == after());
    CHECK(params_of(changed.env.state(), changed.env.job(changed.job)) == before());
}

TEST_CASE("a round begins on the bonds of its job's parameters, though today's would name no amount") {
    const std::uint64_t pay = 80'000'000'000'000'000;  // of one slot: fifty times as much is no amount
    JobSpec spec = small_job();
    spec.rounds = 1;
    spec.market.max_price = amount(pay / program::work_units(spec));
    spec.market.budget =
        round_cost(short_windows(), spec, spec.market.max_price, program::work_units(spec)).value();
    Env env;
    for (const char* name : {"m1", "m2"}) {
        env.enrich(name, 3 * pay);  // a bond of a third that colludes, of which six tenths are burned
        env.miner(name, 3 * pay + kPlenty);
    }
    // Half of a bond at the job's rate.
    const Amount link = link_bond(short_windows(), spec, program::work_units(spec)).value();
    for (const char* name : {"v1", "v2"}) {
        env.enrich(name, 2 * pay + link.units());
        env.verifier(name, 2 * pay + link.units() + kPlenty);
    }
    env.enrich("buyer", spec.market.budget.plus(link)->units());  // the fee is there
    const Hash256 job = env.post(spec);
    const Params dearer = after();
    env.change_params(dearer);
    REQUIRE_FALSE(slot_bond(dearer, spec, spec.market.max_price, env.job(job).slot_work, Audited::kAlways));
    env.hold_auction(job, {{"m1", 1}, {"m2", 2}}, {"v1", "v2"}, false);
    REQUIRE(env.job(job).phase == JobPhase::kRounds);
    play_job(env, job);
    CHECK(env.job(job).end_reason == Reason::kJobComplete);
}

TEST_CASE("a new job takes the parameters that are current when it is submitted") {
    Env env;
    const Hash256 first = env.post(small_job());
    Params dearer = short_windows();
    dearer.ask_commit_window = 9;
    env.change_params(dearer);
    const Hash256 second = env.post(small_job());
    CHECK(params_of(env.state(), env.job(first)) == short_windows());
    CHECK(params_of(env.state(), env.job(second)) == dearer);
    CHECK(env.job(second).phase_deadline == env.height() + 9);
    CHECK(env.job(second).params == params_hash(dearer));
}

TEST_CASE("what belongs to no job follows the current parameters") {
    Env env;
    Params dearer = short_windows();
    dearer.miner_fee = amount(1'234'567);
    dearer.verifier_fee = amount(7'654'321);
    dearer.unbonding_delay = 3;
    env.change_params(dearer);
    const std::uint64_t before_miner = env.balance("m1");
    env.miner("m1", 10);
    CHECK(before_miner - env.balance("m1") == 1'234'567 + 10);
    const std::uint64_t before_verifier = env.balance("v1");
    env.verifier("v1", 10);
    CHECK(before_verifier - env.balance("v1") == 7'654'321 + 10);
    env.send(env.person("m1"), StakeWithdraw{env.person("m1").node_key(), amount(10)});
    CHECK(next_deadline(env.state()) == env.height() + 3);
}

TEST_CASE("parameters stored under another set's name, and a job without parameters, are violations") {
    Env env;
    const Hash256 job = env.post(small_job());
    const auto finding = [](const StateView& state) {
        const auto result = check_invariants(state);
        return result ? std::string() : result.error().what;
    };
    Params other = short_windows();
    other.max_missed = 7;
    {
        Overlay overlay(env.state());
        overlay.put(param_set_key(params_hash(short_windows())), base::encode(other));
        CHECK(finding(overlay).find("another set's name") != std::string::npos);
    }
    {
        Overlay overlay(env.state());
        JobTerms record = env.job(job);
        record.params = params_hash(other);
        overlay.put(job_terms_key(job), base::encode(record));
        CHECK(finding(overlay).find("has no parameters") != std::string::npos);
    }
}

}  // namespace assay::contracts::test
