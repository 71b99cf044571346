// SPDX-License-Identifier: Apache-2.0
// Witnesses of disputes, which come from a claimant: a partial has one that wins, and any other bytes lose by
// name. And what a claimant may commit to before it opens anything: every law of partials computes from any
// numbers, integers and tokens.
#include <algorithm>
#include <memory>

#include "contracts/base/check.hpp"
#include "contracts/dispute/commitments.hpp"
#include "contracts/dispute/referee.hpp"
#include "tests/contracts/dispute/step.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

namespace {
using namespace assay::dispute;

// A tile of an operator of a small step, with the witness that wins.
struct FuzzedStep {
    disputed::Step step;
    std::unique_ptr<StepCommitments> honest;
};

FuzzedStep& world(std::size_t which) {
    static constexpr std::size_t kWorlds = 4;
    static std::array<FuzzedStep, kWorlds> worlds;
    static constexpr std::array<std::size_t, kWorlds> kVariants = {0, 1, 4, 5};
    FuzzedStep& out = worlds[which % kWorlds];
    if (out.honest == nullptr) {
        make_step(out.step, disputed::small_variants()[kVariants[which % kWorlds]]);
        out.honest = std::make_unique<StepCommitments>(out.step.inputs);
    }
    return out;
}

// Bytes that never end.
class HostileBytes {
public:
    explicit HostileBytes(base::ByteView bytes) : bytes_(bytes) {}
    std::uint8_t next() { return bytes_.empty() ? 0 : bytes_[at_++ % bytes_.size()]; }
    std::uint32_t word() {
        std::uint32_t out = 0;
        for (int i = 0; i < 4; ++i) out = (out << 8) | next();
        return out;
    }

private:
    base::ByteView bytes_;
    std::size_t at_ = 0;
};

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

std::vector<base::Bytes> seeds() {
    std::vector<base::Bytes> out;
    for (std::uint8_t which = 0; which < 4; ++which) {
        // Numbers of any kind, and ones that are mostly between 2^-64 and 2^64.
        base::Bytes hostile = {which, 0};
        for (std::size_t i = 0; i < 61; ++i) hostile.push_back(static_cast<std::uint8_t>(37 * i + which));
        out.push_back(hostile);
        for (std::size_t i = kSelector; i < hostile.size(); i += 4) hostile[i] = 0x3f;
        out.push_back(hostile);
        base::Bytes opened = {which, 1};
        for (std::size_t i = 0; i < kSelector; ++i)
            opened.push_back(static_cast<std::uint8_t>(91 * i + which));
        HostileBytes stream(base::ByteView(opened).subspan(2, kSelector));
        const base::Bytes witness = play(world(which), stream).witness;
        opened.insert(opened.end(), witness.begin(), witness.end());
        out.push_back(opened);
    }
    return out;
}

void run(base::ByteView input) {
    if (input.size() < 2 + kSelector) return;
    FuzzedStep& at = world(input[0]);
    if (input[1] % 2 == 0) {
        HostileBytes stream(input.subspan(2));
        return run_hostile(at, stream);
    }
    run_witness(at, input.subspan(2, kSelector), input.subspan(2 + kSelector));
}

}  // namespace assay::fuzz
