// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/training.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <utility>

#include "contracts/program/limits.hpp"
#include "contracts/program/round_plan.hpp"
#include "tests/parity/curve_file.hpp"
#include "tests/parity/run_state.hpp"
#include "trainer/host/targets.hpp"

namespace assay::parity {

using base::ErrorKind;

namespace {

using Json = nlohmann::ordered_json;

Json head(const ParityJob& job) {
    return {{"run",
             {{"family", job.spec.model.family == program::Family::kGpt2 ? "gpt2" : "llama"},
              {"arithmetic", job.spec.profile == program::Profile::kF32 ? "f32" : "i16"},
              {"seed", job.spec.seed},
              {"steps", job.steps()},
              {"batch", job.spec.train.batch},
              {"context", job.spec.model.context},
              {"parameters", program::parameter_count(job.spec.model)},
              {"text", job.text.hex()},
              {"device", job.runner.device.name},
              {"target", trainer::to_text(job.runner.device.cpu.target)},
              {"threads", job.runner.device.threads}}}};
}

/// The longest segments that end wherever the run evaluates, saves, stops or goes on. A state stands between
/// segments alone, and their length leaves the numbers alone.
base::Outcome<void> choose_segments(ParityJob& job, std::uint32_t begun) {
    std::uint32_t common = std::gcd(job.every, begun);
    if (!job.state.empty()) common = std::gcd(common, job.save);
    if (job.until < job.steps()) common = std::gcd(common, job.until);
    job.spec.security.segment_steps = std::min(common, job.steps());
    const std::uint32_t segments = program::RoundPlan(job.spec).segments();
    if (segments <= program::kMaxSegments) return {};
    return base::fail(
        ErrorKind::kUsage,
        "parity: a run that evaluates, saves and stops at these steps has " + std::to_string(segments) +
            " segments; a round has at most " + std::to_string(program::kMaxSegments),
        "take every=, save= and until= with a larger common divisor than " + std::to_string(common));
}

class TrainingRun {
public:
    TrainingRun(const ParityJob& job, trainer::JobRunner& runner, RunState begin)
        : job_(job),
          runner_(runner),
          slot_(std::move(begin.slot)),
          curve_(job.out, std::move(begin.curve)),
          before_(begin.microseconds) {
        watch_.progress = [this](const trainer::StepReport& report) {
            curve_.line({{"step", report.step + 1},
                         {"train", std::bit_cast<float>(report.fingerprint.loss)},
                         {"norm", std::bit_cast<float>(report.fingerprint.norm)}});
        };
    }

    /// The lines before the first step.
    base::Outcome<void> open() {
        curve_.line(head(job_));
        return evaluate();
    }

    /// Until job.until.
    base::Outcome<void> run() {
        ASSAY_TRY(curve_.check());
        while (slot_.step < job_.until) {
            const auto segment = static_cast<std::uint32_t>(slot_.step / job_.spec.security.segment_steps);
            ASSAY_ASSIGN(const auto outcome, runner_.run_segment(slot_, {0, 0, segment}, watch_));
            if (outcome.divergence) {
                return base::fail(ErrorKind::kFailure,
                                  "the run diverged at step " + std::to_string(slot_.step + 1),
                                  "take a lower rate");
            }
            const bool is_end = slot_.step == job_.steps();
            if (is_end || slot_.step % job_.every == 0) ASSAY_TRY(evaluate());
            ASSAY_TRY(curve_.check());
            if (!is_end) ASSAY_TRY(save());
        }
        return slot_.step == job_.steps() ? finish() : stopped();
    }

private:
    base::Outcome<void> evaluate() {
        ASSAY_ASSIGN(const auto evaluation, runner_.evaluate_held_out(slot_.parameters, job_.held_out(), {}));
        loss_ = evaluation.loss.value();
        curve_.line({{"step", slot_.step}, {"held_out", loss_}});
        return {};
    }

    [[nodiscard]] std::uint64_t microseconds() const {
        const auto passed =
            std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start_);
        return before_ + static_cast<std::uint64_t>(passed.count());
    }

    base::Outcome<void> save() {
        if (job_.state.empty() || (slot_.step % job_.save != 0 && slot_.step != job_.until)) return {};
        // The arrays are lent, not copied: they are of a gigabyte and more.
        RunState state{.curve = curve_.text(), .microseconds = microseconds(), .slot = std::move(slot_)};
        auto saved = save_run_state(job_, state);
        slot_ = std::move(state.slot);
        return saved;
    }

    base::Outcome<void> stopped() const {
        std::fprintf(stderr,
                     "assay_parity: stopped after step %llu of %u; the same command goes on from %s\n",
                     static_cast<unsigned long long>(slot_.step), job_.steps(), job_.state.c_str());
        return {};
    }

    base::Outcome<void> finish() {
        curve_.line({{"done", slot_.step},
                     {"seconds", static_cast<double>(microseconds()) / 1e6},
                     {"loss_bits", std::bit_cast<std::uint32_t>(loss_)},
                     {"root", runner_.state_root(slot_).hex()}});
        ASSAY_TRY(curve_.finish());
        std::error_code error;
        if (!job_.state.empty() && !std::filesystem::remove(job_.state, error) && error) {
            return base::fail(ErrorKind::kFailure, "cannot remove " + job_.state.string(),
                              "remove it: the run has ended");
        }
        return {};
    }

    const ParityJob& job_;
    trainer::JobRunner& runner_;
    trainer::SlotState slot_;
    CurveFile curve_;
    std::uint64_t before_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    trainer::Watch watch_;
    float loss_ = 0;
};

}  // namespace

base::Outcome<void> train(ParityJob job) {
    std::optional<RunState> saved;
    if (!job.state.empty()) {
        ASSAY_ASSIGN(saved, load_run_state(job));
    }
    ASSAY_TRY(choose_segments(job, saved ? static_cast<std::uint32_t>(saved->slot.step) : 0));
    ASSAY_ASSIGN(const auto runner,
                 trainer::JobRunner::create(job.spec, trainer::TokenView{job.train_tokens},
                                            trainer::TokenView{job.held_out_tokens}, job.runner));
    const bool is_new = !saved;
    if (is_new) {
        saved.emplace();
        ASSAY_ASSIGN(saved->slot, runner->start(runner->initial()));
    }
    TrainingRun run(job, *runner, std::move(*saved));
    if (is_new) ASSAY_TRY(run.open());
    return run.run();
}

}  // namespace assay::parity
