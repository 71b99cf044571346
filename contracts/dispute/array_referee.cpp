// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/array_referee.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/program/strategies/merges.hpp"

namespace assay::dispute {

namespace {
using arithmetic::kTile;
using base::Int128;
using program::StateComponent;

// No sum of a merge reaches it: 2^10 slots · 2^32 · 2^16 · 2^62.
constexpr Int128 kWideEnd = Int128{1} << 121;

class ArrayWork {
public:
    ArrayWork(const ArrayFacts& facts, const ArrayPosition& position, OpeningReader& reader)
        : facts_(facts),
          position_(position),
          info_((*facts.tensors)[position.tensor]),
          at_(extent_of(info_.rows, info_.cols, position.tile)),
          reader_(reader) {}

    [[nodiscard]] const TileExtent& at() const { return at_; }
    [[nodiscard]] CellShape shape() const {
        const std::size_t count = at_.height * at_.width;
        if (facts_.unit == ArrayUnit::kUpdate) return {CellKind::kWhole, count};
        const bool is_tile = position_.partial + 1 == partial_count(facts_);
        return {is_tile ? CellKind::kReal : CellKind::kWide, count};
    }
    [[nodiscard]] Cells compute() {
        Cells out = Cells::of(shape());
        if (facts_.unit == ArrayUnit::kUpdate) {
            fill_update(out.whole);
        } else if (out.kind == CellKind::kWide) {
            fill_sums(out.whole);
        } else {
            fill_merged(out.real);
        }
        out.make_canonical();
        return out;
    }

private:
    // The tile's numbers in an array of a state.
    std::vector<float> state_numbers(std::uint32_t state, StateComponent component, bool is_jobs_own) {
        const Source source{.from = Source::From::kState,
                            .number = position_.tensor,
                            .array = static_cast<std::uint32_t>(component),
                            .state = state,
                            .rows = info_.rows,
                            .cols = info_.cols,
                            .columns = {0, info_.cols},
                            .is_jobs_own = is_jobs_own};
        const Tile& tile = reader_.tile(source, position_.tile);
        std::vector<float> out;
        for (std::uint64_t i = 0; i < at_.height; ++i) {
            for (std::uint64_t j = 0; j < at_.width; ++j) out.push_back(tile[i * kTile + j]);
        }
        return out;
    }

    void fill_update(std::vector<Int128>& out) {
        const std::vector<float> start = state_numbers(0, StateComponent::kParameters, true);
        const std::vector<float> end = state_numbers(1, StateComponent::kParameters, false);
        std::vector<std::int64_t> update(out.size());
        if (!facts_.row->codec->finalise(facts_.settings, start, end, update)) {
            return reader_.refuse(GameReason::kDiverges);
        }
        std::copy(update.begin(), update.end(), out.begin());
    }

    void fill_sums(std::vector<Int128>& out) {
        if (position_.partial > 0)
            out = reader_.partial(position_.partial - 1, {CellKind::kWide, out.size()}).whole;
        check(out);
        const std::vector<Int128> factors = merge_factors().factors;
        const std::uint64_t first = position_.partial * kTermSlots;
        const std::uint64_t last = std::min<std::uint64_t>(first + kTermSlots, factors.size());
        for (std::uint64_t slot = first; slot < last; ++slot) {
            const Source source{.from = Source::From::kArray,
                                .number = position_.tensor,
                                .array = static_cast<std::uint32_t>(slot),
                                .rows = info_.rows,
                                .cols = info_.cols,
                                .columns = {0, info_.cols}};
            const Cells update = reader_.wholes(source, position_.tile);
            for (std::size_t i = 0; i < out.size(); ++i) out[i] += update.whole[i] * factors[slot];
        }
    }

    void fill_merged(std::vector<float>& out) {
        const std::vector<Int128> sums =
            reader_.partial(position_.partial - 1, {CellKind::kWide, out.size()}).whole;
        std::vector<Int128> checked = sums;
        check(checked);
        std::vector<float> parameters = state_numbers(0, StateComponent::kParameters, true);
        std::vector<float> outer = state_numbers(0, StateComponent::kOuter, true);
        const std::uint64_t total = merge_factors().total;
        std::vector<float> mean;
        for (const Int128 sum : checked) {
            mean.push_back(arithmetic::merged_value(sum, total, facts_.settings.sum_exponent));
        }
        arithmetic::outer_nesterov(program::outer_coefficients(facts_.settings), mean, parameters, outer);
        out = facts_.unit == ArrayUnit::kMergedParameters ? parameters : outer;
    }

    // Weights and clips are the merge claim's: of one out of range nothing follows, and no number goes in.
    arithmetic::MergeFactors merge_factors() {
        if (std::all_of(facts_.slots.begin(), facts_.slots.end(), arithmetic::is_in_range))
            return arithmetic::merge_factors(facts_.slots);
        reader_.refuse(GameReason::kOutOfRange);
        return {std::vector<Int128>(facts_.slots.size(), 0), 1};
    }

    void check(std::vector<Int128>& sums) {
        for (Int128& sum : sums) {
            if (sum < kWideEnd && sum > -kWideEnd) continue;
            reader_.refuse(GameReason::kOutOfRange);
            sum = 0;
        }
    }

    const ArrayFacts& facts_;
    const ArrayPosition& position_;
    const program::TensorInfo& info_;
    TileExtent at_;
    OpeningReader& reader_;
};

bool is_judged(const ArrayFacts& facts) {
    return has_referee(*facts.row, facts.unit) && (facts.unit == ArrayUnit::kUpdate || !facts.slots.empty());
}
}  // namespace

bool has_referee(const program::StrategyRow& row, ArrayUnit unit) {
    if (unit == ArrayUnit::kUpdate) return row.codec->cut == program::ArrayCut::kAnywhere;
    return row.outer == &program::kOuterNesterov;
}

Hash256 fold_array(const std::vector<program::TensorInfo>& tensors, const std::vector<Hash256>& roots) {
    ASSAY_CHECK(tensors.size() == roots.size());
    std::vector<Hash256> leaves;
    for (std::size_t i = 0; i < roots.size(); ++i)
        leaves.push_back(program::tensor_leaf(tensors[i], roots[i]));
    return base::merkle_root(leaves);
}

std::uint64_t partial_count(const ArrayFacts& facts) {
    if (facts.unit == ArrayUnit::kUpdate) return 1;
    return (facts.slots.size() + kTermSlots - 1) / kTermSlots + 1;
}

bool exists(const ArrayFacts& facts, const ArrayPosition& position) {
    if (!is_judged(facts) || position.tensor >= facts.tensors->size()) return false;
    const program::TensorInfo& info = (*facts.tensors)[position.tensor];
    return position.tile < arithmetic::tile_count(info.rows, info.cols) &&
           position.partial < partial_count(facts);
}

GameVerdict judge(const ArrayFacts& facts, const ArrayPosition& position, const FixedHashes& fixed,
                  base::ByteView witness) {
    if (!exists(facts, position)) return {.reason = GameReason::kPosition};
    if (witness.size() > kMaxWitnessBytes) return {.reason = GameReason::kWitnessSize};
    const std::size_t states = facts.unit == ArrayUnit::kUpdate ? 2 : 1;
    ASSAY_CHECK(fixed.states.size() >= states && fixed.arrays.size() >= facts.slots.size());
    WitnessReader reader(nullptr, *facts.tensors, fixed, partial_count(facts), witness);
    ArrayWork work(facts, position, reader);
    const bool is_last = position.partial + 1 == partial_count(facts);
    return detail::verdict_on(reader, {work.shape(), fixed.claimed, is_last ? work.at().width : 0, is_last},
                              [&] { return work.compute(); });
}

GameVerdict judge_update_divergence(const ArrayFacts& facts, const FixedHashes& fixed,
                                    base::ByteView witness) {
    ASSAY_CHECK(facts.unit == ArrayUnit::kUpdate && fixed.states.size() >= 2);
    if (witness.size() > kMaxWitnessBytes) return {.reason = GameReason::kWitnessSize};
    ArrayPosition at;
    base::Decoder decoder(witness);
    decoder(at.tensor, at.tile);
    if (decoder.error()) return {.reason = GameReason::kWitnessEnds};
    if (!exists(facts, at)) return {.reason = GameReason::kPosition};
    WitnessReader reader(nullptr, *facts.tensors, fixed, 1, decoder.rest());
    [[maybe_unused]] const Cells computed = ArrayWork(facts, at, reader).compute();
    // A refusal is the divergence, or comes before it.
    const std::optional<GameReason> found = reader.refusal();
    if (!found) return {.reason = GameReason::kDiffers};
    if (*found != GameReason::kDiverges) return detail::refused(reader);
    if (reader.left() != 0) return {.reason = GameReason::kWitnessTrails};
    return {.outcome = GameOutcome::kClaimantWins, .reason = GameReason::kAgrees};
}

base::Bytes update_divergence_witness(const ArrayFacts& facts, std::uint32_t tensor, std::uint64_t tile,
                                      StepMemory& memory) {
    const ArrayPosition at{tensor, tile, 0};
    ASSAY_CHECK(exists(facts, at));
    const std::vector<Cells> none;
    const StoredTree empty;
    Prover prover(memory, none, &empty);
    [[maybe_unused]] const Cells computed = ArrayWork(facts, at, prover).compute();
    base::Encoder encoder;
    encoder(tensor, tile);
    base::Bytes out = std::move(encoder).take();
    const base::Bytes openings = prover.take_openings();
    out.insert(out.end(), openings.begin(), openings.end());
    return out;
}

base::Bytes make_witness(const ArrayFacts& facts, const ArrayPosition& position, StepMemory& memory,
                         const std::vector<Cells>& partials, const StoredTree& tree) {
    ASSAY_CHECK(exists(facts, position) && position.partial < partials.size());
    Prover prover(memory, partials, &tree);
    base::Bytes out = encode_cells(partials[position.partial]);
    [[maybe_unused]] const Cells computed = ArrayWork(facts, position, prover).compute();
    const base::Bytes openings = prover.take_openings();
    out.insert(out.end(), openings.begin(), openings.end());
    return out;
}

std::vector<Cells> compute_partials(const ArrayFacts& facts, const ArrayPosition& position,
                                    StepMemory& memory) {
    std::vector<Cells> partials;
    ArrayPosition at = position;
    for (at.partial = 0; at.partial < partial_count(facts); ++at.partial) {
        ASSAY_CHECK(exists(facts, at));
        Prover prover(memory, partials, nullptr);
        partials.push_back(ArrayWork(facts, at, prover).compute());
    }
    return partials;
}

}  // namespace assay::dispute
