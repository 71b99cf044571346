// SPDX-License-Identifier: Apache-2.0
#include "tests/portability/golden.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "contracts/program/batch_map.hpp"
#include "contracts/program/initial.hpp"
#include "contracts/program/reference_step.hpp"
#include "contracts/program/schedule.hpp"
#include "contracts/program/state_root.hpp"
#include "tests/support/share.hpp"
#include "trainer/host/targets.hpp"

namespace assay::portability {

namespace {

constexpr std::uint32_t kSteps = 3;
constexpr std::uint32_t kContext = 134;  // beyond a block of exact attention
constexpr std::uint32_t kVocabulary = 61;
constexpr std::uint64_t kTokens = 12 * kContext + 1;

constexpr std::uint32_t kWideBatch = 4;

// A card where ASSAY_TEST_CARD names one ("cuda:0"), else the device of every command.
std::string device_to_test() {
    const char* const card = std::getenv("ASSAY_TEST_CARD");
    return card != nullptr && *card != '\0' ? std::string(card) : trainer::device_from_environment();
}

// Threads and micro-batches, taken in turn: an emulator is slow, and all of them on every target are in
// tests/trainer/executor_test.cpp.
constexpr std::array<std::pair<int, std::uint32_t>, 3> kSplits = {{{1, 3}, {2, 1}, {2, 2}}};

program::JobSpec job(const program::ModelConfig& model, program::Profile profile) {
    program::JobSpec spec;
    spec.name = "golden";
    spec.profile = profile;
    spec.slots = 1;
    spec.rounds = 1;
    spec.seed = 20261121;
    spec.model = model;
    spec.train.inner_steps = kSteps;
    spec.train.batch = 3;
    spec.train.warmup_steps = 2;
    spec.train.learning_rate = 1e-2F;
    spec.train.clip_norm = 0.5F;  // below every norm here, so that clipping acts
    spec.data.train_tokens = kTokens;
    spec.data.held_out_tokens = kTokens;
    spec.market = {base::units(1), base::units(1), 1};
    spec.security.segment_steps = 1;  // a state root after each step
    return spec;
}

// So wide that sums of profile i16 take their second form, which is in binary64, beyond 1,024 of k. Chunks,
// which 32 bits hold, are 256 of k on vectors, 512 on AMX, and 32 for wide operands. As small as that allows:
// one step on as many sequences as make a trainer keep packed weights where it takes them one at a time.
program::JobSpec wide_job(program::ModelConfig llama) {
    llama.layers = 1;
    llama.width = 578;
    llama.heads = 17;
    llama.kv_heads = 1;
    llama.hidden = 10;
    llama.context = 4;
    llama.vocabulary = 1091;
    llama.head = program::Head::kTied;
    program::JobSpec spec = job(llama, program::Profile::kI16);
    spec.name = "wide";
    spec.train.inner_steps = 1;
    spec.train.batch = kWideBatch;
    spec.data.train_tokens = kWideBatch * llama.context + 1;
    spec.data.held_out_tokens = spec.data.train_tokens;
    return spec;
}

std::vector<std::uint32_t> tokens_of(const program::JobSpec& spec) {
    std::vector<std::uint32_t> stream;
    std::uint32_t state = 1;
    for (std::uint64_t i = 0; i < spec.data.train_tokens; ++i) {
        state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
        const std::uint32_t noise = (state >> 16) % 5;
        stream.push_back(static_cast<std::uint32_t>((i * 7 + noise) % spec.model.vocabulary));
    }
    return stream;
}

std::string name_of(const program::JobSpec& spec) {
    std::string family = spec.model.family == program::Family::kGpt2 ? "gpt2" : "llama";
    if (spec.model.head == program::Head::kUntied) family += "-untied";
    if (spec.name == "wide") family += "-wide";
    return family + (spec.profile == program::Profile::kF32 ? " f32" : " i16");
}

std::string line(const program::JobSpec& spec, std::uint32_t step, const program::Fingerprint& fingerprint,
                 const base::Hash256& root) {
    std::array<char, 64> numbers{};
    std::snprintf(numbers.data(), numbers.size(), " step %u loss %08x norm %08x state ", step + 1,
                  fingerprint.loss, fingerprint.norm);
    return name_of(spec) + numbers.data() + root.hex();
}

bool same(const Lines& golden, const Lines& lines, const std::string& who) {
    std::printf("%-44s %s\n", who.c_str(), lines == golden ? "same" : "DIFFERENT");
    if (lines == golden) return true;
    for (const std::string& wanted : golden) std::printf("  expected %s\n", wanted.c_str());
    for (const std::string& got : lines) std::printf("  got      %s\n", got.c_str());
    return false;
}

}  // namespace

std::vector<program::JobSpec> golden_jobs() {
    const program::ModelConfig gpt2{.family = program::Family::kGpt2,
                                    .layers = 2,
                                    .width = 24,
                                    .heads = 3,
                                    .context = kContext,
                                    .vocabulary = kVocabulary};
    program::ModelConfig llama{.family = program::Family::kLlama,
                               .layers = 2,
                               .width = 24,
                               .heads = 4,
                               .context = kContext,
                               .vocabulary = kVocabulary,
                               .kv_heads = 2,
                               .hidden = 38,
                               .rope_theta = 10000.0F};
    std::vector<program::JobSpec> jobs;
    for (const auto profile : {program::Profile::kF32, program::Profile::kI16}) {
        jobs.push_back(job(gpt2, profile));
        for (const auto head : {program::Head::kTied, program::Head::kUntied}) {
            llama.head = head;
            jobs.push_back(job(llama, profile));
        }
    }
    jobs.push_back(wide_job(llama));
    return jobs;
}

Lines reference_lines(const program::JobSpec& spec) {
    const auto stream = tokens_of(spec);
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const program::Schedule schedule(spec.train);
    const program::BatchMap map(spec);
    program::SlotArrays state;
    state.parameters = program::initial_parameters(spec.model, spec.seed);
    state.first_moment.assign(state.parameters.size(), 0.0F);
    state.second_moment = state.first_moment;
    Lines lines;
    for (std::uint32_t step = 0; step < spec.train.inner_steps; ++step) {
        std::vector<std::uint32_t> batch;
        for (std::uint32_t i = 0; i < spec.train.batch; ++i) {
            const std::uint64_t first = map.first_token({0, step, 0, i});
            for (std::uint64_t k = 0; k <= spec.model.context; ++k) batch.push_back(stream[first + k]);
        }
        const auto outcome = program::reference_step(program, schedule.at(0, step), batch, state);
        if (outcome.diverged) return {};
        const auto root =
            program::slot_state_root(program::parameter_tensors(spec.model), state.parameters,
                                     state.first_moment, state.second_moment, step + 1, step + 1);
        lines.push_back(line(spec, step, outcome.fingerprint, root));
    }
    return lines;
}

Lines trainer_lines(const program::JobSpec& spec, const trainer::RunnerOptions& options) {
    const auto stream = tokens_of(spec);
    const auto runner = trainer::JobRunner::create(spec, {stream}, {stream}, options);
    if (!runner.ok()) {
        std::printf("%s\n", runner.error().what.c_str());
        return {};
    }
    const auto round = (*runner)->run_slot_round((*runner)->initial(), 0, 0, std::nullopt, {}, {});
    if (!round.ok() || round->trace.divergence) return {};
    Lines lines;
    for (std::uint32_t step = 0; step < spec.train.inner_steps; ++step) {
        lines.push_back(line(spec, step, round->trace.fingerprints[step], round->trace.boundaries[step + 1]));
    }
    return lines;
}

Lines read_lines(const std::string& file) {
    std::ifstream in(file);
    Lines lines;
    for (std::string text; std::getline(in, text);) {
        if (!text.empty() && text.front() != '#') lines.push_back(text);
    }
    return lines;
}

bool check(const Lines& golden, trainer::Arena* arena) {
    bool sound = true;
    std::size_t number = 0;
    std::size_t expected = 0;
    std::size_t first_split = 0;  // another for each job, so that each target meets all of them
    for (const program::JobSpec& spec : golden_jobs()) {
        const std::string name = name_of(spec);
        Lines mine;
        for (const std::string& one : golden) {
            if (one.starts_with(name + " step ")) mine.push_back(one);
        }
        expected += spec.train.inner_steps;
        // A sample has every job on the machine's fastest target, and some by definition.
        const std::string named = device_to_test();
        const bool by_definition = test::is_tried(number++) && named == "cpu";
        if (by_definition) sound &= same(mine, reference_lines(spec), name + ", reference machine");
        std::size_t split = first_split++;
        if (named != "cpu") {
            const auto& [threads, micro_batch] = kSplits[split % kSplits.size()];
            sound &= same(mine, trainer_lines(spec, {{named, threads, {}}, micro_batch}),
                          name + ", " + named + ", threads " + std::to_string(threads) + ", micro-batch " +
                              std::to_string(micro_batch));
            continue;
        }
        for (const std::string& word : trainer::machine_targets()) {
            const auto target = trainer::choose_target(word);
            if (!target.ok()) return false;
            if (!by_definition && word != trainer::machine_targets().front()) continue;
            const auto& [threads, in_turn] = kSplits[split++ % kSplits.size()];
            const std::uint32_t micro_batch = spec.train.batch == kWideBatch ? 1 : in_turn;
            const trainer::DeviceOptions device{"cpu", threads, {*target, arena}};
            const auto lines = trainer_lines(spec, {device, micro_batch});
            sound &= same(mine, lines,
                          name + ", " + word + ", threads " + std::to_string(threads) + ", micro-batch " +
                              std::to_string(micro_batch));
        }
    }
    if (golden.size() != expected) std::printf("%zu golden lines, %zu expected\n", golden.size(), expected);
    return sound && golden.size() == expected;
}

}  // namespace assay::portability
