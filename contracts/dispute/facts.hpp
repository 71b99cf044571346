// SPDX-License-Identifier: Apache-2.0
// What all parties know about a step before anybody claims anything: its program, its coefficients, the
// places of its tokens; and which operator wrote an operand last. For partials and the referee.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/program/batch_map.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/state_root.hpp"

namespace assay::dispute {

/// A place of a step in its job.
struct StepPlace {
    std::uint64_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t step = 0;  ///< inner step of the round
    std::uint64_t age = 0;   ///< number of steps of the moments before this one
};

/// The facts of a step. They point to the step's program, which must outlive them.
struct StepFacts {
    const program::Program* program = nullptr;
    std::uint64_t sequences = 0;
    arithmetic::AdamWCoefficients coefficients;
    StepPlace place;
    std::optional<program::BatchMap> batch;  ///< of the job; always set
    std::uint64_t stream_tokens = 0;
    /// The operator at which the claimant's work ended, by its claim (trace.hpp). Its outputs, not all
    /// finite, are the last of the step.
    std::optional<std::uint32_t> diverged_at;
    /// The step starts from the round's base, so its parameters are not the claimant's own.
    bool starts_at_base = false;
    /// For each operator, the number of its first output in the list of all outputs of the program; after the
    /// last operator, the number of all outputs.
    std::vector<std::uint32_t> first_output;

    /// The place of a sequence's first token in the job's stream. Computed on demand: a move of a game needs
    /// none, and a batch may have 65,536.
    [[nodiscard]] std::uint64_t first_token(std::uint64_t sequence) const {
        return batch->first_token(
            {place.round, place.step, place.slot, static_cast<std::uint32_t>(sequence)});
    }
    [[nodiscard]] std::uint64_t context() const { return program->model.context; }
    [[nodiscard]] std::uint64_t tokens() const { return sequences * context(); }
    /// The number of operators that wrote something, and the number of their outputs.
    [[nodiscard]] std::uint32_t operators() const {
        return diverged_at ? *diverged_at + 1 : static_cast<std::uint32_t>(program->operators.size());
    }
    [[nodiscard]] std::uint32_t outputs() const { return first_output[operators()]; }
    [[nodiscard]] std::uint64_t rows(program::TensorId id) const {
        return program->tensors[id].rows.of(sequences);
    }
    [[nodiscard]] std::uint64_t cols(program::TensorId id) const { return program->tensors[id].cols; }
    [[nodiscard]] std::uint64_t tiles(program::TensorId id) const {
        return arithmetic::tile_count(rows(id), cols(id));
    }
    [[nodiscard]] program::TensorId output(std::uint32_t operator_index, std::uint32_t output) const {
        return program->operators[operator_index].outputs[output];
    }
};

/// The facts of a step. REQUIRES a spec that check_spec accepts, its step program, and a place within the
/// job.
StepFacts facts_of(const program::JobSpec& spec, const program::Program& program, const StepPlace& place);

/// Columns [first, last) of a tensor.
struct Columns {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    friend bool operator==(const Columns&, const Columns&) = default;
};

/// The columns that an operator writes of an output; the others of its version are +0.
Columns written_columns(const StepFacts& facts, std::uint32_t operator_index, std::uint32_t output);
/// Whether the operator writes, in a square of a head, only the keys that a query sees; the others are +0.
bool writes_lower_part(const StepFacts& facts, std::uint32_t operator_index);

/// A version of a tensor, or some columns of one.
struct Source {
    enum class From : std::uint8_t {
        kZero = 1,  ///< +0 at the step's start
        kOutput,    ///< what an operator of the step wrote
        kState,     ///< a state from which the unit starts; for a step, the state at its start
        kArray,     ///< integers of an array whose root the game has fixed (array_referee.hpp)
    };
    From from = From::kZero;
    /// kOutput: number in the list of all outputs. kState, kArray: place in the canonical parameters.
    std::uint32_t number = 0;
    std::uint32_t array = 0;  ///< kState: the place of the component. kArray: of the array's root
    std::uint32_t state = 0;  ///< kState: the place of the state's root
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    Columns columns;            ///< the columns that it holds
    bool lower = false;         ///< in heads' squares, the keys above the diagonal are +0
    std::uint64_t context = 0;  ///< rows of a square, if `lower`
    bool may_diverge = false;   ///< numbers that are not finite are part of the claim
    bool is_jobs_own = false;   ///< not the claimant's: a fault in it voids the job

    [[nodiscard]] std::uint64_t tiles() const { return arithmetic::tile_count(rows, cols); }
    [[nodiscard]] std::uint64_t key() const {
        return (std::uint64_t{state} << 60) | (std::uint64_t{array} << 44) | (std::uint64_t{number} << 8) |
               static_cast<std::uint64_t>(from);
    }
};

/// Output `output` of an operator as it left it.
Source output_source(const StepFacts& facts, std::uint32_t operator_index, std::uint32_t output);
/// Where an operator finds `tensor`: the last writers before it, the state, or +0. A column is taken from the
/// first source that holds it. REQUIRES a tensor that does not hold tokens.
std::vector<Source> sources_of(const StepFacts& facts, std::uint32_t operator_index,
                               program::TensorId tensor);

}  // namespace assay::dispute
