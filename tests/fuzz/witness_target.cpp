// SPDX-License-Identifier: Apache-2.0
// Witnesses of disputes, which come from a claimant: a partial has one that wins, and any other bytes lose by
// name. What a claimant may commit to before it opens anything: every law of partials computes from any
// numbers, integers and tokens, those of updates, merges and clips from any weights and clips. And whole
// games about units of every kind, whose claims may be hostile.
#include <algorithm>
#include <memory>

#include "contracts/base/check.hpp"
#include "contracts/dispute/commitments.hpp"
#include "contracts/dispute/referee.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/witness_units.hpp"

namespace assay::fuzz {

namespace {
using namespace assay::dispute;

// Gives every number as the input has it: what stands behind hashes that the claimant chose.
class HostileReader final : public OpeningReader {
public:
    HostileReader(const StepFacts& facts, HostileBytes& stream) : facts_(facts), stream_(stream) {}

protected:
    void load_tile(const Source&, std::uint64_t, Tile& out) override {
        for (float& value : out) value = std::bit_cast<float>(stream_.word());
        // Most numbers of most inputs are finite, so that the laws go on.
        if (stream_.next() % 8 == 0) return;
        for (float& value : out) {
            const auto bits = std::bit_cast<std::uint32_t>(value);
            if ((bits & 0x7f800000U) == 0x7f800000U) value = std::bit_cast<float>(bits & 0xff7fffffU);
        }
    }
    void load_wholes(const Source&, std::uint64_t, Cells&) override {}
    void load_partial(std::uint64_t, Cells& out) override {
        base::Bytes bytes(out.shape().bytes());
        for (std::uint8_t& byte : bytes) byte = stream_.next();
        out = decode_cells(out.shape(), bytes);
    }
    void load_piece(std::uint64_t number, base::Bytes& out) override {
        out.resize(piece_bytes(facts_, number));
        for (std::uint8_t& byte : out) byte = stream_.next() % 32;
    }
    [[nodiscard]] const StepFacts* facts() const override { return &facts_; }

private:
    const StepFacts& facts_;
    HostileBytes& stream_;
};

PartialPosition pick(const StepFacts& facts, HostileBytes& stream) {
    PartialPosition out;
    out.operator_index = stream.word() % facts.operators();
    const auto& outputs = facts.program->operators[out.operator_index].outputs;
    out.output = stream.next() % static_cast<std::uint32_t>(outputs.size());
    out.tile = stream.word() % facts.tiles(facts.output(out.operator_index, out.output));
    out.partial = stream.word() % partial_count(facts, out);
    return out;
}

void run_hostile(FuzzedStep& at, HostileBytes& stream) {
    const StepFacts& facts = at.step.inputs.facts;
    const PartialPosition position = pick(facts, stream);
    HostileReader reader(facts, stream);
    const Cells cells = compute_partial(facts, position, reader);
    const Cells again = decode_cells(cells.shape(), encode_cells(cells));
    ASSAY_CHECK(partial_hash(again) == partial_hash(cells));
}

struct Played {
    PartialPosition position;
    std::vector<Cells> partials;
    FixedHashes fixed;
    base::Bytes witness;
};

Played play(FuzzedStep& at, HostileBytes& stream) {
    Played out;
    out.position = pick(at.step.inputs.facts, stream);
    out.partials = at.honest->partials(out.position);
    const StoredTree tree = partial_tree(out.partials);
    const Cells& value = out.partials[out.position.partial];
    const auto& facts = at.step.inputs.facts;
    const program::TensorId id = facts.output(out.position.operator_index, out.position.output);
    const std::uint64_t width = extent_of(facts.rows(id), facts.cols(id), out.position.tile).width;
    const bool is_last = out.position.partial + 1 == out.partials.size();
    out.fixed = {.claimed = is_last ? tile_hash(value, width) : partial_hash(value),
                 .outputs = at.honest->outputs().root(),
                 .partials = tree.root(),
                 .data = at.step.data,
                 .states = {at.step.state_root},
                 .arrays = {}};
    out.witness = make_witness(out.position, *at.honest, out.partials, tree);
    return out;
}

constexpr std::size_t kSelector = 16;

void run_witness(FuzzedStep& at, base::ByteView selector, base::ByteView witness) {
    HostileBytes stream(selector);
    const Played played = play(at, stream);
    const GameVerdict verdict = judge(at.step.inputs.facts, played.position, played.fixed, witness);
    ASSAY_CHECK(verdict.claimant_wins() ==
                std::equal(witness.begin(), witness.end(), played.witness.begin(), played.witness.end()));
    ASSAY_CHECK(verdict.claimant_wins() == (verdict.reason == GameReason::kAgrees));
}
}  // namespace

namespace {
// Inputs of a kind, `selector` behind its first two bytes.
base::Bytes selected(std::uint8_t which, std::uint8_t kind, std::size_t factor) {
    base::Bytes out = {which, kind};
    for (std::size_t i = 0; i < kSelector; ++i)
        out.push_back(static_cast<std::uint8_t>(factor * i + which + factor / 7));
    return out;
}
}  // namespace

std::vector<base::Bytes> seeds() {
    std::vector<base::Bytes> out;
    for (std::uint8_t which = 0; which < 4; ++which) {
        // Numbers of any kind, and ones that are mostly between 2^-64 and 2^64.
        base::Bytes hostile = {which, 0};
        for (std::size_t i = 0; i < 61; ++i) hostile.push_back(static_cast<std::uint8_t>(37 * i + which));
        out.push_back(hostile);
        hostile[1] = 2;
        out.push_back(hostile);
        hostile[1] = 0;
        for (std::size_t i = kSelector; i < hostile.size(); i += 4) hostile[i] = 0x3f;
        out.push_back(hostile);
        base::Bytes opened = selected(which, 1, 91);
        HostileBytes stream(base::ByteView(opened).subspan(2, kSelector));
        const base::Bytes witness = play(fuzzed_step(which), stream).witness;
        opened.insert(opened.end(), witness.begin(), witness.end());
        out.push_back(opened);
    }
    // A game about a unit of each kind, and more of those with many ends.
    for (std::uint8_t number = 0; number < 40; ++number) {
        base::Bytes game = selected(number % 4, 3, 53U + 2U * number);
        game[2] = number % 5;
        game[3] = number % 3 == 0 ? 0 : 1;
        HostileBytes stream(base::ByteView(game).subspan(2, kSelector));
        Walk walk(fuzzed_step(game[0]), stream);
        if (!walk.has_ended()) continue;
        const base::Bytes witness = walk.honest_witness();
        game.insert(game.end(), witness.begin(), witness.end());
        out.push_back(game);
    }
    return out;
}

void run(base::ByteView input) {
    if (input.size() < 2 + kSelector) return;
    FuzzedStep& at = fuzzed_step(input[0]);
    const base::ByteView selector = input.subspan(2, kSelector);
    const base::ByteView witness = input.subspan(2 + kSelector);
    switch (input[1] % 4) {
        case 0: {
            HostileBytes stream(input.subspan(2));
            return run_hostile(at, stream);
        }
        case 1: return run_witness(at, selector, witness);
        case 2: {
            HostileBytes stream(input.subspan(2));
            return run_hostile_arrays(stream);
        }
        default: break;
    }
    HostileBytes stream(selector);
    Walk walk(at, stream);
    if (walk.has_ended()) walk.judge(witness);
}

}  // namespace assay::fuzz
