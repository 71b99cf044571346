// SPDX-License-Identifier: Apache-2.0
#include "node/roles/crafted_posts.hpp"

#include <span>

#include "contracts/base/hash.hpp"
#include "contracts/dispute/referee.hpp"
#include "contracts/dispute/tree.hpp"
#include "contracts/dispute/witness.hpp"

namespace assay::node {

namespace {

using base::Hash256;
using dispute::PartialPosition;
using dispute::StepFacts;
using dispute::Way;
using dispute::WayStage;

/// Made-up leaves of one game: the same whenever they are asked for, so that trees fold.
class CraftedLeaves {
public:
    CraftedLeaves(const Hash256& job, std::uint32_t game) : job_(job), game_(game) {}

    std::vector<Hash256> states(std::uint64_t count, const Hash256& last) const {
        std::vector<Hash256> out;
        for (std::uint64_t i = 0; i + 1 < count; ++i) out.push_back(leaf(0, i, 0, 0));
        out.push_back(last);
        return out;
    }
    std::vector<Hash256> partials(const StepFacts& facts, const PartialPosition& at) const {
        std::vector<Hash256> out;
        PartialPosition first = at;
        first.partial = 0;
        const std::uint64_t posted = dispute::partial_count(facts, first) - 1;
        const std::uint64_t output = facts.first_output[at.operator_index] + at.output;
        for (std::uint64_t i = 0; i < posted; ++i) out.push_back(leaf(2, output, at.tile, i));
        return out;
    }
    std::vector<Hash256> tiles(const StepFacts& facts, std::uint32_t index, std::uint32_t output) const {
        std::vector<Hash256> out;
        const std::uint64_t count = facts.tiles(facts.output(index, output));
        for (std::uint64_t i = 0; i < count; ++i)
            out.push_back(leaf(1, facts.first_output[index] + output, i, 0));
        return out;
    }
    std::vector<Hash256> outputs(const StepFacts& facts) const {
        std::vector<Hash256> out;
        for (std::uint32_t index = 0; index < facts.operators(); ++index) {
            const std::uint32_t count = facts.first_output[index + 1] - facts.first_output[index];
            for (std::uint32_t output = 0; output < count; ++output)
                out.push_back(dispute::StoredTree(tiles(facts, index, output)).root());
        }
        return out;
    }

private:
    [[nodiscard]] Hash256 leaf(std::uint64_t kind, std::uint64_t a, std::uint64_t b, std::uint64_t c) const {
        return base::Hasher("assay/drill/crafted")
            .add(job_)
            .add_u64(game_)
            .add_u64(kind)
            .add_u64(a)
            .add_u64(b)
            .add_u64(c)
            .finish();
    }

    const Hash256 job_;
    const std::uint32_t game_;
};

std::vector<Hash256> row_in(std::vector<Hash256> leaves, const dispute::TreeRow& row) {
    const dispute::StoredTree tree(std::move(leaves));
    const auto whole = tree.row(row.height);
    if (row.first + row.nodes > whole.size()) return {};
    const auto part = whole.subspan(row.first, row.nodes);
    return {part.begin(), part.end()};
}

}  // namespace

std::vector<Hash256> crafted_post(const Hash256& job, std::uint32_t game, const Way& way,
                                  dispute::UnitFacts& facts) {
    const CraftedLeaves made(job, game);
    if (facts.claim().kind != dispute::UnitKind::kSegment) return {};
    switch (way.stage) {
        case WayStage::kStates: return made.states(dispute::wanted_hashes(way), way.end);
        case WayStage::kOutputs: return row_in(made.outputs(facts.step(way.at.step)), way.row);
        case WayStage::kTiles:
            return row_in(made.tiles(facts.step(way.at.step), way.at.operator_index, way.at.output), way.row);
        case WayStage::kPartials: return row_in(made.partials(facts.step(way.at.step), way.at), way.row);
        default: return {};
    }
}

base::Bytes crafted_witness(const Hash256& job, std::uint32_t game) {
    base::Bytes bytes(dispute::kMaxWitnessBytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(i * 131 + (i >> 8U) + job.bytes[i % job.bytes.size()] + game);
    return bytes;
}

}  // namespace assay::node
