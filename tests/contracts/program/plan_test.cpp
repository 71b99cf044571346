// SPDX-License-Identifier: Apache-2.0
// What follows from a spec alone: tensors, the program and its dump, work units, schedule, batch map,
// initial weights.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "contracts/program/batch_map.hpp"
#include "contracts/program/schedule.hpp"
#include "contracts/program/step_program.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::program;
}

TEST_CASE("tensors stand in byte order of their names without gaps") {
    const ModelConfig model{.layers = 12, .width = 8, .heads = 2, .context = 4, .vocabulary = 10};
    const auto tensors = parameter_tensors(model);
    CHECK(tensors.size() == 12 * 12 + 4);
    CHECK(tensors.front().name == "h.0.attn.c_attn.bias");
    CHECK(tensors[12].name == "h.1.attn.c_attn.bias");
    CHECK(tensors[24].name == "h.10.attn.c_attn.bias");
    CHECK(tensors.back().name == "wte.weight");
    std::uint64_t offset = 0;
    for (const TensorInfo& tensor : tensors) {
        CHECK(tensor.offset == offset);
        offset += tensor.size();
    }
    CHECK(offset == parameter_count(model));
    // GPT-2 small, as published.
    CHECK(parameter_count({.layers = 12, .width = 768, .heads = 12, .context = 1024, .vocabulary = 50257}) ==
          124'439'808);
}

TEST_CASE("llama models have the sizes that were published") {
    ModelConfig model{.family = Family::kLlama, .layers = 32, .width = 4096, .heads = 32, .context = 4096};
    model.vocabulary = 32000, model.kv_heads = 32, model.hidden = 11008, model.head = Head::kUntied;
    CHECK(parameter_count(model) == 6'738'415'616);  // Llama 2 7B
    model.layers = 22, model.width = 2048, model.kv_heads = 4, model.hidden = 5632;
    CHECK(parameter_count(model) == 1'100'048'384);  // TinyLlama 1.1B
    model.layers = 16, model.kv_heads = 8, model.hidden = 8192, model.vocabulary = 128256;
    model.head = Head::kTied;
    CHECK(parameter_count(model) == 1'235'814'400);  // Llama 3.2 1B
    std::uint64_t offset = 0;
    for (const TensorInfo& tensor : parameter_tensors(model)) {
        CHECK(tensor.offset == offset);
        offset += tensor.size();
    }
    CHECK(offset == parameter_count(model));
}

TEST_CASE("the program of a tiny model is the one that was agreed") {
    // tests/vectors/step_program.txt changes only with the law: a job's divergence indices and work units
    // follow from it.
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    std::ifstream file(std::string(source) + "/tests/vectors/step_program.txt");
    REQUIRE(file.good());
    const std::string wanted{std::istreambuf_iterator<char>(file), {}};
    const ModelConfig model{.layers = 1, .width = 2, .heads = 1, .context = 2, .vocabulary = 3};
    CHECK(dump(build_step_program(model, tiny::spec().train, Profile::kF32), 3) == wanted);
}

TEST_CASE("the program of a tiny llama is the one that was agreed") {
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    std::ifstream file(std::string(source) + "/tests/vectors/step_program_llama.txt");
    REQUIRE(file.good());
    const std::string wanted{std::istreambuf_iterator<char>(file), {}};
    ModelConfig model = tiny::llama();
    model.layers = 1;
    CHECK(dump(build_step_program(model, tiny::spec().train, Profile::kF32), 3) == wanted);
}

TEST_CASE("only a product's rule and layout differ between profiles and families") {
    const Program program = build_step_program(tiny::llama(), tiny::spec().train, Profile::kI16);
    for (const Operator& one : program.operators) {
        INFO(one.name);
        const bool head_gradient =
            one.kind == OperatorKind::kHeadInputGradient || one.kind == OperatorKind::kHeadWeightGradient;
        CHECK(one.rule.a_digits == (head_gradient ? 3 : 2));
        CHECK(one.rule.b_digits == 2);
        const bool over_tokens =
            one.kind == OperatorKind::kLinearWeightGradient || one.kind == OperatorKind::kHeadWeightGradient;
        if (over_tokens) CHECK(one.rule.block == tiny::llama().context);
        const bool linear = one.kind == OperatorKind::kLinear ||
                            one.kind == OperatorKind::kLinearInputGradient ||
                            one.kind == OperatorKind::kLinearWeightGradient;
        CHECK((one.layout == WeightLayout::kOutIn) == linear);
    }
}

TEST_CASE("every operand is an input or was written by an earlier operator") {
    const ModelConfig model = GENERATE(tiny::model(), tiny::llama(), tiny::untied_llama());
    const Program program = build_step_program(model, tiny::spec().train, Profile::kF32);
    std::set<TensorId> written;
    std::set<std::string> names;
    for (const Operator& one : program.operators) {
        INFO(one.name);
        CHECK(names.insert(one.name).second);
        for (const TensorId id : one.operands) {
            REQUIRE(id < program.tensors.size());
            const TensorRole role = program.tensors[id].role;
            const bool is_input = role == TensorRole::kParameter || role == TensorRole::kFirstMoment ||
                                  role == TensorRole::kSecondMoment || role == TensorRole::kTokens;
            CHECK((is_input || written.count(id) == 1));
        }
        CHECK_FALSE(one.outputs.empty());
        written.insert(one.outputs.begin(), one.outputs.end());
    }
    for (TensorId id = 0; id < program.tensors.size(); ++id) {
        INFO(program.tensors[id].name);
        CHECK((program.tensors[id].role == TensorRole::kTokens || written.count(id) == 1));
    }
}

TEST_CASE("operations are about six per parameter and token, and units round up") {
    const ModelConfig model{.layers = 12, .width = 768, .heads = 12, .context = 1024, .vocabulary = 50257};
    const Program program = build_step_program(model, tiny::spec().train, Profile::kF32);
    const double per_token = static_cast<double>(flops(program, 8)) / (8.0 * 1024.0);
    CHECK(per_token > 6.0 * 124e6);
    CHECK(per_token < 7.5 * 124e6);
    const JobSpec spec = tiny::spec();
    CHECK(work_units(spec) == 1);
    CHECK(work_units(spec, 0) == 0);
    JobSpec large = spec;
    large.model = model;
    const std::uint64_t step = flops(build_step_program(model, large.train, Profile::kF32), 2);
    CHECK(work_units(large) == (5 * step + 999'999'999) / 1'000'000'000);
}

TEST_CASE("work units are those of the whole program, however many layers it has") {
    ModelConfig llama{.family = Family::kLlama, .layers = 1, .width = 16, .heads = 4, .context = 12};
    llama.vocabulary = 29, llama.kv_heads = 2, llama.hidden = 24, llama.rope_theta = 10'000.0F;
    JobSpec spec = tiny::spec();
    for (const ModelConfig& model : {spec.model, llama}) {
        for (const Profile profile : {Profile::kF32, Profile::kI16}) {
            for (const std::uint32_t layers : {1U, 2U, 3U, 4U, 5U, 12U, 31U, 200U}) {
                spec.model = model;
                spec.profile = profile;
                spec.model.layers = layers;
                INFO("family " << int(model.family) << ", " << layers << " layers");
                const Program whole = build_step_program(spec.model, spec.train, profile);
                // So many steps that nothing is rounded.
                CHECK(work_units(spec, 1'000'000'000) == flops(whole, spec.train.batch));
            }
        }
    }
}

TEST_CASE("the learning rate warms up over the whole job and the corrections restart every round") {
    const auto train = tiny::spec().train;  // 4 warm-up steps, 5 steps a round
    const Schedule schedule(train);
    CHECK(schedule.at(0, 0).learning_rate == 0.0025F);
    CHECK(schedule.at(0, 3).learning_rate == 0.01F);
    CHECK(schedule.at(7, 0).learning_rate == 0.01F);
    CHECK(schedule.at(0, 0).correction1 == schedule.at(1, 0).correction1);
    const double beta = static_cast<double>(train.beta1.value());
    CHECK(schedule.at(0, 2).correction1 == static_cast<float>(1.0 / (1.0 - beta * beta * beta)));
    CHECK(schedule.at(0, 0).one_minus_beta1 == static_cast<float>(1.0 - beta));
    CHECK(schedule.at(0, 3).decay ==
          static_cast<float>(static_cast<double>(0.01F) * static_cast<double>(0.1F)));
}

TEST_CASE("corrections are those of the formula at every age, where the table has ended too") {
    JobSpec spec = tiny::spec();
    spec.inner_state = InnerState::kCarried;
    spec.rounds = 400;
    // Each job after another one, and the first one again.
    for (const float beta2 : {0.9F, 0.95F, 0.0F, 0.5F, 0.99F, 0.9F}) {
        INFO(beta2);
        spec.train.beta2 = beta2;
        const Schedule schedule(spec);
        const double beta = static_cast<double>(beta2);
        double power = 1.0;
        for (std::uint64_t age = 0; age < 2000; ++age) {
            power = power * beta;
            const float expected = static_cast<float>(1.0 / (1.0 - power));
            if (schedule.at(0, 0, age).correction2 == expected) continue;
            INFO("age " << age);
            REQUIRE(schedule.at(0, 0, age).correction2 == expected);
        }
    }
}

TEST_CASE("a job's step program is built once in a row, and is that of the job that is asked about") {
    const JobSpec spec = tiny::spec();
    JobSpec other = spec;
    other.model.layers += 1;
    const auto first = step_program(spec);
    CHECK(step_program(spec) == first);
    CHECK(step_program(other)->operators.size() > first->operators.size());
    const auto again = step_program(spec);
    CHECK(dump(*again, 1) == dump(*first, 1));
    CHECK(dump(*again, 1) == dump(build_step_program(spec.model, spec.train, spec.profile), 1));
}

TEST_CASE("an epoch visits every sequence once and epochs differ") {
    const JobSpec spec = tiny::spec();
    CHECK(sequence_count(101, 5) == 20);
    CHECK(sequence_count(100, 5) == 19);
    CHECK(sequence_count(5, 5) == 0);
    CHECK(sequence_count(0, 5) == 0);
    const BatchMap map(spec);
    // 30 sequences a round: the first 20 counters are epoch 0.
    std::vector<std::uint64_t> order;
    for (std::uint64_t round = 0; round < 2; ++round) {
        for (std::uint32_t step = 0; step < spec.train.inner_steps; ++step) {
            for (std::uint32_t slot = 0; slot < spec.slots; ++slot) {
                for (std::uint32_t i = 0; i < spec.train.batch; ++i) {
                    order.push_back(map.sequence({round, step, slot, i}));
                }
            }
        }
    }
    REQUIRE(order.size() == 60);
    for (std::ptrdiff_t epoch = 0; epoch < 3; ++epoch) {
        const std::set<std::uint64_t> seen(order.begin() + 20 * epoch, order.begin() + 20 * (epoch + 1));
        CHECK(seen.size() == 20);
        CHECK(*seen.rbegin() == 19);
    }
    CHECK_FALSE(std::equal(order.begin(), order.begin() + 20, order.begin() + 20));
    CHECK(map.first_token({0, 0, 0, 0}) == order[0] * 5);
}

TEST_CASE("initial weights have GPT-2's deviations and depend on the seed") {
    const ModelConfig model{.layers = 8, .width = 64, .heads = 4, .context = 32, .vocabulary = 300};
    const auto tensors = parameter_tensors(model);
    const auto weights = initial_parameters(model, 1);
    REQUIRE(weights.size() == parameter_count(model));
    const auto deviation = [&](const std::string& name) {
        const TensorInfo& tensor = tensors[tensor_index(tensors, name)];
        double squares = 0;
        for (std::uint64_t i = 0; i < tensor.size(); ++i) {
            squares += std::pow(static_cast<double>(weights[tensor.offset + i]), 2.0);
        }
        return std::sqrt(squares / static_cast<double>(tensor.size()));
    };
    CHECK(deviation("wte.weight") == Approx(0.02).epsilon(0.05));
    CHECK(deviation("wpe.weight") == Approx(0.02).epsilon(0.05));
    CHECK(deviation("h.3.mlp.c_fc.weight") == Approx(0.02).epsilon(0.05));
    CHECK(deviation("h.3.mlp.c_proj.weight") == Approx(0.005).epsilon(0.05));
    CHECK(deviation("h.3.attn.c_proj.weight") == Approx(0.005).epsilon(0.05));
    CHECK(deviation("h.3.ln_1.weight") == 1.0);
    CHECK(deviation("h.3.ln_1.bias") == 0.0);
    CHECK(deviation("h.3.mlp.c_fc.bias") == 0.0);
    CHECK(initial_parameters(model, 1) == weights);
    CHECK(initial_parameters(model, 2) != weights);
}
