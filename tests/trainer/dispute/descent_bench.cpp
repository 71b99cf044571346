// SPDX-License-Identifier: Apache-2.0
// Measures what descending into a step costs, in multiples of the step's time: descent_bench [LAYERS WIDTH
// HEADS CONTEXT VOCABULARY BATCH THREADS PROFILE]. By default a tiny model; GPT-2 small is
// 12 768 12 1024 50257. Weights are initial ones, tokens pseudorandom.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/initial.hpp"
#include "tests/trainer/dispute/played_step.hpp"
#include "trainer/step/memory_budget.hpp"

namespace {
using namespace assay;
using dispute::Question;
using dispute::QuestionKind;

double seconds_of(const std::function<void()>& work) {
    const auto began = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void make(disputed::Step& out, const program::ModelConfig& model, std::uint32_t batch,
          program::Profile profile) {
    program::JobSpec& spec = out.spec;
    spec.profile = profile;
    spec.slots = 1;
    spec.rounds = 2;
    spec.model = model;
    spec.train.inner_steps = 4;
    spec.train.batch = batch;
    spec.train.warmup_steps = 4;
    spec.data.train_tokens = std::uint64_t{model.context} * (batch * 4 + 2);
    out.program = program::build_step_program(model, spec.train, profile);
    out.inputs.facts = dispute::facts_of(spec, out.program, {.round = 0, .slot = 0, .step = 1, .age = 1});
    out.inputs.token_file.resize(program::token_file_size(spec.data.train_tokens, model.vocabulary));
    const std::uint64_t width = program::token_bytes(model.vocabulary);
    std::uint64_t state = 12345;
    for (std::uint64_t t = 0; t < spec.data.train_tokens; ++t) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        const std::uint64_t token = (state >> 33U) % model.vocabulary;
        for (std::uint64_t i = 0; i < width; ++i) {
            out.inputs.token_file[program::kTokenFileHeader + t * width + i] =
                static_cast<std::uint8_t>(token >> (8 * i));
        }
    }
    out.inputs.state.parameters = program::initial_parameters(model, 42);
    out.inputs.state.first_moment.assign(out.inputs.state.parameters.size(), 0.0F);
    out.inputs.state.second_moment = out.inputs.state.first_moment;
}

// Seconds of a training step, the second of two.
double step_seconds(const disputed::Step& step, const trainer::test::StepWay& way) {
    using namespace trainer;
    CpuDevice device(choose_target(machine_targets().front()).value(), way.threads, nullptr);
    program::SlotArrays state = step.inputs.state;
    const std::vector<std::uint32_t> tokens = test::tokens_of(step);
    const auto batch = static_cast<std::uint32_t>(step.inputs.facts.sequences);
    Executor executor(step.program, device, choose_plan(step.program, device, {batch, 0, 0}).value());
    const AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
    const auto run = [&] {
        static_cast<void>(executor.step(step.inputs.facts.coefficients, tokens, adopted.at()));
    };
    run();
    return seconds_of(run);
}

std::uint32_t find(const disputed::Step& step, program::OperatorKind kind) {
    for (std::uint32_t i = 0; i < step.program.operators.size(); ++i) {
        if (step.program.operators[i].kind == kind) return i;
    }
    std::abort();
}

// Prints what both take as planned, memory of a step beside its state in MiB, and returns what the step by
// operators rematerialises, as a job runner chooses it.
trainer::Rematerialise print_memory(const disputed::Step& step, const trainer::test::StepWay& way) {
    using namespace trainer;
    const CpuDevice device(choose_target(machine_targets().front()).value(), way.threads, nullptr);
    const auto batch = static_cast<std::uint32_t>(step.inputs.facts.sequences);
    const auto trained = choose_plan(step.program, device, {batch, 0, 0}).value();
    const std::uint64_t largest = largest_output(step.inputs.facts);
    const std::uint64_t held =
        std::max(trained.floats(), smallest_plan(step.program, device, batch).floats());
    std::uint64_t taken = 0;
    Rematerialise level = trained.choice.rematerialise;
    for (const Rematerialise more :
         {Rematerialise::kNothing, Rematerialise::kCheap, Rematerialise::kLayers}) {
        if (more < trained.choice.rematerialise) continue;
        taken = plan_allocation(step.program, device,
                                {.rematerialise = more, .grouping = Grouping::kOperators}, batch)
                    .floats();
        level = more;
        if (taken <= held + largest) break;
    }
    std::printf("MiB: trained %.0f (%s again), by operators %.0f (%s again), largest output %.0f\n",
                static_cast<double>(trained.floats()) / 0x1p18,
                std::string(to_text(trained.choice.rematerialise)).c_str(),
                static_cast<double>(taken) / 0x1p18, std::string(to_text(level)).c_str(),
                static_cast<double>(largest) / 0x1p18);
    return level;
}

// Prints and returns the seconds of an answer.
double answer_seconds(const disputed::Step& step, const Question& question, const trainer::test::StepWay& way,
                      const std::string& name, double unit) {
    bool ok = false;
    const double seconds = seconds_of([&] { ok = trainer::test::ask(step, question, way).ok(); });
    std::printf("%-48s %8.2f s %6.2f steps%s\n", name.c_str(), seconds, seconds / unit, ok ? "" : " REFUSED");
    std::fflush(stdout);
    if (!ok) std::exit(1);
    return seconds;
}
}  // namespace

int main(int count, char** words) {
    const auto number = [&](int i, std::uint32_t otherwise) {
        return count > i ? static_cast<std::uint32_t>(std::strtoul(words[i], nullptr, 10)) : otherwise;
    };
    const program::ModelConfig model{.layers = number(1, 2),
                                     .width = number(2, 32),
                                     .heads = number(3, 2),
                                     .context = number(4, 32),
                                     .vocabulary = number(5, 300)};
    trainer::test::StepWay way{static_cast<int>(number(7, 1)), trainer::Rematerialise::kNothing, nullptr};
    const bool exact = count > 8 && std::string(words[8]) == "i16";
    disputed::Step step;
    make(step, model, number(6, 2), exact ? program::Profile::kI16 : program::Profile::kF32);
    way.rematerialise = print_memory(step, way);
    const double unit = step_seconds(step, way);
    std::printf("%-48s %8.2f s\n", "a training step", unit);
    Question question;
    question.at.step = 1;
    question.kind = QuestionKind::kOutputs;
    question.row = dispute::top_row(step.inputs.facts.outputs());
    const double all = answer_seconds(step, question, way, "roots of all outputs", unit);
    using Kind = program::OperatorKind;
    for (const Kind kind : {Kind::kAttentionValues, Kind::kHead, Kind::kLinearWeightGradient,
                            Kind::kGlobalNorm, Kind::kAdamW}) {
        const std::uint32_t index = find(step, kind);
        const std::string name(program::to_text(kind));
        question.at.operator_index = index;
        question.kind = QuestionKind::kTiles;
        question.row = dispute::top_row(step.inputs.facts.tiles(step.inputs.facts.output(index, 0)));
        double here = answer_seconds(step, question, way, name + ": tiles", unit);
        const std::uint64_t partials = dispute::partial_count(step.inputs.facts, question.at);
        question.kind = QuestionKind::kPartials;
        question.row = dispute::top_row(partials - 1);
        if (partials > 1) here += answer_seconds(step, question, way, name + ": partials", unit);
        question.kind = QuestionKind::kWitness;
        question.at.partial = partials - 1;
        here += answer_seconds(step, question, way, name + ": witness", unit);
        question.at.partial = 0;
        std::printf("%-48s %8.2f s %6.2f steps\n", (name + ": all the way").c_str(), all + here,
                    (all + here) / unit);
    }
    return 0;
}
