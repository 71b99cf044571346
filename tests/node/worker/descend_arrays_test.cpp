// SPDX-License-Identifier: Apache-2.0
// What a worker gives for a dispute over an update, a merge or a clip: arrays fold from their tensors,
// tensors from their tiles, and the referee takes the witnesses.
#include "contracts/dispute/array_referee.hpp"
#include "contracts/dispute/clip_referee.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_head.hpp"
#include "contracts/program/state_root.hpp"
#include "tests/node/worker/player_machine.hpp"

using namespace assay;
using dispute::ArrayLevel;
using dispute::ArraySubject;
using tests::PlayerMachine;
using tests::root_of;
namespace frames = worker;

namespace {
using Files = std::vector<frames::SharedDescriptor>;

tests::TinyJob bounded_job() {
    tests::TinyJob job = tests::tiny_job();
    job.spec.train.max_update_norm = 1e-3F;
    return job;
}

struct ArrayPlayer {
    tests::TinyJob job = bounded_job();
    PlayerMachine machine{job};
    std::vector<program::TensorInfo> tensors = program::parameter_tensors(job.spec.model);
    base::Hash256 start;
    dispute::ArrayFacts facts;

    ArrayPlayer() {
        const auto rooted = tests::call_for<frames::Rooted>(
            *machine.worker, frames::Root{frames::BulkKind::kBaseState}, {machine.base});
        REQUIRE(rooted.ok());
        start = rooted->first.root;
        facts.tensors = &tensors;
        facts.row = &program::strategy_of(job.spec);
        facts.settings = program::round_settings(job.spec);
    }

    [[nodiscard]] base::Outcome<dispute::DisputeAnswer> try_ask(const frames::DescendArray& request,
                                                                const Files& files) const {
        auto out = tests::call_for<frames::Descended>(*machine.worker, request, files);
        if (!out.ok()) return base::failed(out.error());
        return out->first.answer;
    }
    [[nodiscard]] dispute::DisputeAnswer ask(const frames::DescendArray& request, const Files& files) const {
        const auto out = try_ask(request, files);
        if (!out.ok()) FAIL(out.error().what);
        return *out;
    }

    /// Checks partials and witnesses of a tile, whose hash is `tile`.
    void check_tile(frames::DescendArray request, const Files& files, dispute::FixedHashes fixed,
                    const base::Hash256& tile) const {
        dispute::ArrayPosition& at = request.question.at;
        std::vector<base::Hash256> partials;
        if (dispute::partial_count(facts) > 1) {
            request.question.level = ArrayLevel::kPartials;
            request.question.row = dispute::top_row(dispute::partial_count(facts) - 1);
            partials = ask(request, files).hashes;
        }
        fixed.partials = root_of(partials);
        partials.push_back(tile);
        request.question.level = ArrayLevel::kWitness;
        for (at.partial = 0; at.partial < partials.size(); ++at.partial) {
            fixed.claimed = partials[at.partial];
            const base::Bytes witness = ask(request, files).witness;
            CHECK(dispute::judge(facts, at, fixed, witness).claimant_wins());
            fixed.claimed = start;
            CHECK(dispute::judge(facts, at, fixed, witness).reason == dispute::GameReason::kNotClaimed);
        }
    }
    /// Descends into some tensors of the array; returns its root.
    [[nodiscard]] base::Hash256 descend(frames::DescendArray request, const Files& files,
                                        const dispute::FixedHashes& fixed) const {
        request.question.level = ArrayLevel::kTensors;
        request.question.row = {0, 0, tensors.size()};
        const auto roots = ask(request, files).hashes;
        for (std::uint32_t t = 0; t < tensors.size(); t += 5) {
            const auto count = arithmetic::tile_count(tensors[t].rows, tensors[t].cols);
            request.question.at = {t, 0, 0};
            request.question.level = ArrayLevel::kTiles;
            request.question.row = dispute::top_row(count);
            const auto tiles = ask(request, files).hashes;
            REQUIRE(root_of(tiles) == roots[t]);
            request.question.at.tile = count - 1;
            check_tile(request, files, fixed, tiles.back());
        }
        return dispute::fold_array(tensors, roots);
    }
};
}  // namespace

TEST_CASE("a worker leads a dispute over an update down to a witness") {
    ArrayPlayer player;
    const PlayerMachine& machine = player.machine;
    const program::RoundPlan plan(player.job.spec);
    Files files = program::narrowed(machine.states.back(), player.facts.row->lane_arrays,
                                    plan.start(plan.finalise()).arrays);
    files.insert(files.begin(), machine.base);
    frames::DescendArray request;
    request.question.subject = ArraySubject::kUpdate;
    request.end_root = machine.trace.boundaries.back();
    CHECK(player.descend(request, files, {{}, {}, {}, {}, {player.start, request.end_root}, {}}) ==
          machine.trace.update);
    // The update is in range: there is no divergence to show.
    request.question.level = ArrayLevel::kDivergence;
    const auto none = player.try_ask(request, files);
    REQUIRE_FALSE(none.ok());
    CHECK(none.error().what == "every number of the update is in range");
    request.end_root = player.start;
    CHECK(player.try_ask(request, files).error().kind == base::ErrorKind::kVerification);
}

TEST_CASE("a worker leads a dispute over a merge and its clip down to a witness") {
    ArrayPlayer player;
    const PlayerMachine& machine = player.machine;
    frames::Merge merge;
    merge.accepted = {{0, 3, machine.trace.update}};
    const auto merged =
        tests::call_for<frames::BaseStateFrame>(*machine.worker, merge, {machine.base, machine.update});
    REQUIRE(merged.ok());
    const std::uint32_t clip = merged->first.clips.at(0);
    REQUIRE(clip < arithmetic::kWholeClip);
    frames::DescendArray request;
    request.merged = {{0, 3, clip, machine.trace.update}};
    player.facts.slots = {{{}, 3, clip}};
    program::StateRoots next;
    next.step_count = player.job.spec.train.inner_steps;
    dispute::FixedHashes fixed{{}, {}, {}, {}, {player.start}, {machine.trace.update}};
    request.question.subject = ArraySubject::kMergedParameters;
    player.facts.unit = dispute::ArrayUnit::kMergedParameters;
    next.parameters = player.descend(request, {machine.base, machine.update}, fixed);
    request.question.subject = ArraySubject::kMergedOuter;
    player.facts.unit = dispute::ArrayUnit::kMergedOuter;
    next.outer = player.descend(request, {machine.base, machine.update}, fixed);
    CHECK(program::state_root(next) == merged->first.root);
    // The clip itself.
    const dispute::ClipFacts facts{&player.tensors, player.facts.settings.sum_exponent,
                                   player.job.spec.train.max_update_norm.value()};
    const std::uint64_t count = dispute::partial_count(facts);
    request.question.subject = ArraySubject::kClip;
    request.question.level = ArrayLevel::kPartials;
    request.question.row = dispute::top_row(count - 1);
    auto partials = player.ask(request, {machine.update}).hashes;
    fixed.partials = root_of(partials);
    partials.push_back(dispute::partial_hash({dispute::CellKind::kWhole, {}, {base::Int128{clip}}}));
    request.question.level = ArrayLevel::kWitness;
    for (std::uint64_t at = 0; at < count; ++at) {
        request.question.at.partial = at;
        fixed.claimed = partials[at];
        CHECK(
            dispute::judge(facts, at, fixed, player.ask(request, {machine.update}).witness).claimant_wins());
    }
}

TEST_CASE("a worker refuses weights and clips that no merge has, and answers the next request") {
    ArrayPlayer player;
    const PlayerMachine& machine = player.machine;
    frames::DescendArray request;
    request.question.subject = ArraySubject::kMergedParameters;
    request.question.level = ArrayLevel::kTensors;
    request.question.row = {0, 0, player.tensors.size()};
    using Share = std::pair<std::uint64_t, std::uint32_t>;
    for (const auto& [weight, clip] :
         {Share{1, arithmetic::kWholeClip + 1}, Share{1, UINT32_MAX}, Share{0, 1}, Share{UINT64_MAX, 1}}) {
        CAPTURE(weight, clip);
        request.merged = {{0, weight, clip, machine.trace.update}};
        for (const ArrayLevel level : {ArrayLevel::kTensors, ArrayLevel::kWitness}) {
            request.question.level = level;
            const auto refused = player.try_ask(request, {machine.base, machine.update});
            REQUIRE_FALSE(refused.ok());
            CHECK(refused.error().what.find("out of range") != std::string::npos);
        }
    }
    for (const std::uint64_t weight : {std::uint64_t{0}, UINT64_MAX}) {
        frames::Merge merge;
        merge.accepted = {{0, weight, machine.trace.update}};
        const auto refused =
            tests::call_for<frames::BaseStateFrame>(*machine.worker, merge, {machine.base, machine.update});
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().what.find("out of range") != std::string::npos);
    }
    request.question.level = ArrayLevel::kTensors;
    request.merged = {{0, 1, 1, machine.trace.update}};
    CHECK(player.ask(request, {machine.base, machine.update}).hashes.size() == player.tensors.size());
}
