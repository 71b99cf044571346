// SPDX-License-Identifier: Apache-2.0
#include "node/cli/verify/bench_verify.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "contracts/arithmetic/philox.hpp"
#include "contracts/program/names.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/trace.hpp"
#include "node/blob/blob_store.hpp"
#include "node/cli/scratch_folder.hpp"
#include "node/devnet/demo_data.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::node {

namespace {

using base::Outcome;

// Tracing and hashing may take this part of training, in percent, at segments of so many steps.
constexpr double kMostTracing = 2.0;
constexpr double kLongSegment = 16;
constexpr double kMegabyte = 1e6;

struct VerifyCase {
    std::string name;
    program::JobSpec spec;
};

program::JobSpec gpt2_job(std::uint32_t layers, std::uint32_t width, std::uint32_t heads,
                          std::uint32_t vocabulary, std::uint32_t batch) {
    program::JobSpec spec;
    spec.name = "bench";
    spec.market = {base::units(1), base::units(1), 1};
    spec.slots = 1;
    spec.rounds = 1;
    spec.model = {.family = program::Family::kGpt2,
                  .layers = layers,
                  .width = width,
                  .heads = heads,
                  .context = 256,
                  .vocabulary = vocabulary};
    spec.train.inner_steps = 32;
    spec.train.batch = batch;
    spec.train.learning_rate = 1e-4F;
    spec.security.segment_steps = 16;
    return spec;
}

std::vector<VerifyCase> verify_cases(bool large) {
    std::vector<VerifyCase> all{{"the demo's", demo_job({})}, {"GPT-2 5M", gpt2_job(4, 256, 4, 8192, 8)}};
    if (large) {
        all.push_back({"GPT-2 124M", gpt2_job(12, 768, 12, 50257, 4)});
        // A step takes seconds: what a boundary costs is known after one.
        all.back().spec.train.inner_steps = 2;
        all.back().spec.security.segment_steps = 1;
    }
    return all;
}

std::string verify_shape(const program::JobSpec& spec) {
    return "segments of " + std::to_string(spec.security.segment_steps) + " of " +
           std::to_string(spec.train.inner_steps) + " steps, batch " + std::to_string(spec.train.batch) +
           " of " + std::to_string(spec.model.context) + " tokens";
}

class LapTimer {
public:
    /// Seconds since the last call, or since it was made.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Seconds and bytes of one slot's round.
struct VerifyCosts {
    double steps = 0;    ///< the inner steps and `finalise`
    double tracing = 0;  ///< roots of the boundaries and of the update, and the trace's tree
    double boundary = 0;
    std::uint64_t update_bytes = 0;
    std::uint64_t state_bytes = 0;  ///< what the miner keeps of all boundaries
    double storing_update = 0;      ///< until it is on disk
    double storing_states = 0;
    double served = 0;    ///< the last segment, from a start that was served
    double unserved = 0;  ///< the same unit from the base, every segment before it sealed
};

class VerifyBench {
public:
    VerifyBench(program::JobSpec spec, trainer::RunnerOptions options)
        : spec_(std::move(spec)), options_(std::move(options)) {}

    Outcome<void> open() {
        const std::uint64_t count =
            std::uint64_t{spec_.train.inner_steps} * spec_.train.batch * spec_.model.context + 1;
        for (std::uint32_t i = 0; i < count; ++i) {
            tokens_.push_back(arithmetic::philox({i, 0, 0, 0}, {5, 6})[0] % spec_.model.vocabulary);
        }
        spec_.data.train_tokens = spec_.data.held_out_tokens = tokens_.size();
        ASSAY_ASSIGN(runner_, trainer::JobRunner::create(spec_, {tokens_}, {}, options_));
        base_ = runner_->initial();
        ASSAY_ASSIGN(ScratchFolder folder, ScratchFolder::make("assay-bench"));
        scratch_.emplace(std::move(folder));
        ASSAY_ASSIGN(store_, BlobStore::open({.folder = scratch_->path() / "blobs"}));
        return {};
    }

    Outcome<VerifyCosts> measure() {
        VerifyCosts costs;
        ASSAY_TRY(train(costs));
        ASSAY_TRY(store(costs));
        ASSAY_TRY(replay(costs));
        return costs;
    }

private:
    // As JobRunner::run_slot_round does it, with a stopwatch.
    Outcome<void> train(VerifyCosts& costs) {
        LapTimer watch;
        ASSAY_ASSIGN(trainer::SlotState state, runner_->start(base_));
        costs.steps += watch.lap();
        program::TraceRecord trace = runner_->first_trace(state, nullptr);
        costs.tracing += watch.lap();
        const std::uint32_t segments = program::RoundPlan(spec_).segments();
        for (std::uint32_t segment = 0; segment < segments; ++segment) {
            if (segment + 1 == segments) last_start_ = state;
            static_cast<void>(watch.lap());
            ASSAY_ASSIGN(const auto outcome, runner_->run_segment(state, {0, 0, segment}, {}));
            costs.steps += watch.lap();
            trace.boundaries.push_back(program::state_root(runner_->state_roots(state)));
            costs.boundary = watch.lap();
            costs.tracing += costs.boundary;
            trace.fingerprints.insert(trace.fingerprints.end(), outcome.fingerprints.begin(),
                                      outcome.fingerprints.end());
            ASSAY_TRY(keep(state, costs));
        }
        static_cast<void>(watch.lap());
        ASSAY_ASSIGN(update_, runner_->finalise(base_, state));
        costs.steps += watch.lap();
        if (!update_) return base::fail(base::ErrorKind::kFailure, "bench: the slot diverged");
        trace.update = runner_->update_root(*update_);
        root_ = program::trace_root(trace, spec_, base::Hash256());
        costs.tracing += watch.lap();
        return {};
    }

    Outcome<void> keep(const trainer::SlotState& state, VerifyCosts& costs) {
        LapTimer watch;
        for (const program::StateArray array : program::strategy_of(spec_).lane_arrays) {
            const base::ByteView bytes = trainer::array_file(trainer::array_of(state, array));
            ASSAY_TRY(store_->put(bytes, Serving::kWithheld));
            costs.state_bytes += bytes.size();
        }
        costs.storing_states += watch.lap();
        return {};
    }

    Outcome<void> store(VerifyCosts& costs) {
        LapTimer watch;
        const base::Bytes bytes = trainer::encode_update(*update_, spec_);
        ASSAY_TRY(store_->put(bytes));
        costs.storing_update = watch.lap();
        costs.update_bytes = bytes.size();
        return {};
    }

    Outcome<void> replay(VerifyCosts& costs) {
        const std::uint32_t segments = program::RoundPlan(spec_).segments();
        LapTimer watch;
        static_cast<void>(runner_->state_root(last_start_));  // what came must have its root
        ASSAY_ASSIGN(const auto served, runner_->replay_segment(last_start_, {0, 0, segments - 1}, {}));
        costs.served = watch.lap();
        ASSAY_ASSIGN(trainer::SlotState state, runner_->start(base_));
        for (std::uint32_t segment = 0; segment < segments; ++segment) {
            ASSAY_ASSIGN(auto one, runner_->replay_segment(std::move(state), {0, 0, segment}, {}));
            state = std::move(one.end);
            if (segment + 1 == segments && one.unit_root != served.unit_root)
                return base::fail(base::ErrorKind::kVerification, "bench: two replays of a unit differ");
        }
        costs.unserved = watch.lap();
        return {};
    }

    program::JobSpec spec_;
    trainer::RunnerOptions options_;
    std::vector<std::uint32_t> tokens_;
    std::unique_ptr<trainer::JobRunner> runner_;
    std::optional<ScratchFolder> scratch_;
    std::unique_ptr<BlobStore> store_;
    trainer::BaseState base_;
    trainer::SlotState last_start_;
    std::optional<trainer::Update> update_;
    base::Hash256 root_;
};

Outcome<trainer::RunnerOptions> bench_runner_options() {
    trainer::RunnerOptions options;
    ASSAY_ASSIGN(options.device.cpu.target, trainer::choose_target(trainer::targets_from_environment()));
    ASSAY_ASSIGN(options.device.threads, trainer::threads_from_environment());
    return options;
}

void verify_rows(const BenchReport& report, const BenchRow& row, const VerifyCosts& costs, double steps) {
    const auto give = [&](const std::string& name, double value, const std::string& unit) {
        BenchRow one = row;
        one.name = row.name + ": " + name;
        one.value = value;
        one.unit = unit;
        return one;
    };
    report.row(give("training a slot's round", costs.steps, "s"));
    report.row(give("root of a boundary", costs.boundary * 1e3, "ms"));
    report.row(give("tracing and hashing", 100 * costs.tracing / costs.steps, "% of training"));
    BenchRow share = give("a boundary at segments of 16 steps",
                          100 * costs.boundary / (kLongSegment * costs.steps / steps), "% of training");
    share.peer = "the most";
    share.peer_value = kMostTracing;
    share.ratio = kMostTracing / share.value;
    report.row(share);
    report.row(give("update of a slot", static_cast<double>(costs.update_bytes) / kMegabyte, "MB"));
    report.row(give("storing it", costs.storing_update * 1e3, "ms"));
    report.row(give("states kept by its miner", static_cast<double>(costs.state_bytes) / kMegabyte, "MB"));
    report.row(give("storing them", costs.storing_states * 1e3, "ms"));
    report.row(give("replay of the last segment, served", costs.served, "s"));
    BenchRow unserved = give("replay of the last segment, from the base", costs.unserved, "s");
    unserved.peer = "the same, served";
    unserved.peer_value = costs.served;
    unserved.ratio = costs.served / costs.unserved;
    report.row(unserved);
}

}  // namespace

Outcome<void> bench_verify(const BenchOptions& options, const BenchReport& report) {
    ASSAY_ASSIGN(const trainer::RunnerOptions runner, bench_runner_options());
    for (const VerifyCase& job : verify_cases(options.large)) {
        for (const program::Profile profile : {program::Profile::kF32, program::Profile::kI16}) {
            BenchRow row{job.name, verify_shape(job.spec), std::string(program::to_text(profile)),
                         std::string(trainer::to_text(runner.device.cpu.target)),
                         static_cast<unsigned>(runner.device.threads)};
            if ((row.name + " " + row.shape).find(options.only) == std::string::npos) continue;
            report.note(row.name + ", " + row.profile);
            program::JobSpec spec = job.spec;
            spec.profile = profile;
            VerifyBench bench(spec, runner);
            ASSAY_TRY(bench.open());
            ASSAY_ASSIGN(const VerifyCosts costs, bench.measure());
            verify_rows(report, row, costs, spec.train.inner_steps);
        }
    }
    return {};
}

}  // namespace assay::node
