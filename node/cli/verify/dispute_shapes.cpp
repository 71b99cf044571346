// SPDX-License-Identifier: Apache-2.0
#include "node/cli/verify/dispute_shapes.hpp"

#include <algorithm>
#include <map>

#include "contracts/dispute/array_referee.hpp"
#include "contracts/dispute/clip_referee.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "node/cli/verify/shape_ends.hpp"
#include "node/cli/verify/shape_memory.hpp"
#include "node/cli/verify/shape_table.hpp"

namespace assay::node {

namespace {

using dispute::ArrayFacts;
using dispute::ArrayPosition;
using dispute::ArrayUnit;
using dispute::Cells;
using dispute::ClipFacts;
using dispute::FixedHashes;
using dispute::PartialPhase;
using dispute::PartialPosition;
using dispute::StepFacts;
using dispute::StoredTree;
using dispute::WayCost;

constexpr std::uint32_t kSegmentSteps = 128;
constexpr std::size_t kSlots = 256;

program::ModelConfig shape_model(program::Family family, bool small) {
    program::ModelConfig out{.layers = 1,
                             .width = small ? 1'024U : 4'096U,
                             .heads = small ? 8U : 32U,
                             .context = small ? 512U : 2'048U,
                             .vocabulary = small ? 5'025U : 50'257U};
    if (family == program::Family::kGpt2) return out;
    out.family = family;
    out.kv_heads = out.heads / 4;
    out.hidden = small ? 2'752 : 11'008;
    out.rope_theta = 10'000.0F;
    out.head = program::Head::kUntied;
    return out;
}

program::JobSpec shape_spec(const program::ModelConfig& model, program::Profile profile) {
    program::JobSpec spec;
    spec.name = "shapes";
    spec.profile = profile;
    spec.slots = 1;
    spec.rounds = 1;
    spec.model = model;
    spec.train.inner_steps = kSegmentSteps;
    spec.train.batch = 4;
    spec.train.warmup_steps = 1;
    spec.train.learning_rate = 1e-3F;
    spec.data.train_tokens = 10'000'000;
    return spec;
}

std::string group_of(program::Phase phase) {
    switch (phase) {
        case program::Phase::kForward:
        case program::Phase::kEitherWay: return "forward";
        case program::Phase::kBackward: return "backward";
        case program::Phase::kOncePerStep: break;
    }
    return "optimizer";
}

WayCost way_through(std::initializer_list<std::uint64_t> levels) {
    WayCost out;
    for (const std::uint64_t leaves : levels) {
        out.moves += dispute::way_cost(leaves).moves;
        out.hashes += dispute::way_cost(leaves).hashes;
    }
    return out;
}

/// A partial of each phase that is in the middle of the list, and the last.
std::vector<std::uint64_t> sample_partials(const StepFacts& facts, PartialPosition at, std::uint64_t count) {
    std::map<PartialPhase, std::uint64_t> found;
    for (at.partial = 0; at.partial < count; ++at.partial) {
        const PartialPhase phase = partial_place(facts, at).phase;
        if (at.partial + 1 == count || !found.contains(phase) || at.partial < count / 2)
            found[phase] = at.partial;
    }
    std::vector<std::uint64_t> out;
    for (const auto& [phase, partial] : found) out.push_back(partial);
    return out;
}

/// A tile in the middle whose row and columns are full, and, of a square, seen.
std::uint64_t middle_tile(const StepFacts& facts, program::TensorId id, const dispute::Columns& columns) {
    const std::uint64_t across = (facts.cols(id) + 15) / 16;
    const std::uint64_t down = (facts.rows(id) + 15) / 16;
    return (down - 1 - down / 2) * across + std::min(columns.first / 16 + (across > 64 ? 5 : 0), across - 1);
}

/// Measures the units of one job.
class ShapeRun {
public:
    ShapeRun(const program::JobSpec& spec, const ShapeSetting& setting, ShapeTable& table)
        : spec_(spec),
          setting_(setting),
          table_(table),
          program_(program::build_step_program(spec.model, spec.train, spec.profile)),
          facts_(dispute::facts_of(spec, program_, {})),
          file_(program::token_file_size(spec.data.train_tokens, spec.model.vocabulary), 0),
          memory_(facts_, file_, setting.pattern) {}

    void operators() {
        std::map<std::string_view, bool> seen;
        for (std::uint32_t i = 0; i < program_.operators.size(); ++i) {
            const program::Operator& one = program_.operators[i];
            if (!seen.try_emplace(one.row().name, true).second) continue;
            DisputeShape* const row =
                table_.row(std::string(one.row().name), group_of(one.row().phase), setting_.profile);
            if (row == nullptr) continue;
            for (std::uint32_t o = 0; o < one.outputs.size(); ++o) {
                PartialPosition at{
                    0, 0, i, o, middle_tile(facts_, one.outputs[o], written_columns(facts_, i, o)), 0};
                // All tokens of the file are 0, whose row of the embedding alone has a gradient.
                const bool sums_by_token = one.row().operands[0].role == program::TensorRole::kTokens &&
                                           one.row().phase == program::Phase::kBackward;
                if (sums_by_token) at.tile = 0;
                tile(at, *row);
            }
        }
    }
    void arrays() {
        for (const program::StrategyRow* const row : program::strategies())
            array(*row, ArrayUnit::kUpdate, "update, " + std::string(row->codec->word), "finalise");
        const program::StrategyRow& row = program::strategy_of(spec_);
        array(row, ArrayUnit::kMergedParameters, "merge, parameters", "merge");
        array(row, ArrayUnit::kMergedOuter, "merge, momentum", "merge");
        clip();
    }
    void ends() { measure_ends(spec_, program_, facts_, setting_, table_); }

private:
    void tile(PartialPosition at, DisputeShape& row) {
        memory_.forget();
        const std::vector<Cells> partials = compute_partials(at, memory_);
        const StoredTree tree = partial_tree(partials);
        const program::TensorId id = facts_.output(at.operator_index, at.output);
        const std::uint64_t width = dispute::extent_of(facts_.rows(id), facts_.cols(id), at.tile).width;
        row.partials = std::max<std::uint64_t>(row.partials, partials.size());
        const WayCost way =
            way_through({kSegmentSteps, facts_.outputs(), facts_.tiles(id), partials.size() - 1});
        for (const std::uint64_t partial : sample_partials(facts_, at, partials.size())) {
            at.partial = partial;
            const base::Bytes witness = make_witness(at, memory_, partials, tree);
            const bool is_last = partial + 1 == partials.size();
            const FixedHashes fixed{
                .claimed = is_last ? tile_hash(partials[partial], width) : partial_hash(partials[partial]),
                .outputs = memory_.outputs_root(),
                .partials = tree.root(),
                .data = memory_.data(),
                .states = {memory_.state_root()},
                .arrays = {}};
            note_verdicts(row, setting_, way, witness.size(),
                          [&] { return judge(facts_, at, fixed, witness); });
        }
    }
    void array(const program::StrategyRow& strategy, ArrayUnit unit, const std::string& name,
               const std::string& group) {
        DisputeShape* const row = table_.row(name, group, setting_.profile);
        if (row == nullptr) return;
        memory_.forget();
        const auto& tensors = program_.parameters;
        ArrayFacts facts{unit, &tensors, &strategy, program::round_settings(spec_), {}};
        if (unit != ArrayUnit::kUpdate) facts.slots.assign(kSlots, {{}, 1'000, 60'000});
        const auto largest = std::max_element(
            tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
        const std::uint64_t tiles = arithmetic::tile_count(largest->rows, largest->cols);
        ArrayPosition at{static_cast<std::uint32_t>(largest - tensors.begin()), tiles / 2, 0};
        const std::vector<Cells> partials = compute_partials(facts, at, memory_);
        const StoredTree tree = partial_tree(partials);
        row->partials = partials.size();
        // Of a merge, both arrays are posted first.
        WayCost way = way_through({tensors.size(), tiles, partials.size() - 1});
        if (unit != ArrayUnit::kUpdate) way = {way.moves + 1, way.hashes + 2};
        for (at.partial = 0; at.partial < partials.size(); ++at.partial) {
            const base::Bytes witness = make_witness(facts, at, memory_, partials, tree);
            const bool is_last = at.partial + 1 == partials.size();
            FixedHashes fixed{
                .claimed = is_last ? tile_hash(partials[at.partial], 16) : partial_hash(partials[at.partial]),
                .outputs = {},
                .partials = tree.root(),
                .data = {},
                .states = {memory_.state_root(), memory_.state_root()},
                .arrays = {}};
            fixed.arrays.assign(facts.slots.size(), memory_.array_root());
            note_verdicts(*row, setting_, way, witness.size(),
                          [&] { return judge(facts, at, fixed, witness); });
        }
    }
    void clip() {
        DisputeShape* const row = table_.row("merge, clip", "merge", setting_.profile);
        if (row == nullptr) return;
        memory_.forget();
        const ClipFacts facts{&program_.parameters, spec_.train.sum_exponent, 1.0F};
        const std::vector<Cells> partials = compute_partials(facts, memory_);
        const StoredTree tree = partial_tree(partials);
        row->partials = partials.size();
        const WayCost way = way_through({partials.size() - 1});
        for (const std::uint64_t partial : {partials.size() / 2, partials.size() - 1}) {
            const base::Bytes witness = make_witness(facts, partial, memory_, partials, tree);
            const FixedHashes fixed{.claimed = partial_hash(partials[partial]),
                                    .outputs = {},
                                    .partials = tree.root(),
                                    .data = {},
                                    .states = {},
                                    .arrays = {memory_.array_root()}};
            note_verdicts(*row, setting_, way, witness.size(),
                          [&] { return judge(facts, partial, fixed, witness); });
        }
    }

    const program::JobSpec& spec_;
    const ShapeSetting& setting_;
    ShapeTable& table_;
    program::Program program_;
    StepFacts facts_;
    base::Bytes file_;
    ShapeMemory memory_;
};

}  // namespace

std::vector<DisputeShape> dispute_shapes(const ShapeOptions& options,
                                         const std::function<void(const std::string&)>& note) {
    ShapeTable table(options.only);
    for (const NumberPattern pattern : {NumberPattern::kOrdinary, NumberPattern::kSubnormal}) {
        for (const auto profile : {program::Profile::kF32, program::Profile::kI16}) {
            for (const auto family : {program::Family::kGpt2, program::Family::kLlama}) {
                const std::string numbers = pattern == NumberPattern::kOrdinary ? "" : ", subnormal";
                note("disputes, " + std::string(to_text(family)) + ", " + std::string(to_text(profile)) +
                     numbers);
                const program::JobSpec spec = shape_spec(shape_model(family, options.small), profile);
                const ShapeSetting setting{profile, pattern, std::max(1, options.runs)};
                ShapeRun run(spec, setting, table);
                run.operators();
                // What follows depends on tensors alone: GPT-2's head is the largest of both families.
                if (family != program::Family::kGpt2) continue;
                run.arrays();
                run.ends();
            }
        }
    }
    return table.rows();
}

}  // namespace assay::node
