// SPDX-License-Identifier: Apache-2.0
// The law of the global norm: sums of the squares of tiles, and a binary tree over them. A partial holds 64
// neighbouring nodes, six rows of the tree above those below it: neighbours are added pair by pair and an odd
// last one goes up unchanged, so 64 nodes that begin at a multiple of 64 have the whole tree's sum.
#include <array>
#include <cmath>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/dispute/laws.hpp"

namespace assay::dispute {

namespace {
using namespace assay::arithmetic;
using Kind = program::OperatorKind;

constexpr std::uint64_t kNodes = 64;
constexpr std::uint64_t groups_of(std::uint64_t nodes) { return (nodes + kNodes - 1) / kNodes; }

class NormLaw final : public PartialLaw {
public:
    explicit NormLaw(TileWork& work) : PartialLaw(work) {
        std::uint64_t nodes = 0;
        for (const program::TensorId id : w.op().operands) nodes += w.facts().tiles(id);
        nodes_.push_back(nodes);
        while (groups_of(nodes_.back()) > 1) nodes_.push_back(groups_of(nodes_.back()));
        partials_ = 1;
        for (const std::uint64_t count : nodes_) partials_ += groups_of(count);
    }
    [[nodiscard]] std::uint64_t partials() const override { return partials_; }
    [[nodiscard]] PartialPlace place(std::uint64_t partial) const override {
        if (partial + 1 == partials_) return {};
        const At at = find(partial);
        return {PartialPhase::kTree, at.level, at.group};
    }
    [[nodiscard]] CellShape shape(std::uint64_t partial) const override {
        if (partial + 1 == partials_) return tile_shape();
        const At at = find(partial);
        return {CellKind::kReal, size_of(at.level, at.group)};
    }

protected:
    void fill(std::uint64_t partial, Cells& out) override {
        if (partial + 1 == partials_) {
            std::vector<float> last = w.reals(partial - 1, size_of(nodes_.size() - 1, 0));
            out.real[0] = norm_of_tiles(last);
            return;
        }
        const At at = find(partial);
        for (std::uint64_t i = 0; i < out.real.size(); ++i) {
            const std::uint64_t node = at.group * kNodes + i;
            out.real[i] = at.level == 0 ? squares(node) : sum_below(at, node);
        }
    }

private:
    struct At {
        std::size_t level = 0;
        std::uint64_t group = 0;
        std::uint64_t first = 0;  // partial of the level's first group
    };
    [[nodiscard]] At find(std::uint64_t partial) const {
        At out;
        while (partial - out.first >= groups_of(nodes_[out.level]))
            out.first += groups_of(nodes_[out.level++]);
        out.group = partial - out.first;
        return out;
    }
    [[nodiscard]] std::size_t size_of(std::size_t level, std::uint64_t group) const {
        return std::min(kNodes, nodes_[level] - group * kNodes);
    }
    float sum_below(const At& at, std::uint64_t node) {
        const std::uint64_t first = at.first - groups_of(nodes_[at.level - 1]);
        std::vector<float> below = w.reals(first + node, size_of(at.level - 1, node));
        return tree_sum(below);
    }
    // Of a tile, counted over all operands.
    float squares(std::uint64_t tile) {
        std::size_t operand = 0;
        while (tile >= w.facts().tiles(w.op().operands[operand])) {
            tile -= w.facts().tiles(w.op().operands[operand++]);
        }
        const TileExtent extent = extent_of(w.rows(operand), w.cols(operand), tile);
        const NumberBlock g = w.in(operand, extent.row, extent.height, extent.col, extent.width);
        float sum = 0;
        square_tiles(g.rows, g.cols, g.values, std::span(&sum, 1));
        return sum;
    }

    std::vector<std::uint64_t> nodes_;  // of each level
    std::uint64_t partials_ = 0;
};

constexpr std::array kNormRows = {
    PartialRow{Kind::kGlobalNorm,
               [](TileWork& work) -> std::unique_ptr<PartialLaw> { return std::make_unique<NormLaw>(work); }},
};
}  // namespace

std::span<const PartialRow> norm_rows() { return kNormRows; }

}  // namespace assay::dispute
