// SPDX-License-Identifier: Apache-2.0
#include "node/audit/array_tile.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/dispute/tree.hpp"
#include "contracts/dispute/way.hpp"

namespace assay::node {

namespace {

using base::Hash256;
using base::Outcome;
using dispute::ArrayLevel;
using dispute::ArraySubject;
using dispute::ArrayUnit;
using dispute::Way;
using dispute::WayStage;

ArraySubject subject_of(ArrayUnit unit) {
    switch (unit) {
        case ArrayUnit::kUpdate: return ArraySubject::kUpdate;
        case ArrayUnit::kMergedParameters: return ArraySubject::kMergedParameters;
        case ArrayUnit::kMergedOuter: break;
    }
    return ArraySubject::kMergedOuter;
}

/// Both players of the game: it posts what the worker computes, and picks its way to the tile.
class TileGame {
public:
    TileGame(WorkerClient& worker, dispute::UnitFacts& facts, ArrayUnit unit, frames::DescendArray request,
             const std::vector<frames::SharedDescriptor>& files)
        : worker_(worker), facts_(facts), unit_(unit), request_(std::move(request)), files_(files) {}

    Outcome<std::string> play(const dispute::ArrayPosition& tile) {
        const std::uint64_t partials = dispute::partial_count(facts_.array(unit_));
        for (std::uint64_t partial = 0; partial < partials; ++partial) {
            ASSAY_ASSIGN(std::string wrong, play_partial({tile.tensor, tile.tile, partial}));
            if (!wrong.empty()) return wrong;
        }
        return std::string();
    }
    /// Of everything that the worker answered.
    [[nodiscard]] const Hash256& answers() const { return answers_; }

private:
    Outcome<std::string> play_partial(const dispute::ArrayPosition& target) {
        Way way = dispute::begin_way(facts_);
        while (way.stage != WayStage::kWitness) {
            ASSAY_ASSIGN(std::vector<Hash256> hashes, hashes_for(way, target));
            if (!dispute::may_post(way, facts_, hashes))
                return std::string("the array computed here has another root than the claimed one");
            dispute::post(way, facts_, std::move(hashes));
            const dispute::Pick pick{.index = index_in(way, target), .end = std::nullopt};
            ASSAY_CHECK(dispute::may_pick(way, facts_, pick));
            dispute::pick(way, facts_, pick);
        }
        ASSAY_ASSIGN(const auto opened, ask(unit_, ArrayLevel::kWitness, target, {}));
        const dispute::GameVerdict verdict = dispute::judge_way(way, facts_, opened.witness);
        if (verdict.claimant_wins()) return std::string();
        return "the ledger's referee refuses the tile: " + std::string(dispute::to_text(verdict.reason));
    }

    Outcome<std::vector<Hash256>> hashes_for(const Way& way, const dispute::ArrayPosition& target) {
        if (way.stage == WayStage::kArrays) {
            std::vector<Hash256> roots;
            for (const ArrayUnit unit : {ArrayUnit::kMergedParameters, ArrayUnit::kMergedOuter}) {
                ASSAY_ASSIGN(const auto tensors, tensor_roots(unit));
                roots.push_back(dispute::fold_array(facts_.tensors(), tensors));
            }
            return roots;
        }
        if (way.stage == WayStage::kTensors) return row_of_tensors(way);
        const ArrayLevel level = way.stage == WayStage::kTiles ? ArrayLevel::kTiles : ArrayLevel::kPartials;
        ASSAY_ASSIGN(auto answer, ask(unit_, level, target, way.row));
        return std::move(answer.hashes);
    }

    Outcome<std::vector<Hash256>> row_of_tensors(const Way& way) {
        ASSAY_ASSIGN(const auto roots, tensor_roots(unit_));
        std::vector<Hash256> leaves;
        for (std::size_t i = 0; i < roots.size(); ++i)
            leaves.push_back(program::tensor_leaf(facts_.tensors()[i], roots[i]));
        const dispute::StoredTree tree(std::move(leaves));
        const auto row = tree.row(way.row.height).subspan(way.row.first, way.row.nodes);
        return std::vector<Hash256>(row.begin(), row.end());
    }

    Outcome<std::vector<Hash256>> tensor_roots(ArrayUnit unit) {
        const std::uint64_t count = facts_.tensors().size();
        std::vector<Hash256> roots;
        for (std::uint64_t first = 0; first < count; first += dispute::kMaxMoveHashes) {
            const std::uint64_t nodes = std::min<std::uint64_t>(count - first, dispute::kMaxMoveHashes);
            ASSAY_ASSIGN(const auto answer, ask(unit, ArrayLevel::kTensors, {}, {0, first, nodes}));
            roots.insert(roots.end(), answer.hashes.begin(), answer.hashes.end());
        }
        if (roots.size() == count) return roots;
        return base::fail(base::ErrorKind::kFailure, "the worker gave another number of tensors than asked");
    }

    /// Of what was posted, what leads to the target.
    [[nodiscard]] std::uint64_t index_in(const Way& way, const dispute::ArrayPosition& target) const {
        if (way.stage == WayStage::kArrays) return unit_ == ArrayUnit::kMergedOuter ? 1 : 0;
        const std::uint64_t leaf = way.stage == WayStage::kTensors ? target.tensor
                                   : way.stage == WayStage::kTiles ? target.tile
                                                                   : target.partial;
        // The tile itself stands behind the partials that are posted.
        const bool is_tile = way.stage == WayStage::kPartials &&
                             target.partial + 1 == dispute::partial_count(facts_.array(unit_));
        return is_tile ? way.posted.size() : (leaf >> way.row.height) - way.row.first;
    }

    Outcome<dispute::DisputeAnswer> ask(ArrayUnit unit, ArrayLevel level, const dispute::ArrayPosition& at,
                                        const dispute::TreeRow& row) {
        request_.question = {.subject = subject_of(unit), .level = level, .at = at, .row = row};
        ASSAY_ASSIGN(auto answered, call_for<frames::Descended>(worker_, request_, files_));
        base::Encoder encoder;
        encoder(answers_, answered.first.answer);
        answers_ = base::hash("assay/audit/answers", std::move(encoder).take());
        return std::move(answered.first.answer);
    }

    WorkerClient& worker_;
    dispute::UnitFacts& facts_;
    ArrayUnit unit_;
    frames::DescendArray request_;
    const std::vector<frames::SharedDescriptor>& files_;
    Hash256 answers_;
};

}  // namespace

base::Failed<base::Error> computed_twice(const std::string& what) {
    return base::fail(base::ErrorKind::kPreflight,
                      "this machine computed one " + what + " twice with different results",
                      "check memory and cooling before auditing again");
}

bool tiles_are_judged(const dispute::UnitFacts& facts, dispute::ArrayUnit unit) {
    return dispute::exists(facts.array(unit), dispute::ArrayPosition{});
}

Outcome<std::string> play_tile(WorkerClient& worker, dispute::UnitFacts& facts, dispute::ArrayUnit unit,
                               const dispute::ArrayPosition& tile, frames::DescendArray request,
                               const std::vector<frames::SharedDescriptor>& files) {
    TileGame first(worker, facts, unit, request, files);
    ASSAY_ASSIGN(std::string wrong, first.play(tile));
    if (wrong.empty()) return wrong;
    TileGame second(worker, facts, unit, std::move(request), files);
    ASSAY_ASSIGN(const std::string again, second.play(tile));
    if (again != wrong || second.answers() != first.answers()) return computed_twice("tile");
    return wrong;
}

}  // namespace assay::node
