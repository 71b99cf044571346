// SPDX-License-Identifier: Apache-2.0
// All of a program as text, and the programs whose texts are pinned (tests/vectors/programs.txt).
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "contracts/base/hash.hpp"
#include "contracts/program/program.hpp"
#include "tests/contracts/program/tiny.hpp"

namespace program_text {

using namespace assay::program;

inline void put(std::string& out, std::uint64_t number) { out += std::to_string(number) + " "; }

/// Every field but the configuration that the program was built from.
inline std::string full_text(const Program& program) {
    std::string out;
    put(out, std::bit_cast<std::uint32_t>(program.clip_norm));
    put(out, program.loss);
    put(out, program.norm);
    for (const TensorInfo& info : program.parameters) {
        out += "\nparameter " + info.name + " ";
        for (const std::uint64_t number : {info.rows, info.cols, info.offset}) put(out, number);
        put(out, info.is_vector ? 1 : 0);
    }
    for (const Tensor& tensor : program.tensors) {
        out += "\ntensor " + tensor.name + " ";
        put(out, static_cast<std::uint64_t>(tensor.role));
        for (const std::uint64_t number : {tensor.rows.fixed, tensor.rows.per_sequence, tensor.cols})
            put(out, number);
    }
    for (const Operator& one : program.operators) {
        out += "\noperator " + one.name + " " + std::string(to_text(one.kind)) + " ";
        out += std::to_string(one.layer) + " ";
        for (const TensorId id : one.operands) put(out, id);
        out += "-> ";
        for (const TensorId id : one.outputs) put(out, id);
        put(out, one.flops.fixed);
        put(out, one.flops.per_sequence);
        put(out, one.rule.a_digits);
        put(out, one.rule.b_digits);
        put(out, one.rule.block);
        put(out, static_cast<std::uint64_t>(one.layout));
    }
    return out + "\n";
}

struct PinnedModel {
    const char* name;
    ModelConfig model;
};

inline std::vector<PinnedModel> pinned_models() {
    const ModelConfig gpt2_small{
        .layers = 12, .width = 768, .heads = 12, .context = 1024, .vocabulary = 50257};
    ModelConfig tiny_llama_1b = tiny::untied_llama();
    tiny_llama_1b.layers = 22, tiny_llama_1b.width = 2048, tiny_llama_1b.heads = 32;
    tiny_llama_1b.context = 2048, tiny_llama_1b.vocabulary = 32000, tiny_llama_1b.kv_heads = 4;
    tiny_llama_1b.hidden = 5632, tiny_llama_1b.rope_theta = 10000.0F;
    return {{"tiny_gpt2", tiny::model()},
            {"tiny_llama", tiny::llama()},
            {"tiny_untied_llama", tiny::untied_llama()},
            {"gpt2_small", gpt2_small},
            {"tinyllama_1b", tiny_llama_1b}};
}

/// One line: which program, its operators, its operations on one and two sequences, the hash of its text.
inline std::string line_of(const std::string& name, const Program& program) {
    return name + " " + std::to_string(program.operators.size()) + " " + std::to_string(flops(program, 1)) +
           " " + std::to_string(flops(program, 2)) + " " +
           assay::base::hash("assay/test/program", assay::base::as_bytes(full_text(program))).hex() + "\n";
}

/// One line: numbers and hash of a model's initial weights.
inline std::string initial_line(const PinnedModel& pinned) {
    std::string text;
    const std::vector<float> weights = initial_parameters(pinned.model, 7);
    for (const float weight : weights) put(text, std::bit_cast<std::uint32_t>(weight));
    return std::string(pinned.name) + " initial " + std::to_string(weights.size()) + " " +
           assay::base::hash("assay/test/program", assay::base::as_bytes(text)).hex() + "\n";
}

/// The lines of all pinned programs, and of initial weights where they are few.
inline std::string pinned_lines() {
    std::string out;
    for (const PinnedModel& pinned : pinned_models()) {
        if (pinned.model.width < 100) out += initial_line(pinned);
        for (const auto& [profile, word] :
             {std::pair{Profile::kF32, "f32"}, std::pair{Profile::kI16, "i16"}}) {
            const std::string name = std::string(pinned.name) + " " + word;
            out += line_of(name + " step", build_step_program(pinned.model, tiny::spec().train, profile));
            out += line_of(name + " evaluate", build_evaluate_program(pinned.model, profile));
        }
    }
    return out;
}

}  // namespace program_text
