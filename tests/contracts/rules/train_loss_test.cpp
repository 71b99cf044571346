// SPDX-License-Identifier: Apache-2.0
// The training loss of a round: from audited steps of merged slots alone, whatever else a trace says.
#include <algorithm>

#include "contracts/program/mean_loss.hpp"
#include "contracts/program/round_plan.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

/// A job past probation, of which practically only `finalise` is drawn, or every unit.
struct LossWorld {
    Env env;
    Hash256 job;

    explicit LossWorld(std::uint64_t audit_threshold)
        : env([] {
              Params params = short_windows();
              params.probation_rounds = 0;
              return params;
          }()) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        JobSpec spec = small_job();
        spec.security.audit_threshold = audit_threshold;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    }

    /// Plays round 0 with these losses in each slot's trace; verifiers claim what the traces say.
    Round play(const std::vector<std::vector<std::uint32_t>>& losses) {
        const Job record = env.job(job);
        const auto trace_of = [&](std::uint32_t slot) {
            TraceRecord trace = true_trace(record, 0, slot);
            for (std::size_t step = 0; step < trace.fingerprints.size(); ++step)
                trace.fingerprints[step].loss = losses[slot][step];
            return trace;
        };
        Play play = {.verifiers = {{"v1", VerifierManner::kColludes},
                                   {"v2", VerifierManner::kColludes},
                                   {"v3", VerifierManner::kColludes}}};
        for (std::uint32_t slot = 0; slot < 2; ++slot) play.traces[slot] = trace_of(slot);
        play_commits(env, job, play);
        play_links(env, job, play);
        play_verdicts(env, job, play);
        play_merges(env, job, {});
        return *read_round(env.whole(), job, 0);
    }
};

constexpr std::uint64_t kEveryUnit = UINT64_MAX;
constexpr std::uint64_t kAboutHalf = UINT64_MAX / 10 * 7;
constexpr std::uint64_t kHardlyAny = UINT64_MAX / 10'000;
constexpr std::uint32_t kOne = 0x3f800000;
constexpr std::uint32_t kTwo = 0x40000000;
constexpr std::uint32_t kThreeBits = 0x40400000;

}  // namespace

TEST_CASE("a merged round's training loss is the mean over the audited steps of its merged slots") {
    LossWorld w(kEveryUnit);
    const Round round = w.play({{kOne, kOne, kThreeBits, kThreeBits}, {kTwo, kTwo, kTwo, kTwo}});
    REQUIRE(round.merged);
    CHECK(round.merged_slots == std::vector<std::uint32_t>{0, 1});
    CHECK(round.train_loss == kTwo);
    CHECK(round.train_steps == 8);
}

TEST_CASE(
    "poison in fingerprints that nobody audited does not reach the training loss, nor part two verifiers") {
    // The unit that is drawn is honest; the last step of the other one is not a number, in two spellings.
    LossWorld w(kAboutHalf);
    const std::vector<std::uint32_t> all = {kOne, kTwo, kOne, kTwo};
    const std::vector<std::vector<std::uint32_t>> poison = {{0x7fc00123, 0xffc00456, 0x7f800001, 0xff800000},
                                                            {0xffffffff, 0x7fffffff, 0x7fc00000, 0x7f800000}};
    const Job record = w.env.job(w.job);
    // Which units will be drawn follows from the links alone, so that a trace can be poisoned around them
    // here.
    std::vector<std::vector<std::uint32_t>> losses = {all, all};
    LossWorld preview(kAboutHalf);
    const Round same = preview.play(losses);
    std::uint32_t audited = 0;
    for (const SlotRound& slot : list_slots(preview.env.whole(), preview.job, 0)) {
        for (std::uint32_t segment = 0; segment < program::RoundPlan(record.spec).segments(); ++segment) {
            const auto& units = slot.drawn_units;
            if (std::find(units.begin(), units.end(), segment) != units.end()) {
                audited += 2;
                continue;
            }
            const auto range = program::RoundPlan(record.spec).steps(segment);
            for (std::uint32_t step = range.first; step < range.last; ++step)
                losses[slot.slot][step] = poison[slot.slot][step];
        }
    }
    REQUIRE(audited > 0);
    REQUIRE(audited < 8);
    const Round round = w.play(losses);
    REQUIRE(round.merged);  // the two that were drawn for the merge said the same
    CHECK(round.train_loss == same.train_loss);
    CHECK(round.train_loss == program::mean_loss(std::vector<std::uint32_t>{kOne, kTwo}));
    CHECK(round.train_steps == audited);
}

TEST_CASE("a NaN of whatever payload and sign in an audited step gives one spelling of no loss") {
    for (const std::uint32_t odd : {0x7fc00123U, 0xffc00123U, 0x7f800001U}) {
        LossWorld w(kEveryUnit);
        const Round round = w.play({{kOne, odd, kOne, kOne}, {kOne, kOne, kOne, kOne}});
        REQUIRE(round.merged);
        CHECK(round.train_loss == program::kNoLoss);
        CHECK(round.train_steps == 8);
    }
}

TEST_CASE("a round in which no step was audited has no training loss") {
    LossWorld w(kHardlyAny);
    const Round round = w.play({{kOne, kOne, kOne, kOne}, {kTwo, kTwo, kTwo, kTwo}});
    REQUIRE(round.merged);
    CHECK(round.train_loss == 0);
    CHECK(round.train_steps == 0);
}

}  // namespace assay::contracts::test
