// SPDX-License-Identifier: Apache-2.0
#include "trainer/dispute/recorded_step.hpp"

#include <algorithm>

#include "contracts/base/blob_id.hpp"
#include "contracts/base/check.hpp"
#include "contracts/program/state_root.hpp"

namespace assay::trainer {

namespace {
using arithmetic::kTile;
using dispute::Source;
using dispute::StoredTree;

// Records which tiles a partial reads, and gives it zeros.
class NotingReader final : public dispute::OpeningReader {
public:
    NotingReader(const dispute::StepFacts& facts, base::ByteView token_file, Reads& out)
        : facts_(facts), token_file_(token_file), out_(out) {}

protected:
    void load_tile(const Source& source, std::uint64_t number, dispute::Tile&) override {
        TilesRead& read = out_[source.key()];
        read.source = source;
        read.tiles.insert(number);
    }
    void load_wholes(const Source&, std::uint64_t, dispute::Cells&) override { ASSAY_CHECK(false); }
    void load_partial(std::uint64_t, dispute::Cells&) override {}
    void load_piece(std::uint64_t number, base::Bytes& out) override {
        out = base::to_bytes(
            token_file_.subspan(number * base::kBlobPiece, dispute::piece_bytes(facts_, number)));
    }
    [[nodiscard]] const dispute::StepFacts* facts() const override { return &facts_; }

private:
    const dispute::StepFacts& facts_;
    base::ByteView token_file_;
    Reads& out_;
};

dispute::Tile tile_at(const Source& source, std::uint64_t number, std::span<const float> values) {
    const dispute::TileExtent at = dispute::extent_of(source.rows, source.cols, number);
    dispute::Tile out{};
    for (std::uint64_t i = 0; i < at.height; ++i) {
        const auto row = values.subspan((at.row + i) * source.cols + at.col, at.width);
        std::copy(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(i * kTile));
    }
    return out;
}

std::vector<base::Hash256> hashes_of(Device& device, std::uint64_t rows, std::uint64_t cols,
                                     std::span<const float> values) {
    std::vector<base::Hash256> out(arithmetic::tile_count(rows, cols));
    device.tile_hashes(cols, values, out);
    return out;
}
}  // namespace

Reads reads_of(const dispute::StepFacts& facts, dispute::PartialPosition position, std::uint64_t first,
               std::uint64_t last, base::ByteView token_file) {
    Reads out;
    for (position.partial = first; position.partial < last; ++position.partial) {
        NotingReader reader(facts, token_file, out);
        [[maybe_unused]] const dispute::Cells none = dispute::compute_partial(facts, position, reader);
    }
    return out;
}

ArrayLeaves array_leaves(const dispute::StepFacts& facts, Device& device, std::span<const float> array) {
    ArrayLeaves out;
    for (const program::TensorInfo& info : facts.program->parameters) {
        const auto values = array.subspan(info.offset, info.size());
        out.roots.push_back(base::merkle_root(hashes_of(device, info.rows, info.cols, values)));
        out.leaves.push_back(program::tensor_leaf(info, out.roots.back()));
    }
    return out;
}

StateParts::StateParts(const dispute::StepFacts& facts, Device& device, const Arrays& arrays,
                       const Reads& reads, const Reads& shown, const program::StateRoots& roots) {
    const auto values_of = [&](const Source& source) {
        const program::TensorInfo& info = facts.program->parameters[source.number];
        return arrays[source.array].subspan(info.offset, info.size());
    };
    for (const auto& [key, read] : reads) {
        if (read.source.from != Source::From::kState) continue;
        for (const std::uint64_t number : read.tiles) {
            tiles_.emplace(std::pair(key, number), tile_at(read.source, number, values_of(read.source)));
        }
    }
    for (const auto& [key, read] : shown) {
        const Source& source = read.source;
        if (source.from != Source::From::kState) continue;
        trees_.try_emplace(key, hashes_of(device, source.rows, source.cols, values_of(source)));
        if (arrays_.contains(source.array)) continue;
        arrays_.try_emplace(source.array, array_leaves(facts, device, arrays[source.array]).leaves);
    }
    const auto leaves = program::component_leaves(roots);
    components_ = StoredTree({leaves.begin(), leaves.end()});
}

void RecordedStep::tile(const Source& source, std::uint64_t number, dispute::Tile& out) {
    if (source.from == Source::From::kState) {
        ASSAY_CHECK(state_ != nullptr);
        out = state_->tile(source, number);
    } else if (live_ != nullptr) {
        live_tile(source, number, out);
    } else {
        out = recorder_.tile(source.number, number);
    }
}

void RecordedStep::live_tile(const Source& source, std::uint64_t number, dispute::Tile& out) const {
    const auto after =
        std::upper_bound(facts_.first_output.begin(), facts_.first_output.end(), source.number);
    const auto index = static_cast<std::uint32_t>(after - facts_.first_output.begin() - 1);
    const program::TensorId tensor = facts_.output(index, source.number - facts_.first_output[index]);
    ASSAY_CHECK(facts_.program->tensors[tensor].role == program::TensorRole::kParameterGradient);
    const dispute::TileExtent at = dispute::extent_of(source.rows, source.cols, number);
    for (std::uint64_t i = 0; i < at.height; ++i) {
        live_->read_part(tensor, (at.row + i) * source.cols + at.col,
                         std::span(out).subspan(i * kTile, at.width));
    }
}

void RecordedStep::wholes(const Source&, std::uint64_t, dispute::Cells&) { ASSAY_CHECK(false); }

const StoredTree& RecordedStep::tiles(const Source& source) {
    if (source.from == Source::From::kState) return state_->tiles(source);
    const auto [found, is_new] = trees_.try_emplace(source.number);
    if (is_new) found->second = StoredTree(recorder_.leaves(source.number));
    return found->second;
}

const StoredTree& RecordedStep::above(const Source& source) {
    return source.from == Source::From::kState ? state_->array(source.array) : outputs_;
}

const StoredTree& RecordedStep::components(std::uint32_t) { return state_->components(); }

void RecordedStep::piece(std::uint64_t number, base::Bytes& out, std::vector<base::Hash256>& siblings) {
    if (!pieces_) {
        std::vector<base::Hash256> leaves;
        for (std::size_t at = 0; at < token_file_.size(); at += base::kBlobPiece) {
            const auto bytes = token_file_.subspan(at, std::min(base::kBlobPiece, token_file_.size() - at));
            leaves.push_back(base::merkle_leaf(base::personal::kPiece, bytes));
        }
        pieces_.emplace(std::move(leaves));
    }
    out =
        base::to_bytes(token_file_.subspan(number * base::kBlobPiece, dispute::piece_bytes(facts_, number)));
    siblings = pieces_->siblings(number);
}

}  // namespace assay::trainer
