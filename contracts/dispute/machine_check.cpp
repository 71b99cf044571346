// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/machine_check.hpp"

#include <bit>
#include <string>

#include "contracts/arithmetic/known_answers.hpp"
#include "contracts/base/blob_id.hpp"
#include "contracts/base/floating_point.hpp"
#include "contracts/dispute/array_referee.hpp"
#include "contracts/dispute/clip_referee.hpp"
#include "contracts/program/blob_sizes.hpp"

namespace assay::dispute {

namespace {

constexpr std::string_view kGolden = "a63f61aff4e346ca2f3430717520a3c8359162ffbcad817fbdd5ec1b8f90cdd1";

// splitmix64: numbers without a library's generator.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

// Everything that partials are computed from, made of places alone: numbers below 4 of both signs, one in
// eight of them subnormal.
class FixedMemory final : public StepMemory {
public:
    explicit FixedMemory(const StepFacts* facts) : facts_(facts) {
        if (facts == nullptr) return;
        const std::uint32_t vocabulary = facts->program->model.vocabulary;
        tokens_.assign(program::token_file_size(facts->stream_tokens, vocabulary), 0);
        for (std::uint64_t t = 0; t < facts->stream_tokens; ++t)
            tokens_[program::kTokenFileHeader + 2 * t] = static_cast<std::uint8_t>(mixed(t) % vocabulary);
    }
    [[nodiscard]] const StepFacts* facts() const override { return facts_; }
    void tile(const Source& source, std::uint64_t number, Tile& out) override {
        const TileExtent held = held_extent(source, number);
        for (std::uint64_t i = 0; i < held.height; ++i) {
            for (std::uint64_t j = 0; j < held.width; ++j) {
                const std::uint64_t row = held.row + i;
                const std::uint64_t col = held.col + j;
                if (source.lower && col > row % source.context) continue;
                const std::uint64_t place = mixed(source.key()) + row * source.cols + col;
                out[i * arithmetic::kTile + col % arithmetic::kTile] = number_at(place, is_square(source));
            }
        }
    }
    void wholes(const Source& source, std::uint64_t number, Cells& out) override {
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::uint64_t bits = mixed(mixed(source.key()) + number * 256 + i);
            out.whole[i] = static_cast<std::int64_t>(bits >> 3U) - (std::int64_t{1} << 60);
        }
    }
    const StoredTree& tiles(const Source&) override { return none_; }
    const StoredTree& above(const Source&) override { return none_; }
    const StoredTree& components(std::uint32_t) override { return none_; }
    void piece(std::uint64_t number, base::Bytes& out, std::vector<Hash256>&) override {
        out = base::to_bytes(
            base::ByteView(tokens_).subspan(number * base::kBlobPiece, piece_bytes(*facts_, number)));
    }

private:
    // A second moment has no sign.
    static bool is_square(const Source& source) {
        return source.from == Source::From::kState &&
               source.array == static_cast<std::uint32_t>(program::StateComponent::kSecondMoment);
    }
    static float number_at(std::uint64_t place, bool positive) {
        const std::uint64_t random = mixed(place);
        const std::uint32_t fraction = random & 0x7fffffU;
        const std::uint32_t sign = positive ? 0U : static_cast<std::uint32_t>(random >> 32U) & 0x80000000U;
        const std::uint32_t more = static_cast<std::uint32_t>(random >> 40U);
        const std::uint32_t exponent = more % 8 == 0 ? 0U : 120U + more / 8 % 9;
        return std::bit_cast<float>(sign | (exponent << 23U) | fraction);
    }

    const StepFacts* facts_;
    base::Bytes tokens_;
    StoredTree none_;
};

void add_partials(base::Hasher& hasher, const std::vector<Cells>& partials) {
    for (const Cells& cells : partials) hasher.add(encode_cells(cells));
}

program::JobSpec tiny_job(program::Family family, program::Profile profile) {
    program::JobSpec spec;
    spec.profile = profile;
    spec.slots = 1;
    spec.rounds = 1;
    spec.model = {.family = family, .layers = 1, .width = 12, .heads = 2, .context = 18, .vocabulary = 21};
    if (family == program::Family::kLlama) {
        spec.model.kv_heads = 1;
        spec.model.hidden = 20;
        spec.model.rope_theta = 100.0F;
        spec.model.head = program::Head::kUntied;
    }
    spec.train.inner_steps = 4;
    spec.train.batch = 2;
    spec.train.warmup_steps = 4;
    spec.train.learning_rate = 1e-2F;
    spec.data.train_tokens = 400;
    spec.security.segment_steps = 2;
    return spec;
}

// The last tile of every output.
void add_step(base::Hasher& hasher, program::Family family, program::Profile profile) {
    const program::JobSpec spec = tiny_job(family, profile);
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const StepFacts facts = facts_of(spec, program, {.round = 0, .slot = 0, .step = 1, .age = 1});
    FixedMemory memory(&facts);
    for (std::uint32_t i = 0; i < facts.operators(); ++i) {
        for (std::uint32_t o = 0; o < program.operators[i].outputs.size(); ++o) {
            const std::uint64_t tile = facts.tiles(facts.output(i, o)) - 1;
            add_partials(hasher, compute_partials({0, 1, i, o, tile, 0}, memory));
        }
    }
}

void add_arrays(base::Hasher& hasher) {
    const std::vector<program::TensorInfo> tensors = {{.name = "a", .rows = 20, .cols = 7}};
    FixedMemory memory(nullptr);
    for (const program::StrategyRow* const row : program::strategies()) {
        const program::RoundSettings settings{-40, 0.7F, 0.9F};
        ArrayFacts facts{ArrayUnit::kUpdate, &tensors, row, settings, {}};
        for (const ArrayUnit unit :
             {ArrayUnit::kUpdate, ArrayUnit::kMergedParameters, ArrayUnit::kMergedOuter}) {
            facts.unit = unit;
            if (unit != ArrayUnit::kUpdate) facts.slots = {{{}, 3, 40'000}, {{}, 1, arithmetic::kWholeClip}};
            if (exists(facts, {})) add_partials(hasher, compute_partials(facts, {}, memory));
        }
    }
    add_partials(hasher, compute_partials(ClipFacts{&tensors, -40, 1e3F}, memory));
}

}  // namespace

base::Hash256 referee_digest() {
    base::Hasher hasher("assay/machine-check/v1");
    for (const program::Family family : {program::Family::kGpt2, program::Family::kLlama}) {
        for (const program::Profile profile : {program::Profile::kF32, program::Profile::kI16})
            add_step(hasher, family, profile);
    }
    add_arrays(hasher);
    return hasher.finish();
}

base::Outcome<void> check_thread() { return base::refuse_floating_point(base::floating_point_faults()); }

base::Outcome<void> check_machine() {
    ASSAY_TRY(check_thread());
    const std::string use =
        "use a build for this processor from its release, and test the machine's processor and memory; until "
        "then let it judge nothing";
    if (const auto wrong = arithmetic::wrong_operation()) {
        return base::fail(base::ErrorKind::kPreflight,
                          "this machine computes another answer than IEEE 754 has: " + std::string(*wrong),
                          use);
    }
    if (const base::Hash256 found = referee_digest(); found.hex() != kGolden) {
        return base::fail(base::ErrorKind::kPreflight,
                          "the referee's known answers come out otherwise here (" + found.brief() + ", not " +
                              std::string(kGolden.substr(0, 8)) + ")",
                          use);
    }
    return {};
}

}  // namespace assay::dispute
