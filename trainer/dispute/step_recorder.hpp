// SPDX-License-Identifier: Apache-2.0
// StepRecorder hashes what the operators of a step write, tile by tile, right after each operator ran. It
// holds a part of one output at a time, and keeps only the wanted hashes and tiles.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "contracts/dispute/facts.hpp"
#include "contracts/dispute/question.hpp"
#include "contracts/dispute/reader.hpp"
#include "trainer/dispute/running_root.hpp"
#include "trainer/step/executor.hpp"

namespace assay::trainer {

/// What to keep of a step. Keys are the outputs' numbers in the list of all outputs.
struct WantedOutputs {
    bool all_roots = false;
    std::set<std::uint32_t> trees;                           ///< hashes of all tiles
    std::map<std::uint32_t, std::set<std::uint64_t>> tiles;  ///< numbers of these tiles
    bool not_finite = false;                                 ///< the tile that not_finite() names
};

class StepRecorder {
public:
    /// All arguments must outlive it. `fault`: one of this step, or nothing.
    StepRecorder(const dispute::StepFacts& facts, Device& device, Executor& executor, WantedOutputs wanted,
                 const std::optional<dispute::QuestionFault>& fault);

    /// For Executor::run_each.
    void look(const Executor::Ran& ran);

    // Results, once the step has run.

    [[nodiscard]] const std::optional<dispute::NotFinitePlace>& not_finite() const { return not_finite_; }
    /// Whether no operator before that of this output diverged.
    [[nodiscard]] bool counts(std::uint32_t number) const;
    /// Roots of the outputs of all operators of the facts. Outputs after the first operator with a number
    /// that is not finite count as without tiles. REQUIRES all_roots.
    [[nodiscard]] std::vector<base::Hash256> roots() const;
    /// Hashes of the tiles of an output whose tree was wanted; none when counts() is false for it.
    [[nodiscard]] std::vector<base::Hash256> leaves(std::uint32_t number) const;
    /// A wanted tile. REQUIRES an operator that ran.
    [[nodiscard]] const dispute::Tile& tile(std::uint32_t number, std::uint64_t tile) const;

private:
    struct OutputRecord {
        std::uint64_t rows = 0;    // hashed
        std::vector<float> carry;  // the rows behind them, fewer than a tile's
        RunningRoot root;
        std::vector<base::Hash256> leaves;
        std::map<std::uint64_t, dispute::Tile> tiles;
    };
    struct Place {
        std::uint32_t index = 0;
        std::uint32_t output = 0;
        program::TensorId tensor = 0;
    };
    [[nodiscard]] bool is_wanted(std::uint32_t number) const;
    [[nodiscard]] std::uint32_t number_of(const Place& place) const {
        return facts_.first_output[place.index] + place.output;
    }
    void plant(const Executor::Ran& ran, const Place& place);
    void record(const Place& place, std::uint64_t rows);
    void clean(const Place& place, std::uint64_t first_row, std::span<float> rows);
    void hash(const Place& place, OutputRecord& progress, std::span<const float> rows);
    void keep_tiles(const Place& place, OutputRecord& progress, std::span<const float> rows);

    const dispute::StepFacts& facts_;
    Device& device_;
    Executor& executor_;
    WantedOutputs wanted_;
    std::optional<dispute::QuestionFault> fault_;
    std::vector<OutputRecord> outputs_;
    std::optional<dispute::NotFinitePlace> not_finite_;
    std::vector<float> rows_;
    std::vector<base::Hash256> hashes_;
};

}  // namespace assay::trainer
