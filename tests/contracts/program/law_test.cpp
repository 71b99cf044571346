// SPDX-License-Identifier: Apache-2.0
// Properties of whole steps that hold bit for bit, for every family and both profiles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "contracts/program/reference_machine.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;
using Tokens = std::vector<std::uint32_t>;

struct Variant {
    const char* name;
    ModelConfig model;
    Profile profile;
};

ModelConfig with_context(ModelConfig model, std::uint32_t context) {
    model.context = context;
    return model;
}

std::vector<Variant> variants(std::uint32_t context) {
    const ModelConfig gpt2 = with_context(tiny::model(), context);
    const ModelConfig llama = with_context(tiny::llama(), context);
    const ModelConfig untied = with_context(tiny::untied_llama(), context);
    return {{"gpt2 f32", gpt2, Profile::kF32},           {"gpt2 i16", gpt2, Profile::kI16},
            {"llama f32", llama, Profile::kF32},         {"llama i16", llama, Profile::kI16},
            {"llama untied f32", untied, Profile::kF32}, {"llama untied i16", untied, Profile::kI16}};
}

void load(ReferenceMachine& machine, const Program& program, std::span<const float> parameters) {
    for (TensorId id = 0; id < program.parameters.size(); ++id) {
        const TensorInfo& info = program.parameters[id];
        const auto part = parameters.subspan(info.offset, info.size());
        std::copy(part.begin(), part.end(), machine.values(id).begin());
    }
}

const Operator& operator_of(const Program& program, OperatorKind kind) {
    return *std::find_if(program.operators.begin(), program.operators.end(),
                         [&](const Operator& one) { return one.kind == kind; });
}

/// Logits [sequences·T, V].
std::vector<float> logits(const Variant& variant, const Tokens& tokens) {
    const Program program = build_evaluate_program(variant.model, variant.profile);
    ReferenceMachine machine(program, tokens);
    const auto parameters = tiny::parameters(variant.model, 9);
    load(machine, program, parameters);
    for (const Operator& one : program.operators) machine.execute(one, {});
    const auto values = machine.values(operator_of(program, OperatorKind::kHead).outputs[0]);
    return {values.begin(), values.end()};
}

bool once_per_step(const Operator& one) { return one.row().phase == Phase::kOncePerStep; }

bool same_bits(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
    const auto one = [](float x, float y) {
        return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(), one);
    });
}

/// Every accumulator of parameter gradients after all sequences, `split` of them at a time.
std::vector<std::vector<float>> accumulators(const Variant& variant, const Tokens& tokens,
                                             std::size_t split) {
    const Program program = build_step_program(variant.model, tiny::spec().train, variant.profile);
    const std::size_t length = variant.model.context + 1U;
    const std::size_t sequences = tokens.size() / length;
    std::vector<std::vector<float>> carried(program.tensors.size());
    for (std::size_t first = 0; first < sequences; first += split) {
        const auto part =
            std::span(tokens).subspan(first * length, std::min(split, sequences - first) * length);
        // The mean is over the tokens of the step, not over those of the micro-batch.
        ReferenceMachine machine(program, part, {.targets = sequences * variant.model.context});
        load(machine, program, tiny::parameters(variant.model, 9));
        for (TensorId id = 0; id < program.tensors.size(); ++id) {
            std::copy(carried[id].begin(), carried[id].end(), machine.values(id).begin());
        }
        for (const Operator& one : program.operators) {
            if (once_per_step(one)) break;
            machine.execute(one, {});
        }
        for (TensorId id = 0; id < program.tensors.size(); ++id) {
            if (program.tensors[id].role != TensorRole::kParameterGradient) continue;
            carried[id].assign(machine.values(id).begin(), machine.values(id).end());
        }
    }
    return carried;
}
}  // namespace

TEST_CASE("gradients of a step are the same bits for every split into micro-batches") {
    for (const std::uint32_t context : {5U, 134U}) {
        for (const Variant& variant : variants(context)) {
            INFO(variant.name << ", context " << context);
            const Tokens tokens = tiny::tokens(variant.model, 3, 21);
            const auto whole = accumulators(variant, tokens, 3);
            CHECK(same_bits(whole, accumulators(variant, tokens, 1)));
            CHECK(same_bits(whole, accumulators(variant, tokens, 2)));
            const auto reached = [](const std::vector<float>& one) {
                return std::any_of(one.begin(), one.end(), [](float x) { return x != 0.0F; });
            };
            const auto parameters = parameter_tensors(variant.model).size();
            CHECK(std::count_if(whole.begin(), whole.end(), reached) >=
                  static_cast<std::ptrdiff_t>(parameters));
        }
    }
}

TEST_CASE("a token changes no bit of what comes before it: in i16, before its block of 128") {
    constexpr std::uint32_t kContext = 260;
    constexpr std::uint32_t kChanged = 229;
    for (const Variant& variant : variants(kContext)) {
        INFO(variant.name);
        // One word over and over: the other one then has the largest number of many a column.
        Tokens tokens = tiny::tokens(variant.model, 2, 22);
        std::fill_n(tokens.begin(), kContext, 3U);
        const auto before = logits(variant, tokens);
        tokens[kChanged] = 4;
        const auto after = logits(variant, tokens);
        const std::size_t row = variant.model.vocabulary;
        const std::size_t safe = variant.profile == Profile::kF32 ? kChanged : kChanged / 128 * 128;
        const auto same = [&](std::size_t first, std::size_t last) {
            return std::equal(before.begin() + static_cast<std::ptrdiff_t>(first * row),
                              before.begin() + static_cast<std::ptrdiff_t>(last * row),
                              after.begin() + static_cast<std::ptrdiff_t>(first * row));
        };
        CHECK(same(0, safe));
        CHECK_FALSE(same(kChanged, kContext));
        CHECK(same(kContext, 2UL * kContext));  // the other sequence
    }
}

TEST_CASE("query heads that share keys see what they would see with copies of their own") {
    for (const Profile profile : {Profile::kF32, Profile::kI16}) {
        ModelConfig shared = with_context(tiny::llama(), 9);
        shared.layers = 1;
        ModelConfig copied = shared;
        copied.kv_heads = copied.heads;
        const std::size_t width = shared.width;
        const std::size_t head = shared.head_dim() * width;  // numbers of one head's rows
        const std::size_t sharing = shared.heads / shared.kv_heads;
        const auto parameters = tiny::parameters(shared, 9);
        const auto from = parameter_tensors(shared);
        const auto to = parameter_tensors(copied);
        std::vector<float> copies(parameter_count(copied));
        // The place in `parameters` of each number of `copies`.
        std::vector<std::size_t> origin(copies.size());
        for (std::size_t i = 0; i < to.size(); ++i) {
            REQUIRE(to[i].name == from[i].name);
            const bool qkv = to[i].name.find("qkv_proj") != std::string::npos;
            for (std::size_t at = 0; at < to[i].size(); ++at) {
                std::size_t source = at;
                if (qkv && at >= shared.heads * head) {
                    // Keys, then values: head h of the copies is head h / sharing.
                    const std::size_t h = at / head - shared.heads;
                    const std::size_t part = h / shared.heads;
                    const std::size_t group = h % shared.heads / sharing;
                    source = (shared.heads + part * shared.kv_heads + group) * head + at % head;
                }
                origin[to[i].offset + at] = from[i].offset + source;
                copies[to[i].offset + at] = parameters[from[i].offset + source];
            }
        }
        const auto tokens = tiny::tokens(shared, 2, 23);
        const auto step = [&](const ModelConfig& model, const std::vector<float>& values) {
            SlotArrays state{values, std::vector<float>(values.size()), std::vector<float>(values.size())};
            const auto program = build_step_program(model, tiny::spec().train, profile);
            return reference_step(program, Schedule(tiny::spec().train).at(0, 0), tokens, state);
        };
        const StepOutcome one = step(shared, parameters);
        const StepOutcome other = step(copied, copies);
        REQUIRE_FALSE(one.diverged);
        REQUIRE_FALSE(other.diverged);
        CHECK(one.fingerprint.loss == other.fingerprint.loss);
        // A shared number's gradient is the sum of its copies' gradients, up to the rounding of the profile.
        std::vector<double> summed(parameters.size(), 0.0);
        for (std::size_t i = 0; i < copies.size(); ++i) {
            summed[origin[i]] += static_cast<double>(other.gradient[i]);
        }
        double worst = 0;
        double largest = 0;
        for (std::size_t i = 0; i < summed.size(); ++i) {
            worst = std::max(worst, std::fabs(summed[i] - static_cast<double>(one.gradient[i])));
            largest = std::max(largest, std::fabs(summed[i]));
        }
        CHECK(worst < (profile == Profile::kF32 ? 1e-6 : 1e-3) * largest);
    }
}

TEST_CASE("two copies of a sequence have the gradient of one: in i16 to the bit") {
    // Twice as many tokens: each sequence's gradients are exactly halved, since a power of two goes through
    // every operator of both profiles; and in i16 two equal halves are added.
    for (const Variant& variant : variants(8)) {
        INFO(variant.name);
        const Tokens once = tiny::tokens(variant.model, 1, 24);
        Tokens twice = once;
        twice.insert(twice.end(), once.begin(), once.end());
        const auto gradients = [&](const Tokens& tokens) {
            const auto parameters = tiny::parameters(variant.model, 9);
            SlotArrays state{parameters, std::vector<float>(parameters.size()),
                             std::vector<float>(parameters.size())};
            const auto program = build_step_program(variant.model, tiny::spec().train, variant.profile);
            return reference_step(program, Schedule(tiny::spec().train).at(0, 0), tokens, state).gradient;
        };
        const auto one = gradients(once);
        const auto two = gradients(twice);
        if (variant.profile == Profile::kI16) {
            CHECK(one == two);
            continue;
        }
        // In f32 the second copy goes on along the same chain, and its terms are rounded at another size.
        for (std::size_t i = 0; i < one.size(); ++i) {
            REQUIRE(two[i] == Approx(one[i]).margin(1e-6).epsilon(1e-4));
        }
    }
}
