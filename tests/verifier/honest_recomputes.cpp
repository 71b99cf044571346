// SPDX-License-Identifier: Apache-2.0
// Honest parties on different kernels never differ: slots of tiny jobs are trained on one target with some
// threads and recomputed on others, from a served start and from the round's base, round after round, with
// real merges between them.
//   honest_recomputes COUNT [SEED]   at least so many recomputed units; fails at the first root that differs
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "contracts/base/check.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/program/names.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "tests/trainer/small_job.hpp"

namespace {

using namespace assay;
using trainer::JobRunner;

/// A machine as somebody may have it.
struct Recomputer {
    std::string name;
    std::unique_ptr<JobRunner> runner;
};

struct Tally {
    std::uint64_t units = 0;
    std::uint64_t from_base = 0;
    std::uint64_t finalises = 0;
    std::uint64_t merges = 0;
    std::uint64_t slots = 0;
};

[[noreturn]] void differs(const program::JobSpec& spec, const std::string& what, const std::string& mine,
                          const std::string& other) {
    std::printf("DIFFERS: job %s, %s: %s against %s\n", spec.name.c_str(), what.c_str(), mine.c_str(),
                other.c_str());
    std::exit(1);
}

class RecomputedJob {
public:
    RecomputedJob(program::JobSpec spec, std::mt19937_64& random, Tally& tally)
        : spec_(std::move(spec)),
          tokens_(trainer::test::small_tokens(spec_.data.train_tokens, spec_.model.vocabulary,
                                              static_cast<unsigned>(random()))),
          random_(random),
          tally_(tally) {
        for (const trainer::Target target : trainer::test::all_targets()) {
            for (const int threads : {1, 2, 3}) {
                trainer::RunnerOptions options;
                options.device.cpu.target = target;
                options.device.threads = threads;
                options.micro_batch = static_cast<std::uint32_t>(threads % 3);
                auto runner = JobRunner::create(spec_, {tokens_}, {}, options);
                ASSAY_CHECK(runner.ok());
                machines_.push_back({std::string(trainer::to_text(target)) + " x" + std::to_string(threads),
                                     std::move(runner).value()});
            }
        }
        base_ = some().runner->initial();
        carried_.resize(spec_.slots);
    }

    /// A round of every slot, checked and merged; after the last round the job begins anew.
    void play_round() {
        if (round_ == spec_.rounds) begin_again();
        std::vector<trainer::Update> updates;
        for (std::uint32_t slot = 0; slot < spec_.slots; ++slot) updates.push_back(play_slot(slot));
        std::vector<trainer::AcceptedUpdate> accepted;
        for (std::uint32_t slot = 0; slot < spec_.slots; ++slot)
            accepted.push_back({slot, 1, &updates[slot]});
        Recomputer &one = some(), &two = some();
        const auto merged = one.runner->merge(base_, accepted);
        const auto again = two.runner->merge(base_, accepted);
        ASSAY_CHECK(merged.ok() && again.ok());
        if (one.runner->base_root(*merged) != two.runner->base_root(*again))
            differs(spec_, "merge of round " + std::to_string(round_), one.name, two.name);
        ++tally_.merges;
        base_ = *merged;
        ++round_;
    }

private:
    Recomputer& some() { return machines_[random_() % machines_.size()]; }

    void begin_again() {
        round_ = 0;
        base_ = some().runner->initial();
        carried_.assign(spec_.slots, std::nullopt);
    }

    trainer::Update play_slot(std::uint32_t slot) {
        Recomputer& miner = some();
        const trainer::CarriedState* carried = carried_[slot] ? &*carried_[slot] : nullptr;
        std::vector<trainer::SlotState> starts{*miner.runner->start(base_, carried)};
        const auto done = miner.runner->run_slot_round(
            base_, round_, slot, std::nullopt,
            [&](const trainer::BoundaryReport& boundary) { starts.push_back(boundary.state); }, {}, carried);
        ASSAY_CHECK(done.ok() && done->update);
        // Two who are drawn: one is served the start of a unit, one goes all the way from the base.
        const std::uint32_t segments = program::RoundPlan(spec_).segments();
        served(miner, done->trace, starts, slot, static_cast<std::uint32_t>(random_() % (segments + 1)));
        unserved(miner, done->trace, carried, slot);
        ++tally_.slots;
        if (program::carries_state(spec_)) carried_[slot] = trainer::carried_of(done->end);
        return *done->update;
    }

    void compare(const Recomputer& miner, const Recomputer& verifier, const program::TraceRecord& trace,
                 std::uint32_t slot, std::uint32_t unit, const base::Hash256& found) {
        ++tally_.units;
        if (found == program::unit_root(trace, spec_, unit)) return;
        differs(spec_,
                "round " + std::to_string(round_) + " slot " + std::to_string(slot) + " unit " +
                    std::to_string(unit),
                miner.name, verifier.name);
    }

    void finalise(const Recomputer& miner, Recomputer& verifier, const program::TraceRecord& trace,
                  std::uint32_t slot, const trainer::SlotState& end) {
        const auto replay = verifier.runner->replay_finalise(base_, end);
        ASSAY_CHECK(replay.ok());
        ++tally_.finalises;
        compare(miner, verifier, trace, slot, program::RoundPlan(spec_).segments(), replay->unit_root);
    }

    void served(const Recomputer& miner, const program::TraceRecord& trace,
                const std::vector<trainer::SlotState>& starts, std::uint32_t slot, std::uint32_t unit) {
        Recomputer& verifier = some();
        if (verifier.runner->state_root(starts[unit]) != trace.boundaries[unit])
            differs(spec_, "boundary " + std::to_string(unit), miner.name, verifier.name);
        if (program::RoundPlan(spec_).is_finalise(unit))
            return finalise(miner, verifier, trace, slot, starts[unit]);
        const auto replay = verifier.runner->replay_segment(starts[unit], {round_, slot, unit}, {});
        ASSAY_CHECK(replay.ok());
        compare(miner, verifier, trace, slot, unit, replay->unit_root);
    }

    void unserved(const Recomputer& miner, const program::TraceRecord& trace,
                  const trainer::CarriedState* carried, std::uint32_t slot) {
        Recomputer& verifier = some();
        trainer::SlotState state = *verifier.runner->start(base_, carried);
        for (std::uint32_t unit = 0; unit < program::RoundPlan(spec_).segments(); ++unit) {
            auto replay = verifier.runner->replay_segment(std::move(state), {round_, slot, unit}, {});
            ASSAY_CHECK(replay.ok());
            compare(miner, verifier, trace, slot, unit, replay->unit_root);
            state = std::move(replay->end);
        }
        ++tally_.from_base;
        finalise(miner, verifier, trace, slot, state);
    }

    program::JobSpec spec_;
    std::vector<std::uint32_t> tokens_;
    std::mt19937_64& random_;
    Tally& tally_;
    std::vector<Recomputer> machines_;
    std::vector<std::optional<trainer::CarriedState>> carried_;
    trainer::BaseState base_;
    std::uint32_t round_ = 0;
};

std::vector<program::JobSpec> jobs() {
    std::vector<program::JobSpec> all;
    for (const program::JobSpec& small : trainer::test::small_jobs()) {
        for (const auto inner : {program::InnerState::kReset, program::InnerState::kCarried}) {
            program::JobSpec spec = small;
            spec.rounds = 20;
            spec.inner_state = inner;
            if (inner == program::InnerState::kCarried) spec.name += ", carried";
            all.push_back(std::move(spec));
        }
    }
    return all;
}

}  // namespace

int main(int count, char** arguments) {
    ASSAY_CHECK(base::start_crypto());
    const std::uint64_t wanted = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 2'000;
    const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 20261123;
    std::mt19937_64 random(seed);
    Tally tally;
    std::vector<RecomputedJob> markets;
    for (const program::JobSpec& spec : jobs()) markets.emplace_back(spec, random, tally);
    const auto start = std::chrono::steady_clock::now();
    auto told = start;
    while (tally.units < wanted) {
        for (RecomputedJob& market : markets) market.play_round();
        const auto now = std::chrono::steady_clock::now();
        if (now - told < std::chrono::minutes(1)) continue;
        told = now;
        std::printf("%llu recomputes, none differs\n", static_cast<unsigned long long>(tally.units));
        std::fflush(stdout);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf(
        "seed %llu: %llu units recomputed, none differs: %llu slots from their base, %llu of `finalise`, "
        "%llu "
        "merges made twice; %zu jobs on %zu targets with 1 to 3 threads, %.0f s\n",
        static_cast<unsigned long long>(seed), static_cast<unsigned long long>(tally.units),
        static_cast<unsigned long long>(tally.from_base), static_cast<unsigned long long>(tally.finalises),
        static_cast<unsigned long long>(tally.merges), markets.size(), trainer::test::all_targets().size(),
        seconds);
    return 0;
}
