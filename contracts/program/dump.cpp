// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "contracts/program/program.hpp"

namespace assay::program {

namespace {
// More operands than this (the global norm reads every gradient) are counted, not listed.
constexpr std::size_t kMostListed = 6;

std::string list(const Program& program, const std::vector<TensorId>& ids, std::uint64_t sequences) {
    if (ids.size() > kMostListed) return std::to_string(ids.size()) + " tensors";
    std::string out;
    for (const TensorId id : ids) {
        const Tensor& tensor = program.tensors[id];
        if (!out.empty()) out += ", ";
        out += tensor.name + "[" + std::to_string(tensor.rows.of(sequences)) + "," +
               std::to_string(tensor.cols) + "]";
    }
    return out;
}

std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}
std::string right(const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
}
}  // namespace

std::string dump(const Program& program, std::uint64_t sequences) {
    std::size_t name_width = 8;
    std::size_t kind_width = 4;
    for (const Operator& one : program.operators) {
        name_width = std::max(name_width, one.name.size());
        kind_width = std::max(kind_width, to_text(one.kind).size());
    }
    std::string out = "index  " + padded("operator", name_width) + "  " + padded("kind", kind_width) +
                      "    operations  operands -> outputs\n";
    for (std::size_t i = 0; i < program.operators.size(); ++i) {
        const Operator& one = program.operators[i];
        out += right(std::to_string(i), 5) + "  " + padded(one.name, name_width) + "  " +
               padded(std::string(to_text(one.kind)), kind_width) + "  " +
               right(std::to_string(one.flops.of(sequences)), 12) + "  " +
               list(program, one.operands, sequences) + " -> " + list(program, one.outputs, sequences) + "\n";
    }
    out += std::to_string(program.operators.size()) + " operators, " +
           std::to_string(flops(program, sequences)) + " operations\n";
    return out;
}

}  // namespace assay::program
