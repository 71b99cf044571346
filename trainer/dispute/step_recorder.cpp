// SPDX-License-Identifier: Apache-2.0
#include "trainer/dispute/step_recorder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"

namespace assay::trainer {

namespace {
using arithmetic::kTile;

constexpr std::uint64_t kNumbersAtATime = 1U << 20U;

// Rows of whole tiles that are read at a time.
std::uint64_t rows_at_a_time(std::uint64_t cols) {
    return std::max<std::uint64_t>(kTile, kNumbersAtATime / cols / kTile * kTile);
}

std::uint64_t tiles_across(std::uint64_t cols) { return (cols + kTile - 1) / kTile; }
}  // namespace

StepRecorder::StepRecorder(const dispute::StepFacts& facts, Device& device, Executor& executor,
                           WantedOutputs wanted, const std::optional<dispute::QuestionFault>& fault)
    : facts_(facts),
      device_(device),
      executor_(executor),
      wanted_(std::move(wanted)),
      fault_(fault),
      outputs_(facts.first_output.back()) {}

bool StepRecorder::is_wanted(std::uint32_t number) const {
    return wanted_.all_roots || wanted_.trees.contains(number) || wanted_.tiles.contains(number);
}

void StepRecorder::look(const Executor::Ran& ran) {
    const program::Operator& one = facts_.program->operators[ran.index];
    for (std::uint32_t o = 0; o < one.outputs.size(); ++o) {
        const Place place{ran.index, o, one.outputs[o]};
        const std::uint64_t rows = facts_.program->tensors[place.tensor].rows.per_sequence;
        // Sums over sequences are complete after the last one.
        if (rows == 0 && ran.first + ran.count != facts_.sequences) continue;
        plant(ran, place);
        if (ran.again || !is_wanted(number_of(place))) continue;
        record(place, rows == 0 ? facts_.rows(place.tensor) : rows * ran.count);
    }
}

void StepRecorder::plant(const Executor::Ran& ran, const Place& place) {
    if (!fault_ || fault_->operator_index != place.index || fault_->output != place.output) return;
    const program::Tensor& tensor = facts_.program->tensors[place.tensor];
    const std::uint64_t before = tensor.rows.per_sequence * ran.first * tensor.cols;
    const std::uint64_t here = tensor.rows.of(ran.count) * tensor.cols;
    if (fault_->element < before || fault_->element - before >= here) return;
    const std::uint64_t at = fault_->element - before;
    float number = 0.0F;
    executor_.read_part(place.tensor, at, {&number, 1});
    executor_.write(place.tensor, at,
                    std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) ^ fault_->flip));
}

void StepRecorder::record(const Place& place, std::uint64_t rows) {
    OutputRecord& progress = outputs_[number_of(place)];
    const std::uint64_t cols = facts_.cols(place.tensor);
    const std::uint64_t all = facts_.rows(place.tensor);
    for (std::uint64_t read = 0; read < rows;) {
        const std::uint64_t held = progress.carry.size() / cols;
        const std::uint64_t now = std::min(rows_at_a_time(cols) - held, rows - read);
        rows_.resize((held + now) * cols);
        std::copy(progress.carry.begin(), progress.carry.end(), rows_.begin());
        const std::span<float> fresh = std::span(rows_).subspan(held * cols);
        executor_.read_part(place.tensor, read * cols, fresh);
        clean(place, progress.rows + held, fresh);
        read += now;
        const bool ends = progress.rows + held + now == all;
        const std::uint64_t whole = ends ? held + now : (held + now) / kTile * kTile;
        const std::span<const float> known(rows_);
        hash(place, progress, known.first(whole * cols));
        const std::span<const float> rest = known.subspan(whole * cols);
        progress.carry.assign(rest.begin(), rest.end());
    }
}

// Numbers that the operator did not write become +0, and every NaN becomes the same NaN.
void StepRecorder::clean(const Place& place, std::uint64_t first_row, std::span<float> rows) {
    const std::uint64_t cols = facts_.cols(place.tensor);
    const dispute::Columns written = dispute::written_columns(facts_, place.index, place.output);
    if (written.first != 0 || written.last != cols) {
        for (std::uint64_t at = 0; at < rows.size(); at += cols) {
            const std::span<float> row = rows.subspan(at, cols);
            std::fill_n(row.begin(), written.first, 0.0F);
            std::fill(row.begin() + static_cast<std::ptrdiff_t>(written.last), row.end(), 0.0F);
        }
    }
    if (arithmetic::all_finite(rows)) return;
    std::uint64_t first = rows.size();
    for (std::uint64_t i = rows.size(); i-- > 0;) {
        if (!std::isfinite(rows[i])) first = i;
        if (std::isnan(rows[i])) rows[i] = std::bit_cast<float>(0x7fc00000U);
    }
    const std::uint64_t row = first_row + first / cols;
    const dispute::NotFinitePlace found{place.index, place.output,
                                        row / kTile * tiles_across(cols) + first % cols / kTile};
    if (not_finite_ && found.operator_index >= not_finite_->operator_index) return;
    not_finite_ = found;
    if (wanted_.not_finite) wanted_.tiles[number_of(place)].insert(found.tile);
}

void StepRecorder::hash(const Place& place, OutputRecord& progress, std::span<const float> rows) {
    if (rows.empty()) return;
    const std::uint64_t cols = facts_.cols(place.tensor);
    const std::uint32_t number = number_of(place);
    keep_tiles(place, progress, rows);
    if (wanted_.all_roots || wanted_.trees.contains(number)) {
        hashes_.resize(arithmetic::tile_count(rows.size() / cols, cols));
        device_.tile_hashes(cols, rows, hashes_);
        if (wanted_.all_roots) {
            for (const base::Hash256& one : hashes_) progress.root.add(one);
        }
        if (wanted_.trees.contains(number)) {
            progress.leaves.insert(progress.leaves.end(), hashes_.begin(), hashes_.end());
        }
    }
    progress.rows += rows.size() / cols;
}

void StepRecorder::keep_tiles(const Place& place, OutputRecord& progress, std::span<const float> rows) {
    const auto found = wanted_.tiles.find(number_of(place));
    if (found == wanted_.tiles.end()) return;
    const std::uint64_t cols = facts_.cols(place.tensor);
    const std::uint64_t height = rows.size() / cols;
    const std::uint64_t first = progress.rows / kTile * tiles_across(cols);
    const std::uint64_t end = first + arithmetic::tile_count(height, cols);
    for (auto at = found->second.lower_bound(first); at != found->second.end() && *at < end; ++at) {
        const dispute::TileExtent extent = dispute::extent_of(height, cols, *at - first);
        dispute::Tile tile{};
        for (std::uint64_t i = 0; i < extent.height; ++i) {
            const auto row = rows.subspan((extent.row + i) * cols + extent.col, extent.width);
            std::copy(row.begin(), row.end(), tile.begin() + static_cast<std::ptrdiff_t>(i * kTile));
        }
        progress.tiles.emplace(*at, tile);
    }
}

bool StepRecorder::counts(std::uint32_t number) const {
    return !not_finite_ || number < facts_.first_output[not_finite_->operator_index + 1];
}

std::vector<base::Hash256> StepRecorder::roots() const {
    ASSAY_CHECK(wanted_.all_roots);
    std::vector<base::Hash256> out;
    for (std::uint32_t i = 0; i < facts_.outputs(); ++i) {
        out.push_back(counts(i) ? outputs_[i].root.root() : base::merkle_empty_root());
    }
    return out;
}

std::vector<base::Hash256> StepRecorder::leaves(std::uint32_t number) const {
    return counts(number) ? outputs_[number].leaves : std::vector<base::Hash256>();
}

const dispute::Tile& StepRecorder::tile(std::uint32_t number, std::uint64_t tile) const {
    const auto found = outputs_[number].tiles.find(tile);
    ASSAY_CHECK(found != outputs_[number].tiles.end());
    return found->second;
}

}  // namespace assay::trainer
