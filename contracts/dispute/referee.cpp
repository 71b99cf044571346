// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/referee.hpp"

#include <algorithm>
#include <cmath>

#include "contracts/base/check.hpp"
#include "contracts/dispute/work.hpp"

namespace assay::dispute {

namespace {
// Answers the shape of laws, which read nothing before they compute.
class NoReader final : public OpeningReader {
protected:
    void load_tile(const Source&, std::uint64_t, Tile&) override {}
    void load_wholes(const Source&, std::uint64_t, Cells&) override {}
    void load_partial(std::uint64_t, Cells&) override {}
    void load_piece(std::uint64_t, base::Bytes&) override {}
    [[nodiscard]] const StepFacts* facts() const override { return nullptr; }
};

bool has_tile(const StepFacts& facts, const PartialPosition& position) {
    const auto& operators = facts.program->operators;
    if (position.operator_index >= facts.operators()) return false;
    if (position.output >= operators[position.operator_index].outputs.size()) return false;
    return position.tile < facts.tiles(facts.output(position.operator_index, position.output));
}

std::unique_ptr<PartialLaw> law_of(TileWork& work) { return partial_row(work.op().kind).law(work); }

// Calls use(law) on the law of the position's tile.
template <class Use>
auto with_law(const StepFacts& facts, const PartialPosition& position, OpeningReader& reader,
              const Use& use) {
    TileWork work(facts, position.operator_index, position.output, position.tile, reader);
    const std::unique_ptr<PartialLaw> law = law_of(work);
    return use(work, *law);
}

// The claimed value, from the front of a witness.
Cells claimed_value(WitnessReader& reader, CellShape shape, const Hash256& claimed, std::size_t tile_width) {
    const base::ByteView bytes = reader.take(shape.bytes());
    if (reader.refusal()) return Cells::of(shape);
    Cells out = decode_cells(shape, bytes);
    const Hash256 hash = tile_width != 0 ? tile_hash(out, tile_width) : partial_hash(out);
    if (hash != claimed) reader.refuse(GameReason::kNotClaimed);
    return out;
}

// The verdict on a computed partial.
GameVerdict compare(const Cells& claimed, const Cells& computed, bool has_to_be_finite) {
    for (std::size_t i = 0; i < computed.size(); ++i) {
        const bool diverges =
            has_to_be_finite && computed.kind == CellKind::kReal && !std::isfinite(computed.real[i]);
        if (!diverges && claimed.bits(i) == computed.bits(i)) continue;
        return {.outcome = GameOutcome::kClaimantLoses,
                .reason = diverges ? GameReason::kDiverges : GameReason::kDiffers,
                .cell = i,
                .claimed = claimed.bits(i),
                .computed = computed.bits(i)};
    }
    return {.outcome = GameOutcome::kClaimantWins, .reason = GameReason::kAgrees};
}
}  // namespace

std::string_view to_text(GameOutcome outcome) {
    switch (outcome) {
        case GameOutcome::kClaimantWins: return "claimant_wins";
        case GameOutcome::kClaimantLoses: return "claimant_loses";
        case GameOutcome::kJobVoid: break;
    }
    return "job_void";
}

namespace detail {
GameVerdict refused(const OpeningReader& reader) {
    return {.outcome = reader.is_void() ? GameOutcome::kJobVoid : GameOutcome::kClaimantLoses,
            .reason = *reader.refusal()};
}

GameVerdict verdict_on(WitnessReader& reader, const ClaimedPartial& claim,
                       const std::function<Cells()>& compute) {
    const Cells claimed = claimed_value(reader, claim.shape, claim.hash, claim.tile_width);
    if (reader.refusal()) return refused(reader);
    const Cells computed = compute();
    if (!reader.refusal() && reader.left() != 0) reader.refuse(GameReason::kWitnessTrails);
    if (reader.refusal()) return refused(reader);
    return compare(claimed, computed, claim.has_to_be_finite);
}
}  // namespace detail

std::uint64_t partial_count(const StepFacts& facts, const PartialPosition& position) {
    ASSAY_CHECK(has_tile(facts, position));
    NoReader none;
    return with_law(facts, position, none, [](TileWork&, const PartialLaw& law) { return law.partials(); });
}

bool exists(const StepFacts& facts, const PartialPosition& position) {
    return has_tile(facts, position) && position.partial < partial_count(facts, position);
}

PartialPlace partial_place(const StepFacts& facts, const PartialPosition& position) {
    ASSAY_CHECK(exists(facts, position));
    NoReader none;
    return with_law(facts, position, none,
                    [&](TileWork&, const PartialLaw& law) { return law.place(position.partial); });
}

DisputeCost longest_dispute(const StepFacts& facts, std::uint32_t steps) {
    DisputeCost out;
    for (std::uint32_t i = 0; i < facts.operators(); ++i) {
        for (std::uint32_t o = 0; o < facts.program->operators[i].outputs.size(); ++o) {
            const std::uint64_t tiles = facts.tiles(facts.output(i, o));
            // Tiles of one output differ in their partials only where heads or sequences end in them.
            const std::uint64_t first = written_columns(facts, i, o).first / arithmetic::kTile;
            for (const std::uint64_t tile : {std::uint64_t{0}, first, tiles / 2, tiles - 1}) {
                const std::uint64_t partials = partial_count(facts, {0, 0, i, o, tile, 0});
                DisputeCost cost{1, kMaxWitnessBytes};
                for (const std::uint64_t leaves :
                     {std::uint64_t{steps}, std::uint64_t{facts.outputs()}, tiles, partials - 1}) {
                    cost.moves += way_cost(leaves).moves;
                    cost.bytes += way_cost(leaves).hashes * sizeof(Hash256::bytes);
                }
                // Nothing has fixed a single partial before the tile: it is posted all the same.
                if (partials == 2) {
                    ++cost.moves;
                    cost.bytes += sizeof(Hash256::bytes);
                }
                out.moves = std::max(out.moves, cost.moves);
                out.bytes = std::max(out.bytes, cost.bytes);
            }
        }
    }
    return out;
}

GameVerdict judge(const StepFacts& facts, const PartialPosition& position, const FixedHashes& fixed,
                  base::ByteView witness) {
    if (!exists(facts, position)) return {.reason = GameReason::kPosition};
    if (witness.size() > kMaxWitnessBytes) return {.reason = GameReason::kWitnessSize};
    ASSAY_CHECK(fixed.states.size() == 1);
    WitnessReader reader(&facts, facts.program->parameters, fixed, partial_count(facts, position), witness);
    return with_law(facts, position, reader, [&](TileWork& work, PartialLaw& law) {
        const bool is_last = position.partial + 1 == law.partials();
        return detail::verdict_on(reader,
                                  {law.shape(position.partial), fixed.claimed, is_last ? work.at().width : 0,
                                   is_last && facts.diverged_at != position.operator_index},
                                  [&] { return law.compute(position.partial); });
    });
}

base::Bytes make_witness(const PartialPosition& position, StepMemory& memory,
                         const std::vector<Cells>& partials, const StoredTree& tree) {
    ASSAY_CHECK(exists(*memory.facts(), position) && position.partial < partials.size());
    Prover prover(memory, partials, &tree);
    return with_law(*memory.facts(), position, prover, [&](TileWork&, PartialLaw& law) {
        base::Bytes out = encode_cells(partials[position.partial]);
        [[maybe_unused]] const Cells computed = law.compute(position.partial);
        const base::Bytes openings = prover.take_openings();
        out.insert(out.end(), openings.begin(), openings.end());
        return out;
    });
}

Cells compute_partial(const StepFacts& facts, const PartialPosition& position, OpeningReader& reader) {
    ASSAY_CHECK(exists(facts, position));
    return with_law(facts, position, reader,
                    [&](TileWork&, PartialLaw& law) { return law.compute(position.partial); });
}

std::vector<Cells> compute_partials(const PartialPosition& position, StepMemory& memory) {
    const std::uint64_t count = partial_count(*memory.facts(), position);
    std::vector<Cells> partials;
    PartialPosition at = position;
    for (at.partial = 0; at.partial < count; ++at.partial) {
        // A reader of its own, so that none holds more than one partial reads.
        Prover reader(memory, partials, nullptr);
        partials.push_back(compute_partial(*memory.facts(), at, reader));
    }
    return partials;
}

StoredTree partial_tree(const std::vector<Cells>& partials) {
    std::vector<Hash256> hashes;
    for (std::size_t i = 0; i + 1 < partials.size(); ++i) hashes.push_back(partial_hash(partials[i]));
    return StoredTree(std::move(hashes));
}

}  // namespace assay::dispute
