// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/referee.hpp"

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
    void load_link(std::uint64_t, Cells&) override {}
    void load_piece(std::uint64_t, base::Bytes&) override {}
    [[nodiscard]] const StepFacts* facts() const override { return nullptr; }
};

bool has_tile(const StepFacts& facts, const LinkPosition& position) {
    const auto& operators = facts.program->operators;
    if (position.operator_index >= facts.operators()) return false;
    if (position.output >= operators[position.operator_index].outputs.size()) return false;
    return position.tile < facts.tiles(facts.output(position.operator_index, position.output));
}

std::unique_ptr<LinkLaw> law_of(TileWork& work) { return link_row(work.op().kind).law(work); }

// Calls use(law) on the law of the position's tile.
template <class Use>
auto with_law(const StepFacts& facts, const LinkPosition& position, OpeningReader& reader, const Use& use) {
    TileWork work(facts, position.operator_index, position.output, position.tile, reader);
    const std::unique_ptr<LinkLaw> law = law_of(work);
    return use(work, *law);
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

Cells claimed_value(WitnessReader& reader, CellShape shape, const Hash256& claimed, std::size_t tile_width) {
    const base::ByteView bytes = reader.take(shape.bytes());
    if (reader.refusal()) return Cells::of(shape);
    Cells out = decode_cells(shape, bytes);
    const Hash256 hash = tile_width != 0 ? tile_hash(out, tile_width) : link_hash(out);
    if (hash != claimed) reader.refuse(GameReason::kNotClaimed);
    return out;
}

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
}  // namespace detail

std::uint64_t link_count(const StepFacts& facts, const LinkPosition& position) {
    ASSAY_CHECK(has_tile(facts, position));
    NoReader none;
    return with_law(facts, position, none, [](TileWork&, const LinkLaw& law) { return law.links(); });
}

bool exists(const StepFacts& facts, const LinkPosition& position) {
    return has_tile(facts, position) && position.link < link_count(facts, position);
}

LinkPlace link_place(const StepFacts& facts, const LinkPosition& position) {
    ASSAY_CHECK(exists(facts, position));
    NoReader none;
    return with_law(facts, position, none,
                    [&](TileWork&, const LinkLaw& law) { return law.place(position.link); });
}

std::string describe(const StepFacts& facts, const LinkPosition& position) {
    ASSAY_CHECK(exists(facts, position));
    const program::Operator& one = facts.program->operators[position.operator_index];
    const program::TensorId id = facts.output(position.operator_index, position.output);
    const std::uint64_t across = (facts.cols(id) + arithmetic::kTile - 1) / arithmetic::kTile;
    const LinkPlace place = link_place(facts, position);
    std::string out =
        "segment " + std::to_string(position.segment) + ", step " + std::to_string(position.step) + ": `" +
        one.name + "` " + std::string(one.row().outputs[position.output].name) + " tile (" +
        std::to_string(position.tile / across) + "," + std::to_string(position.tile % across) + ")";
    if (place.phase == LinkPhase::kTile) return out;
    return out + ", " + std::string(to_text(place.phase)) + " of block " + std::to_string(place.block) +
           ", term " + std::to_string(place.term);
}

GameVerdict judge(const StepFacts& facts, const LinkPosition& position, const FixedHashes& fixed,
                  base::ByteView witness) {
    if (!exists(facts, position)) return {.reason = GameReason::kPosition};
    if (witness.size() > kMaxWitnessBytes) return {.reason = GameReason::kWitnessSize};
    ASSAY_CHECK(fixed.states.size() == 1);
    WitnessReader reader(&facts, facts.program->parameters, fixed, link_count(facts, position), witness);
    return with_law(facts, position, reader, [&](TileWork& work, LinkLaw& law) {
        const bool is_last = position.link + 1 == law.links();
        const CellShape shape = law.shape(position.link);
        const Cells claimed =
            detail::claimed_value(reader, shape, fixed.claimed, is_last ? work.at().width : 0);
        if (reader.refusal()) return detail::refused(reader);
        const Cells computed = law.compute(position.link);
        if (!reader.refusal() && reader.left() != 0) reader.refuse(GameReason::kWitnessTrails);
        if (reader.refusal()) return detail::refused(reader);
        return detail::compare(claimed, computed, is_last && facts.diverged_at != position.operator_index);
    });
}

base::Bytes make_witness(const LinkPosition& position, StepMemory& memory, const std::vector<Cells>& links,
                         const StoredTree& tree) {
    ASSAY_CHECK(exists(*memory.facts(), position) && position.link < links.size());
    Prover prover(memory, links, &tree);
    return with_law(*memory.facts(), position, prover, [&](TileWork&, LinkLaw& law) {
        base::Bytes out = encode_cells(links[position.link]);
        [[maybe_unused]] const Cells computed = law.compute(position.link);
        const base::Bytes openings = prover.take_openings();
        out.insert(out.end(), openings.begin(), openings.end());
        return out;
    });
}

Cells compute_link(const StepFacts& facts, const LinkPosition& position, OpeningReader& reader) {
    ASSAY_CHECK(exists(facts, position));
    return with_law(facts, position, reader,
                    [&](TileWork&, LinkLaw& law) { return law.compute(position.link); });
}

std::vector<Cells> compute_links(const LinkPosition& position, StepMemory& memory) {
    const std::uint64_t count = link_count(*memory.facts(), position);
    std::vector<Cells> links;
    LinkPosition at = position;
    for (at.link = 0; at.link < count; ++at.link) {
        // A reader of its own, so that none holds more than one link reads.
        Prover reader(memory, links, nullptr);
        links.push_back(compute_link(*memory.facts(), at, reader));
    }
    return links;
}

StoredTree link_tree(const std::vector<Cells>& links) {
    std::vector<Hash256> hashes;
    for (std::size_t i = 0; i + 1 < links.size(); ++i) hashes.push_back(link_hash(links[i]));
    return StoredTree(std::move(hashes));
}

}  // namespace assay::dispute
