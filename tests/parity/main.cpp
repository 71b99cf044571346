// SPDX-License-Identifier: Apache-2.0
// assay_parity train|dump KEY=VALUE…: one training run of ours as a curve, or what a peer needs for the same.
//
// A curve is JSON lines: {"run": …}, then {"step": n, "train": loss, "norm": gradient norm} for every step,
// {"step": n, "held_out": loss} before the first step and after every `every` steps, and at the end
// {"done": n, "seconds": s, "loss_bits": …}. A file without that last line is an unfinished run.
#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "contracts/base/sign.hpp"
#include "contracts/program/round_plan.hpp"
#include "tests/parity/dump.hpp"
#include "tests/parity/parity_job.hpp"

namespace assay::parity {
namespace {

using Json = nlohmann::ordered_json;
using base::ErrorKind;

class Curve {
public:
    explicit Curve(const std::filesystem::path& path) : file_(path) {}
    void line(const Json& body) { file_ << body.dump() << std::endl; }
    [[nodiscard]] bool sound() const { return file_.good(); }

private:
    std::ofstream file_;
};

Json head(const ParityJob& job) {
    return {{"run",
             {{"family", job.spec.model.family == program::Family::kGpt2 ? "gpt2" : "llama"},
              {"arithmetic", job.spec.profile == program::Profile::kF32 ? "f32" : "i16"},
              {"seed", job.spec.seed},
              {"steps", job.steps()},
              {"batch", job.spec.train.batch},
              {"context", job.spec.model.context},
              {"parameters", program::parameter_count(job.spec.model)},
              {"target", trainer::to_text(job.runner.device.cpu.target)},
              {"threads", job.runner.device.threads}}}};
}

base::Outcome<float> held_out_loss(trainer::JobRunner& runner, const ParityJob& job,
                                   const trainer::SlotState& state, Curve& curve) {
    ASSAY_ASSIGN(const auto evaluation, runner.evaluate_held_out(state.parameters, job.held_out(), {}));
    curve.line({{"step", state.step}, {"held_out", evaluation.loss.value()}});
    return evaluation.loss.value();
}

base::Outcome<void> train(const ParityJob& job) {
    ASSAY_ASSIGN(const auto runner,
                 trainer::JobRunner::create(job.spec, trainer::TokenView{job.train_tokens},
                                            trainer::TokenView{job.held_out_tokens}, job.runner));
    ASSAY_ASSIGN(trainer::SlotState state, runner->start(runner->initial()));
    Curve curve(job.out);
    curve.line(head(job));
    trainer::Watch watch;
    watch.progress = [&](const trainer::StepReport& report) {
        curve.line({{"step", report.step + 1},
                    {"train", std::bit_cast<float>(report.fingerprint.loss)},
                    {"norm", std::bit_cast<float>(report.fingerprint.norm)}});
    };
    const auto start = std::chrono::steady_clock::now();
    ASSAY_ASSIGN(float loss, held_out_loss(*runner, job, state, curve));
    for (std::uint32_t segment = 0; segment < program::RoundPlan(job.spec).segments(); ++segment) {
        ASSAY_ASSIGN(const auto outcome, runner->run_segment(state, {0, 0, segment}, watch));
        if (outcome.divergence) {
            return base::fail(ErrorKind::kFailure,
                              "the run diverged at step " + std::to_string(state.step + 1),
                              "take a lower rate");
        }
        ASSAY_ASSIGN(loss, held_out_loss(*runner, job, state, curve));
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    curve.line({{"done", state.step},
                {"seconds", passed.count()},
                {"loss_bits", std::bit_cast<std::uint32_t>(loss)},
                {"root", runner->state_root(state).hex()}});
    if (!curve.sound()) {
        return base::fail(ErrorKind::kFailure, "cannot write " + job.out.string(), "check the folder");
    }
    return {};
}

base::Outcome<void> run(std::string_view verb, std::span<char* const> words) {
    ASSAY_ASSIGN(const ParityJob job, parse_job(words));
    if (verb == "dump") return dump(job);
    return train(job);
}

}  // namespace
}  // namespace assay::parity

int main(int argc, char** argv) {
    const std::string_view verb = argc >= 2 ? argv[1] : "";
    if (!assay::base::start_crypto() || (verb != "train" && verb != "dump")) {
        std::fprintf(stderr, "usage: assay_parity train|dump KEY=VALUE…\n  %s\n",
                     assay::parity::describe_words().c_str());
        return 2;
    }
    const auto done = assay::parity::run(verb, {argv + 2, static_cast<std::size_t>(argc - 2)});
    if (done.ok()) return 0;
    std::fprintf(stderr, "assay_parity: %s\n%s\n", done.error().what.c_str(), done.error().fix.c_str());
    return static_cast<int>(done.error().kind);
}
