// SPDX-License-Identifier: Apache-2.0
// Updates and merges: partials give what the job's law gives, one number off loses, the truth wins.
#include <bit>
#include <limits>
#include <random>

#include "contracts/dispute/array_referee.hpp"
#include "contracts/dispute/clip_referee.hpp"
#include "contracts/dispute/commitments.hpp"
#include "contracts/dispute/unit.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay;
using namespace assay::dispute;
using program::StateComponent;

std::vector<program::TensorInfo> tensors() {
    std::vector<program::TensorInfo> out = {{.name = "a", .rows = 20, .cols = 33},
                                            {.name = "b", .rows = 1, .cols = 7}};
    out[1].offset = out[0].size();
    return out;
}

StoredTree whole_tiles(const program::TensorInfo& tensor, std::span<const std::int64_t> values) {
    std::vector<Hash256> leaves;
    for (std::uint64_t n = 0; n < arithmetic::tile_count(tensor.rows, tensor.cols); ++n) {
        const TileExtent at = extent_of(tensor.rows, tensor.cols, n);
        Cells cells{CellKind::kWhole, {}, {}};
        for (std::uint64_t i = 0; i < at.height; ++i) {
            for (std::uint64_t j = 0; j < at.width; ++j) {
                cells.whole.push_back(values[(at.row + i) * tensor.cols + at.col + j]);
            }
        }
        leaves.push_back(tile_hash(cells, at.width));
    }
    return StoredTree(std::move(leaves));
}

// Two states and the updates of many slots.
class Arrays final : public StepMemory {
public:
    Arrays(const program::StrategyRow& row, std::size_t slots) {
        std::mt19937_64 random(slots);
        std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
        for (std::size_t i = 0; i < numbers(); ++i) {
            base.push_back(uniform(random));
            end.push_back(base.back() + uniform(random) * 1e-3F);
            outer.push_back(uniform(random));
        }
        for (std::size_t s = 0; s < slots; ++s) {
            std::vector<float> other = end;
            for (float& value : other) value += uniform(random) * 1e-2F;
            updates.emplace_back(numbers());
            REQUIRE(row.codec->finalise(settings, base, other, updates.back()));
            weights.push_back({{}, 1 + random() % 1'000, s % 3 == 0 ? arithmetic::kWholeClip : 30'000U});
        }
    }
    static std::size_t numbers() { return 20 * 33 + 7; }
    [[nodiscard]] Hash256 state(std::uint32_t index) { return components(index).root(); }
    [[nodiscard]] Hash256 update(std::size_t slot) {
        return above({.from = Source::From::kArray, .array = static_cast<std::uint32_t>(slot)}).root();
    }
    [[nodiscard]] FixedHashes fixed() {
        FixedHashes out{.claimed = {},
                        .outputs = {},
                        .partials = {},
                        .data = {},
                        .states = {state(0), state(1)},
                        .arrays = {}};
        for (std::size_t s = 0; s < updates.size(); ++s) out.arrays.push_back(update(s));
        return out;
    }

    [[nodiscard]] const StepFacts* facts() const override { return nullptr; }
    void tile(const Source& source, std::uint64_t number, Tile& out) override {
        const TileExtent at = extent_of(source.rows, source.cols, number);
        const std::span<const float> values = part(source);
        for (std::uint64_t i = 0; i < at.height; ++i) {
            for (std::uint64_t j = 0; j < at.width; ++j) {
                out[i * 16 + j] = values[(at.row + i) * source.cols + at.col + j];
            }
        }
    }
    void wholes(const Source& source, std::uint64_t number, Cells& out) override {
        const TileExtent at = extent_of(source.rows, source.cols, number);
        const auto& info = list_[source.number];
        for (std::uint64_t i = 0; i < out.size(); ++i) {
            out.whole[i] = updates[source.array][info.offset + (at.row + i / at.width) * source.cols +
                                                 at.col + i % at.width];
        }
    }
    const StoredTree& tiles(const Source& source) override {
        Source one = source;
        one.rows = list_[source.number].rows;
        one.cols = list_[source.number].cols;
        const auto& info = list_[source.number];
        tree_ = source.from == Source::From::kArray
                    ? whole_tiles(info, std::span(updates[source.array]).subspan(info.offset, info.size()))
                    : tile_tree(one.rows, one.cols, part(one));
        return tree_;
    }
    const StoredTree& above(const Source& source) override {
        std::vector<Hash256> leaves;
        for (std::uint32_t i = 0; i < list_.size(); ++i) {
            Source one = source;
            one.number = i;
            leaves.push_back(program::tensor_leaf(list_[i], tiles(one).root()));
        }
        above_ = StoredTree(std::move(leaves));
        return above_;
    }
    const StoredTree& components(std::uint32_t index) override {
        program::StateRoots roots;
        roots.parameters = program::array_root(list_, index == 0 ? base : end);
        roots.outer = program::array_root(list_, outer);
        const auto leaves = program::component_leaves(roots);
        components_ = StoredTree({leaves.begin(), leaves.end()});
        return components_;
    }
    void piece(std::uint64_t, base::Bytes&, std::vector<Hash256>&) override {}

    program::RoundSettings settings{-40, 0.7F, 0.9F};
    std::vector<float> base, end, outer;
    std::vector<std::vector<std::int64_t>> updates;
    std::vector<arithmetic::WeightedUpdate> weights;

private:
    [[nodiscard]] std::span<const float> part(const Source& source) const {
        const auto& info = list_[source.number];
        const auto component = static_cast<StateComponent>(source.array);
        const std::vector<float>& array = component == StateComponent::kOuter ? outer
                                          : source.state == 0                 ? base
                                                                              : end;
        return std::span(array).subspan(info.offset, info.size());
    }
    std::vector<program::TensorInfo> list_ = tensors();
    StoredTree tree_, above_, components_;
};

// All numbers by their laws, tile by tile; each tile judged as it is, and with one number off.
template <class Number>
void check_unit(const ArrayFacts& facts, Arrays& memory, const std::vector<Number>& wanted) {
    for (std::uint32_t t = 0; t < facts.tensors->size(); ++t) {
        const program::TensorInfo& info = (*facts.tensors)[t];
        for (std::uint64_t n = 0; n < arithmetic::tile_count(info.rows, info.cols); ++n) {
            ArrayPosition at{t, n, 0};
            const std::vector<Cells> partials = compute_partials(facts, at, memory);
            const TileExtent extent = extent_of(info.rows, info.cols, n);
            for (std::size_t i = 0; i < partials.back().size(); ++i) {
                const Number value = wanted[info.offset + (extent.row + i / extent.width) * info.cols +
                                            extent.col + i % extent.width];
                if constexpr (std::is_same_v<Number, float>) {
                    REQUIRE(std::bit_cast<std::uint32_t>(value) ==
                            std::bit_cast<std::uint32_t>(partials.back().real[i]));
                } else {
                    REQUIRE(value == static_cast<std::int64_t>(partials.back().whole[i]));
                }
            }
            for (at.partial = 0; at.partial < partials.size(); ++at.partial) {
                for (const bool lies : {false, true}) {
                    std::vector<Cells> claimed = partials;
                    Cells& cells = claimed[at.partial];
                    if (lies && cells.kind == CellKind::kReal) {
                        cells.real[0] = std::nextafter(cells.real[0], 2.0F);
                    } else if (lies) {
                        cells.whole[0] += 1;
                    }
                    FixedHashes fixed = memory.fixed();
                    const StoredTree tree = partial_tree(claimed);
                    fixed.partials = tree.root();
                    fixed.claimed = at.partial + 1 == partials.size() ? tile_hash(cells, extent.width)
                                                                      : partial_hash(cells);
                    const base::Bytes witness = make_witness(facts, at, memory, claimed, tree);
                    CHECK(witness.size() <= kMaxWitnessBytes);
                    const GameVerdict verdict = judge(facts, at, fixed, witness);
                    CHECK(to_text(verdict.reason) == (lies ? "differs" : "agrees"));
                    base::Bytes other = witness;
                    other[other.size() / 2] ^= 1;
                    CHECK_FALSE(judge(facts, at, fixed, other).claimant_wins());
                }
            }
        }
    }
}
}  // namespace

TEST_CASE("a tile of an update follows from two states") {
    const auto list = tensors();
    for (const program::StrategyRow* const row : program::strategies()) {
        Arrays memory(*row, 1);
        std::vector<std::int64_t> wanted(Arrays::numbers());
        REQUIRE(row->codec->finalise(memory.settings, memory.base, memory.end, wanted));
        check_unit<std::int64_t>({ArrayUnit::kUpdate, &list, row, memory.settings, {}}, memory, wanted);
    }
}

TEST_CASE("a tile of a merge follows from the updates of its slots") {
    const auto list = tensors();
    const program::StrategyRow& row = *program::strategies().front();
    for (const std::size_t slots : {1U, 65U}) {
        Arrays memory(row, slots);
        std::vector<program::Contribution> contributions;
        for (std::size_t s = 0; s < slots; ++s) {
            contributions.push_back({memory.updates[s], memory.weights[s].weight, memory.weights[s].clip});
        }
        std::vector<float> parameters = memory.base;
        std::vector<float> outer = memory.outer;
        row.outer->merge(memory.settings, contributions, parameters, outer);
        check_unit<float>({ArrayUnit::kMergedParameters, &list, &row, memory.settings, memory.weights},
                          memory, parameters);
        check_unit<float>({ArrayUnit::kMergedOuter, &list, &row, memory.settings, memory.weights}, memory,
                          outer);
    }
}

TEST_CASE("an update that no codec gives, and sums that no merge reaches, are refused") {
    const auto list = tensors();
    const program::StrategyRow& row = *program::strategies().front();
    Arrays memory(row, 65);
    const ArrayFacts facts{ArrayUnit::kMergedParameters, &list, &row, memory.settings, memory.weights};
    ArrayPosition at{0, 0, 0};
    std::vector<Cells> partials = compute_partials(facts, at, memory);
    const auto verdict = [&] {
        FixedHashes fixed = memory.fixed();
        const StoredTree tree = partial_tree(partials);
        fixed.partials = tree.root();
        fixed.claimed = at.partial + 1 == partials.size() ? tile_hash(partials[at.partial], 16)
                                                          : partial_hash(partials[at.partial]);
        return judge(facts, at, fixed, make_witness(facts, at, memory, partials, tree));
    };
    memory.updates[3][0] = std::int64_t{1} << 62;
    CHECK(to_text(verdict().reason) == "out_of_range");
    memory.updates[3][0] = std::numeric_limits<std::int64_t>::min();
    CHECK(to_text(verdict().reason) == "out_of_range");
    memory.updates[3][0] = 0;
    for (at.partial = 1; at.partial < partials.size(); ++at.partial) {
        partials[at.partial - 1].whole[0] = static_cast<base::Int128>(base::Uint128{1} << 127);
        CHECK(to_text(verdict().reason) == "out_of_range");
    }
}

TEST_CASE("a merge whose clips or weights are out of range has a verdict, and everybody can play to it") {
    const auto list = tensors();
    const program::StrategyRow& row = *program::strategies().front();
    using Share = std::pair<std::uint64_t, std::uint32_t>;
    for (const auto& [weight, clip] :
         {Share{1, arithmetic::kWholeClip + 1}, Share{1, UINT32_MAX}, Share{0, 7}, Share{UINT64_MAX, 7}}) {
        CAPTURE(weight, clip);
        Arrays memory(row, 65);
        memory.weights[2] = {{}, weight, clip};
        for (const ArrayUnit unit : {ArrayUnit::kMergedParameters, ArrayUnit::kMergedOuter}) {
            const ArrayFacts facts{unit, &list, &row, memory.settings, memory.weights};
            ArrayPosition at{0, 1, 0};
            CHECK(exists(facts, at));
            // What a challenger compares with, and what its claimant may open.
            const std::vector<Cells> partials = compute_partials(facts, at, memory);
            const StoredTree tree = partial_tree(partials);
            FixedHashes fixed = memory.fixed();
            fixed.partials = tree.root();
            for (; at.partial < partials.size(); ++at.partial) {
                fixed.claimed = at.partial + 1 == partials.size() ? tile_hash(partials[at.partial], 16)
                                                                  : partial_hash(partials[at.partial]);
                const GameVerdict verdict =
                    judge(facts, at, fixed, make_witness(facts, at, memory, partials, tree));
                CHECK(to_text(verdict.outcome) == "claimant_loses");
                CHECK(to_text(verdict.reason) == "out_of_range");
            }
        }
    }
}

TEST_CASE("an update out of range and a base that is not finite have verdicts") {
    const auto list = tensors();
    for (const program::StrategyRow* const row : program::strategies()) {
        Arrays memory(*row, 1);
        const ArrayFacts facts{ArrayUnit::kUpdate, &list, row, memory.settings, {}};
        const ArrayPosition at{0, 0, 0};
        const std::vector<Cells> partials = compute_partials(facts, at, memory);
        const auto verdict = [&] {
            FixedHashes fixed = memory.fixed();
            fixed.claimed = tile_hash(partials[0], 16);
            return judge(facts, at, fixed, make_witness(facts, at, memory, partials, partial_tree(partials)));
        };
        CHECK(verdict().claimant_wins());
        const auto ended = [&](std::uint64_t tile) {
            return judge_update_divergence(facts, memory.fixed(),
                                           update_divergence_witness(facts, 0, tile, memory));
        };
        CHECK(to_text(ended(0).reason) == "differs");
        memory.end[5] = 3e38F;
        CHECK(to_text(verdict().reason) == "diverges");
        CHECK(ended(0).claimant_wins());
        CHECK(to_text(ended(1).reason) == "differs");
        base::Bytes other = update_divergence_witness(facts, 0, 0, memory);
        other.back() ^= 1;
        CHECK(to_text(judge_update_divergence(facts, memory.fixed(), other).reason) == "not_opened");
        other[0] = 9;
        CHECK(to_text(judge_update_divergence(facts, memory.fixed(), other).reason) == "position");
        CHECK(to_text(judge_update_divergence(facts, memory.fixed(), {}).reason) == "witness_ends");
        memory.end[5] = std::numeric_limits<float>::infinity();
        CHECK(to_text(verdict().outcome) == "claimant_loses");
        CHECK(to_text(verdict().reason) == "not_finite");
        memory.base[5] = std::numeric_limits<float>::quiet_NaN();
        CHECK(to_text(verdict().outcome) == "job_void");
    }
}

TEST_CASE("every strategy's units have a referee; an update that is read as a whole has none") {
    for (const program::StrategyRow* const row : program::strategies()) {
        INFO(row->word << " " << row->codec->word);
        for (const UnitKind kind :
             {UnitKind::kSegment, UnitKind::kUpdate, UnitKind::kCarried, UnitKind::kMerge, UnitKind::kClip}) {
            INFO(to_text(kind));
            CHECK(has_referee(*row, kind));
        }
        program::UpdateCodec whole = *row->codec;
        whole.cut = program::ArrayCut::kNowhere;
        program::StrategyRow other = *row;
        other.codec = &whole;
        CHECK_FALSE(has_referee(other, UnitKind::kUpdate));
        CHECK(has_referee(other, UnitKind::kMerge));
        const program::OuterOptimizer unknown = *row->outer;
        other.outer = &unknown;
        CHECK_FALSE(has_referee(other, UnitKind::kMerge));
    }
}

TEST_CASE("a clip follows from the numbers of its update") {
    auto list = tensors();
    const program::StrategyRow& row = *program::strategies().front();
    Arrays memory(row, 1);
    for (const float bound : {1e-6F, 0.01F, 1e6F}) {
        const ClipFacts facts{&list, memory.settings.sum_exponent, bound};
        const std::vector<Cells> partials = compute_partials(facts, memory);
        REQUIRE(partials.size() == 2);
        const std::uint32_t clip = arithmetic::update_clip(facts.sum_exponent, bound, memory.updates[0]);
        CHECK(partials.back().whole[0] == clip);
        for (std::uint64_t partial = 0; partial < partials.size(); ++partial) {
            for (const bool lies : {false, true}) {
                std::vector<Cells> claimed = partials;
                claimed[partial].whole[0] += lies ? 1 : 0;
                FixedHashes fixed = memory.fixed();
                const StoredTree tree = partial_tree(claimed);
                fixed.partials = tree.root();
                fixed.claimed = partial_hash(claimed[partial]);
                const base::Bytes witness = make_witness(facts, partial, memory, claimed, tree);
                CHECK(to_text(judge(facts, partial, fixed, witness).reason) == (lies ? "differs" : "agrees"));
                base::Bytes other = witness;
                other[other.size() / 2] ^= 1;
                CHECK_FALSE(judge(facts, partial, fixed, other).claimant_wins());
            }
        }
        // Sums that no update reaches.
        for (const base::Int128 high : {base::Int128{-1}, base::Int128{1} << 35, base::Int128{1} << 100}) {
            std::vector<Cells> claimed = partials;
            claimed[0].whole[0] = high;
            FixedHashes fixed = memory.fixed();
            const StoredTree tree = partial_tree(claimed);
            fixed.partials = tree.root();
            fixed.claimed = partial_hash(claimed[1]);
            const base::Bytes witness = make_witness(facts, 1, memory, claimed, tree);
            CHECK(to_text(judge(facts, 1, fixed, witness).reason) == "out_of_range");
        }
        CHECK(to_text(judge(facts, 2, memory.fixed(), {}).reason) == "position");
    }
}
