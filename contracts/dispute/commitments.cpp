// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/commitments.hpp"

#include <algorithm>
#include <bit>

#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/blob_id.hpp"
#include "contracts/base/check.hpp"
#include "contracts/dispute/referee.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/reference_machine.hpp"

namespace assay::dispute {

namespace {
using arithmetic::kTile;
using program::TensorRole;

std::vector<std::uint32_t> step_tokens(const StepInputs& inputs) {
    const StepFacts& facts = inputs.facts;
    const std::uint64_t width = program::token_bytes(facts.program->model.vocabulary);
    std::vector<std::uint32_t> out;
    for (std::uint64_t sequence = 0; sequence < facts.sequences; ++sequence) {
        const std::uint64_t first = facts.first_token(sequence);
        for (std::uint64_t t = first; t <= first + facts.context(); ++t) {
            std::uint32_t token = 0;
            for (std::uint64_t i = 0; i < width; ++i) {
                token |= std::uint32_t{inputs.token_file[program::kTokenFileHeader + t * width + i]}
                         << (8 * i);
            }
            out.push_back(token);
        }
    }
    return out;
}

std::span<const float> array_of(const program::SlotArrays& state, std::uint32_t component) {
    switch (static_cast<program::StateComponent>(component)) {
        case program::StateComponent::kParameters: return state.parameters;
        case program::StateComponent::kFirstMoment: return state.first_moment;
        default: return state.second_moment;
    }
}

void load(program::ReferenceMachine& machine, const program::Program& program, std::span<const float> flat,
          TensorRole role) {
    std::size_t parameter = 0;
    for (program::TensorId id = 0; id < program.tensors.size(); ++id) {
        if (program.tensors[id].role != role) continue;
        const program::TensorInfo& info = program.parameters[parameter++];
        const auto part = flat.subspan(info.offset, info.size());
        std::copy(part.begin(), part.end(), machine.values(id).begin());
    }
}

// What an operator wrote of an output, every NaN with the same bits; +0 elsewhere.
std::vector<float> written(const StepFacts& facts, std::uint32_t operator_index, std::uint32_t output,
                           std::span<const float> values) {
    const Columns columns = written_columns(facts, operator_index, output);
    const std::uint64_t cols = facts.cols(facts.output(operator_index, output));
    Cells out{CellKind::kReal, {values.begin(), values.end()}, {}};
    for (std::size_t i = 0; i < out.real.size(); ++i) {
        if (i % cols < columns.first || i % cols >= columns.last) out.real[i] = 0.0F;
    }
    out.make_canonical();
    return std::move(out.real);
}

Cells cells_at(std::uint64_t rows, std::uint64_t cols, std::span<const float> values, std::uint64_t tile) {
    const TileExtent at = extent_of(rows, cols, tile);
    Cells out;
    for (std::uint64_t i = 0; i < at.height; ++i) {
        const auto row = values.subspan((at.row + i) * cols + at.col, at.width);
        out.real.insert(out.real.end(), row.begin(), row.end());
    }
    return out;
}

StoredTree piece_tree(base::ByteView file) {
    std::vector<Hash256> leaves;
    for (std::size_t at = 0; at < file.size(); at += base::kBlobPiece) {
        leaves.push_back(base::merkle_leaf(base::personal::kPiece,
                                           file.subspan(at, std::min(base::kBlobPiece, file.size() - at))));
    }
    return StoredTree(std::move(leaves));
}
}  // namespace

StoredTree tile_tree(std::uint64_t rows, std::uint64_t cols, std::span<const float> values) {
    std::vector<Hash256> leaves;
    for (std::uint64_t i = 0; i < arithmetic::tile_count(rows, cols); ++i) {
        leaves.push_back(tile_hash(cells_at(rows, cols, values, i), extent_of(rows, cols, i).width));
    }
    return StoredTree(std::move(leaves));
}

StepCommitments::StepCommitments(const StepInputs& inputs, std::optional<std::uint32_t> last,
                                 std::optional<PlantedFault> fault)
    : inputs_(inputs),
      components_({inputs.components.begin(), inputs.components.end()}),
      pieces_(piece_tree(inputs.token_file)) {
    const program::Program& program = *inputs.facts.program;
    const std::vector<std::uint32_t> tokens = step_tokens(inputs);
    program::ReferenceMachine machine(program, tokens);
    load(machine, program, inputs.state.parameters, TensorRole::kParameter);
    load(machine, program, inputs.state.first_moment, TensorRole::kFirstMoment);
    load(machine, program, inputs.state.second_moment, TensorRole::kSecondMoment);
    const std::uint32_t end = last ? *last + 1 : inputs.facts.operators();
    std::vector<Hash256> roots;
    for (std::uint32_t i = 0; i < end; ++i) {
        if (!diverged_) machine.execute(program.operators[i], inputs.facts.coefficients);
        for (std::uint32_t o = 0; o < program.operators[i].outputs.size(); ++o) {
            const program::TensorId id = inputs.facts.output(i, o);
            const std::span<float> values = machine.values(id);
            if (fault && fault->operator_index == i && fault->output == o) {
                float& number = values[fault->element];
                number = std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) ^ fault->flip);
            }
            keep(i, o, values);
            roots.push_back(trees_.back().root());
        }
    }
    outputs_ = StoredTree(std::move(roots));
}

void StepCommitments::keep(std::uint32_t operator_index, std::uint32_t output,
                           std::span<const float> values) {
    const StepFacts& facts = inputs_.facts;
    if (diverged_ && *diverged_ < operator_index) {
        versions_.emplace_back();
        trees_.emplace_back();
        return;
    }
    const program::TensorId id = facts.output(operator_index, output);
    versions_.push_back(written(facts, operator_index, output, values));
    trees_.push_back(tile_tree(facts.rows(id), facts.cols(id), versions_.back()));
    if (!arithmetic::all_finite(versions_.back())) diverged_ = operator_index;
}

const StoredTree& StepCommitments::tiles_of(std::uint32_t operator_index, std::uint32_t output) const {
    return trees_[inputs_.facts.first_output[operator_index] + output];
}

Cells StepCommitments::tile_of(std::uint32_t operator_index, std::uint32_t output, std::uint64_t tile) const {
    const program::TensorId id = inputs_.facts.output(operator_index, output);
    return cells_at(inputs_.facts.rows(id), inputs_.facts.cols(id), version(operator_index, output), tile);
}

std::vector<Cells> StepCommitments::partials(const PartialPosition& position) {
    std::vector<Cells> out = compute_partials(position, *this);
    out.back() = tile_of(position.operator_index, position.output, position.tile);
    return out;
}

std::span<const float> StepCommitments::state_values(const Source& source) const {
    const program::TensorInfo& info = inputs_.facts.program->parameters[source.number];
    return array_of(inputs_.state, source.array).subspan(info.offset, info.size());
}

void StepCommitments::tile(const Source& source, std::uint64_t number, Tile& out) {
    const std::span<const float> values = source.from == Source::From::kOutput
                                              ? std::span<const float>(versions_[source.number])
                                              : state_values(source);
    const TileExtent at = extent_of(source.rows, source.cols, number);
    for (std::uint64_t i = 0; i < at.height; ++i) {
        const auto row = values.subspan((at.row + i) * source.cols + at.col, at.width);
        std::copy(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(i * kTile));
    }
}

void StepCommitments::wholes(const Source&, std::uint64_t, Cells&) { ASSAY_CHECK(false); }

const StoredTree& StepCommitments::tiles(const Source& source) {
    if (source.from == Source::From::kOutput) return trees_[source.number];
    const auto [found, is_new] = state_tiles_.try_emplace(source.key());
    if (is_new) found->second = tile_tree(source.rows, source.cols, state_values(source));
    return found->second;
}

const StoredTree& StepCommitments::above(const Source& source) {
    if (source.from == Source::From::kOutput) return outputs_;
    const auto [found, is_new] = state_arrays_.try_emplace(source.array);
    if (!is_new) return found->second;
    std::vector<Hash256> leaves;
    const auto& parameters = inputs_.facts.program->parameters;
    for (std::uint32_t i = 0; i < parameters.size(); ++i) {
        Source one = source;
        one.number = i;
        one.rows = parameters[i].rows;
        one.cols = parameters[i].cols;
        leaves.push_back(program::tensor_leaf(parameters[i], tiles(one).root()));
    }
    found->second = StoredTree(std::move(leaves));
    return found->second;
}

void StepCommitments::piece(std::uint64_t number, base::Bytes& out, std::vector<Hash256>& siblings) {
    const std::size_t first = number * base::kBlobPiece;
    out =
        base::to_bytes(base::ByteView(inputs_.token_file).subspan(first, piece_bytes(inputs_.facts, number)));
    siblings = pieces_.siblings(number);
}

}  // namespace assay::dispute
