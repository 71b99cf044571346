// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/self_test.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "contracts/program/names.hpp"
#include "contracts/program/trace.hpp"
#include "trainer/step/device_failure.hpp"

namespace assay::verifier {

namespace {

// No size is a multiple of a vector.
constexpr std::uint32_t kTokens = 257;
constexpr std::uint32_t kContext = 19;
constexpr std::uint32_t kVocabulary = 53;

program::ModelConfig gpt2() {
    return {.family = program::Family::kGpt2,
            .layers = 2,
            .width = 24,
            .heads = 3,
            .context = kContext,
            .vocabulary = kVocabulary};
}

program::ModelConfig llama() {
    return {.family = program::Family::kLlama,
            .layers = 2,
            .width = 24,
            .heads = 4,
            .context = kContext,
            .vocabulary = kVocabulary,
            .kv_heads = 2,
            .hidden = 38,
            .rope_theta = 10000.0F,
            .head = program::Head::kUntied};
}

// So wide that sums of profile i16 go in several chunks: 32-bit ones hold no more than 512 or 1024 of k. A
// card that has large tiles makes the products of them, and cuts some of these along k (on_fewer_processors).
program::ModelConfig wide() {
    program::ModelConfig model = llama();
    model.layers = 1;
    model.width = 578;
    model.heads = 17;
    model.kv_heads = 1;
    model.hidden = 10;
    model.context = 4;
    model.vocabulary = 1091;
    model.head = program::Head::kTied;
    return model;
}

// Heads as wide as a card fuses attention of, and tokens of more than one of attention's blocks of 128.
program::ModelConfig longer() {
    program::ModelConfig model = llama();
    model.layers = 1;
    model.width = 128;
    model.heads = 2;
    model.kv_heads = 1;
    model.context = 140;
    return model;
}

program::JobSpec tiny_job(const program::ModelConfig& model, program::Profile profile) {
    program::JobSpec spec;
    spec.name = "self-test";
    spec.slots = 1;
    spec.rounds = 1;
    spec.seed = 20261121;
    spec.model = model;
    spec.profile = profile;
    spec.train.inner_steps = 2;
    spec.train.batch = 3;
    spec.train.warmup_steps = 2;
    spec.train.learning_rate = 1e-2F;
    spec.data.train_tokens = kTokens;
    spec.data.held_out_tokens = kTokens;
    spec.market = {base::units(1), base::units(1), 1};
    spec.security.segment_steps = 1;
    return spec;
}

// Both families in both profiles.
std::vector<program::JobSpec> tiny_jobs() {
    std::vector<program::JobSpec> jobs;
    for (const auto profile : {program::Profile::kF32, program::Profile::kI16}) {
        for (const auto& model : {gpt2(), llama()}) jobs.push_back(tiny_job(model, profile));
    }
    return jobs;
}

// As small as the width or the context allows: one step on two sequences.
program::JobSpec large_job(const program::ModelConfig& model) {
    program::JobSpec spec = tiny_job(model, program::Profile::kI16);
    spec.train.inner_steps = 1;
    spec.train.batch = 2;
    spec.data.train_tokens = 2 * spec.model.context + 1;
    return spec;
}
std::vector<program::JobSpec> large_jobs() { return {large_job(wide()), large_job(longer())}; }

std::vector<std::uint32_t> tokens_of(const program::JobSpec& spec) {
    std::vector<std::uint32_t> tokens;
    std::uint32_t state = 1;
    for (std::uint64_t i = 0; i < spec.data.train_tokens; ++i) {
        state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
        tokens.push_back(static_cast<std::uint32_t>((state >> 16) % spec.model.vocabulary));
    }
    return tokens;
}

// Stands for a job in which some number was not finite. That happens in no right one, so the root is another.
base::Hash256 diverged() { return base::Hasher("assay/self-test/diverged").finish(); }

template <class T>
bool is_not_finite(const base::Outcome<T>& result) {
    return !result.ok() && result.error().kind == base::ErrorKind::kRejected;
}

// One slot's round, its merge and the held-out loss after it.
base::Outcome<base::Hash256> root_of(const program::JobSpec& spec, const trainer::RunnerOptions& options) {
    const std::vector<std::uint32_t> tokens = tokens_of(spec);
    ASSAY_ASSIGN(const auto job, trainer::JobRunner::create(spec, {tokens}, {tokens}, options));
    const trainer::BaseState base = job->initial();
    ASSAY_ASSIGN(const auto round, job->run_slot_round(base, 0, 0, std::nullopt, {}, {}));
    if (!round.update) return diverged();
    const trainer::AcceptedUpdate accepted{0, 1, &*round.update};
    const auto merged = job->merge(base, {&accepted, 1});
    if (is_not_finite(merged)) return diverged();
    if (!merged.ok()) return base::failed(merged.error());
    const auto loss = job->evaluate_held_out(merged->parameters, 0, {});
    if (is_not_finite(loss)) return diverged();
    if (!loss.ok()) return base::failed(loss.error());
    return base::Hasher("assay/self-test")
        .add(program::trace_root(round.trace, spec, base::Hash256()))
        .add(job->base_root(*merged))
        .add_u64(loss->loss.bits)
        .finish();
}

// The first segment alone, its fingerprints and state: a merge of many parameters would take longer.
base::Outcome<base::Hash256> first_segment_root_of(const program::JobSpec& spec,
                                                   const trainer::RunnerOptions& options) {
    const std::vector<std::uint32_t> tokens = tokens_of(spec);
    ASSAY_ASSIGN(const auto runner, trainer::JobRunner::create(spec, {tokens}, {}, options));
    ASSAY_ASSIGN(auto start, runner->start(runner->initial()));
    ASSAY_ASSIGN(const auto replay, runner->replay_segment(std::move(start), {0, 0, 0}, {}));
    if (replay.outcome.divergence) return diverged();
    return replay.unit_root;
}

// The roots of all outputs of step `step`, whose segment it is alone, from the state before it.
base::Outcome<std::vector<base::Hash256>> output_roots(trainer::JobRunner& runner,
                                                       const trainer::SlotState& before, std::uint32_t step,
                                                       std::uint64_t outputs) {
    std::vector<base::Hash256> roots;
    dispute::Question question;
    question.kind = dispute::QuestionKind::kOutputs;
    question.at.segment = question.at.step = step;
    while (roots.size() < outputs) {
        question.row = {.height = 0,
                        .first = roots.size(),
                        .nodes = std::min<std::uint64_t>(outputs - roots.size(), dispute::kMaxMoveHashes)};
        ASSAY_ASSIGN(const auto answer, runner.answer(before, question, {}, {}));
        roots.insert(roots.end(), answer.hashes.begin(), answer.hashes.end());
    }
    return roots;
}

// The operator that wrote output `number` of the list of all outputs.
const program::Operator& writer_of(const program::Program& program, std::size_t number) {
    auto one = program.operators.begin();
    while (number >= one->outputs.size()) number -= (one++)->outputs.size();
    return *one;
}

// A card that plans for fewer processors than it has, so few that products of this size take large tiles, as
// large products do. For two processors one tile is cut along k where their number is odd; for 23 several
// are, and 23 of 25 stay whole. The emulation is slow and has tests of its own: it does so once. Nothing for
// other devices.
std::vector<trainer::RunnerOptions> on_fewer_processors(const trainer::RunnerOptions& options,
                                                        const program::JobSpec& spec) {
    std::vector<trainer::RunnerOptions> all;
    const auto add = [&](unsigned processors) {
        all.push_back(options);
        all.back().device.ways.processors = processors;
    };
    const bool is_emulated = options.device.name == "cuda-host";
    if (!is_emulated && !options.device.name.starts_with("cuda:")) return all;
    if (!is_emulated || spec.model == longer()) add(2);
    if (!is_emulated) add(23);
    return all;
}

// Describes what in the job's steps differs from the law, from the same states; empty when nothing differs,
// operator by operator or as a whole.
base::Outcome<std::string> difference_in(const program::JobSpec& spec,
                                         const trainer::RunnerOptions& options) {
    const std::vector<std::uint32_t> tokens = tokens_of(spec);
    trainer::RunnerOptions law_options;
    law_options.device.name = "reference";
    ASSAY_ASSIGN(const auto ours, trainer::JobRunner::create(spec, {tokens}, {}, options));
    ASSAY_ASSIGN(const auto law, trainer::JobRunner::create(spec, {tokens}, {}, law_options));
    ASSAY_ASSIGN(trainer::SlotState state, law->start(law->initial()));
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    std::uint64_t outputs = 0;
    for (const program::Operator& one : program.operators) outputs += one.outputs.size();
    const std::string job = " of a step of " + std::string(program::to_text(spec.model.family)) + " in " +
                            std::string(program::to_text(spec.profile));
    for (std::uint32_t step = 0; step < spec.train.inner_steps; ++step) {
        ASSAY_ASSIGN(const auto right, output_roots(*law, state, step, outputs));
        ASSAY_ASSIGN(const auto found, output_roots(*ours, state, step, outputs));
        const auto [first, same] = std::mismatch(right.begin(), right.end(), found.begin());
        if (first != right.end()) {
            const auto number = static_cast<std::size_t>(first - right.begin());
            return "operator " + writer_of(program, number).name + job;
        }
        trainer::SlotState whole = state;
        ASSAY_ASSIGN(const auto expected, law->run_segment(state, {0, 0, step}, {}));
        ASSAY_ASSIGN(const auto ran, ours->run_segment(whole, {0, 0, step}, {}));
        if (ran.fingerprints != expected.fingerprints || law->state_root(whole) != law->state_root(state))
            return "a group of operators" + job;
        if (ours->state_root(state) != law->state_root(state)) return "the root of the state" + job;
    }
    return std::string();
}

// Of every kind of job.
base::Outcome<base::Hash256> root_of_all(const trainer::RunnerOptions& options) {
    const trainer::RunnerOptions own = self_test_options(options);
    base::Hasher hasher("assay/self-test/all");
    for (const program::JobSpec& spec : tiny_jobs()) {
        ASSAY_ASSIGN(const base::Hash256 root, root_of(spec, own));
        hasher.add(root);
    }
    for (const program::JobSpec& spec : large_jobs()) {
        ASSAY_ASSIGN(const base::Hash256 root, first_segment_root_of(spec, own));
        hasher.add(root);
        for (const trainer::RunnerOptions& one : on_fewer_processors(own, spec)) {
            ASSAY_ASSIGN(const base::Hash256 found, first_segment_root_of(spec, one));
            // One more root is none of those that add up to the known one.
            if (found != root) hasher.add(found);
        }
    }
    return hasher.finish();
}

constexpr const char* kJobs = "the self-test's jobs";

constexpr std::uint64_t kSelfTestBytes = std::uint64_t{256} << 20;

}  // namespace

trainer::RunnerOptions self_test_options(const trainer::RunnerOptions& options) {
    trainer::RunnerOptions own = options;
    own.device.cpu.arena = nullptr;
    // Budgets are a job's. A self-test fits everywhere, and takes no more of a card that has other work.
    own.memory = 0;
    own.device.memory = kSelfTestBytes;
    // A device that is to break while it works begins as a sound one.
    if (own.device.fault && own.device.fault->kind != trainer::DeviceFaultKind::kWrong)
        own.device.fault.reset();
    return own;
}

base::Outcome<base::Hash256> self_test_root(const trainer::RunnerOptions& options) {
    try {
        return root_of_all(options);
    } catch (const std::bad_alloc& problem) {
        return trainer::memory_error(problem, kJobs);
    }
}

namespace {
base::Outcome<std::string> difference(const trainer::RunnerOptions& options) {
    const trainer::RunnerOptions own = self_test_options(options);
    std::vector<std::pair<program::JobSpec, trainer::RunnerOptions>> jobs;
    for (const program::JobSpec& spec : tiny_jobs()) jobs.emplace_back(spec, own);
    for (const program::JobSpec& spec : large_jobs()) {
        jobs.emplace_back(spec, own);
        for (const trainer::RunnerOptions& one : on_fewer_processors(own, spec)) jobs.emplace_back(spec, one);
    }
    for (const auto& [spec, with] : jobs) {
        ASSAY_ASSIGN(const std::string found, difference_in(spec, with));
        if (!found.empty()) return found;
    }
    return std::string("the end of a round: update, merge, evaluation or their roots");
}

base::Outcome<std::string> difference_or_why(const trainer::RunnerOptions& options) {
    try {
        return difference(options);
    } catch (const std::bad_alloc& problem) {
        return trainer::memory_error(problem, kJobs);
    }
}
}  // namespace

std::string self_test_difference(const trainer::RunnerOptions& options) {
    const auto found = difference_or_why(options);
    return found.ok() ? *found : "a step that cannot be computed (" + found.error().what + ")";
}

}  // namespace assay::verifier
