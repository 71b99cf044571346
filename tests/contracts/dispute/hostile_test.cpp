// SPDX-License-Identifier: Apache-2.0
// Whatever a claimant commits to and opens, there is a verdict, and no lie wins.
#include <bit>
#include <random>
#include <set>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "tests/contracts/dispute/game.hpp"
#include "tests/contracts/dispute/poisoned.hpp"
#include "tests/support/format_example.hpp"

namespace {
using namespace assay;
using namespace assay::dispute;
using disputed::PlayedClaim;
using disputed::Poison;
using disputed::Poisoned;
using disputed::Step;

constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kNan = 0x7fc00001;

disputed::StepVariant variant_of(const std::string& name) {
    for (const auto& one : disputed::small_variants()) {
        if (one.name == name) return one;
    }
    FAIL(name);
    return {};
}

FixedHashes hashes_of(const Step& step, StepCommitments& honest, Poisoned& claimant,
                      const PlayedClaim& claim) {
    FixedHashes out = disputed::fixed_hashes(step, honest, claim);
    out.outputs = claimant.outputs_root();
    out.states = {claimant.state_root()};
    return out;
}

GameVerdict judge_poisoned(const Step& step, StepCommitments& honest, const PlayedClaim& claim,
                           const Poison& poison) {
    Poisoned claimant(honest, poison);
    return judge(step.inputs.facts, claim.position, hashes_of(step, honest, claimant, claim),
                 disputed::witness_of(claimant, claim));
}

// A tile of the first operator of each kind, with all its partials.
std::vector<PlayedClaim> claims_of_kinds(StepCommitments& honest) {
    std::vector<PlayedClaim> out;
    std::set<program::OperatorKind> seen;
    const StepFacts& facts = *honest.facts();
    for (std::uint32_t i = 0; i < facts.program->operators.size(); ++i) {
        if (!seen.insert(facts.program->operators[i].kind).second) continue;
        for (std::uint32_t o = 0; o < facts.program->operators[i].outputs.size(); ++o) {
            PlayedClaim claim;
            claim.position = {0, 1, i, o, facts.tiles(facts.output(i, o)) - 1, 0};
            const Columns written = written_columns(facts, i, o);
            claim.position.tile = written.first / 16;
            claim.partials = honest.partials(claim.position);
            out.push_back(claim);
        }
    }
    return out;
}
}  // namespace

namespace {
// Every version that the partial is computed from, with one number that is none.
void check_not_finite(Step& step, StepCommitments& honest, const PlayedClaim& claim) {
    INFO(step.name << ": " << describe(step.inputs.facts, claim.position));
    Poisoned notes(honest);
    [[maybe_unused]] const base::Bytes plain = disputed::witness_of(notes, claim);
    for (const auto& [key, first] : notes.read()) {
        Poison poison = first;
        for (const std::uint32_t bits : {kInfinity, kInfinity | 0x80000000U, kNan}) {
            poison.bits = bits;
            const GameVerdict verdict = judge_poisoned(step, honest, claim, poison);
            CHECK(to_text(verdict.reason) == "not_finite");
            CHECK(to_text(verdict.outcome) == "claimant_loses");
        }
        if (poison.source.from != Source::From::kState) continue;
        step.inputs.facts.starts_at_base = true;
        // Carried moments are a slot's claim; parameters of the base are the job's.
        CHECK(to_text(judge_poisoned(step, honest, claim, poison).outcome) ==
              (poison.source.array == 0 ? "job_void" : "claimant_loses"));
        step.inputs.facts.starts_at_base = false;
    }
}
}  // namespace

TEST_CASE("an operand that is not finite refutes its claimant, and in the job's own data voids the job") {
    for (const char* const name : {"gpt2 f32", "gpt2 i16", "llama untied f32", "llama untied i16"}) {
        Step step;
        make_step(step, variant_of(name));
        StepCommitments honest(step.inputs);
        for (PlayedClaim& claim : claims_of_kinds(honest)) {
            for (std::uint64_t partial = 0; partial < claim.partials.size(); ++partial) {
                claim.position.partial = partial;
                check_not_finite(step, honest, claim);
            }
        }
    }
}

TEST_CASE("every number of an operand may be -0, subnormal or the largest, and there is a verdict") {
    for (const char* const name : {"gpt2 f32", "gpt2 i16", "llama f32", "llama i16"}) {
        Step step;
        make_step(step, variant_of(name));
        StepCommitments honest(step.inputs);
        for (PlayedClaim& claim : claims_of_kinds(honest)) {
            for (std::uint64_t partial = 0; partial < claim.partials.size(); ++partial) {
                claim.position.partial = partial;
                Poisoned notes(honest);
                [[maybe_unused]] const base::Bytes plain = disputed::witness_of(notes, claim);
                for (const auto& [key, first] : notes.read()) {
                    for (const std::uint32_t bits :
                         {0x80000000U, 1U, 0x80000001U, 0x7f7fffffU, 0xff7fffffU}) {
                        Poison poison = first;
                        poison.bits = bits;
                        const GameVerdict verdict = judge_poisoned(step, honest, claim, poison);
                        const bool is_named = verdict.reason == GameReason::kAgrees ||
                                              verdict.reason == GameReason::kDiffers ||
                                              verdict.reason == GameReason::kDiverges ||
                                              verdict.reason == GameReason::kBeyondMaximum;
                        INFO(name << ": " << describe(step.inputs.facts, claim.position) << ": "
                                  << to_text(verdict.reason));
                        CHECK(is_named);
                    }
                }
            }
        }
    }
}

TEST_CASE("a key that no query sees is +0 in every square") {
    Step step;
    make_step(step, variant_of("gpt2 f32"));
    StepCommitments honest(step.inputs);
    std::size_t judged = 0;
    for (PlayedClaim& claim : claims_of_kinds(honest)) {
        claim.position.partial = claim.partials.size() - 1;
        Poisoned notes(honest);
        [[maybe_unused]] const base::Bytes plain = disputed::witness_of(notes, claim);
        for (const auto& [key, first] : notes.read()) {
            if (!first.source.lower || first.tile != 0) continue;
            Poison poison = first;
            poison.place = 15;  // key 15 of query 0
            poison.bits = 0x80000000;
            INFO(describe(step.inputs.facts, claim.position));
            CHECK(to_text(judge_poisoned(step, honest, claim, poison).reason) == "not_zero");
            ++judged;
        }
    }
    CHECK(judged >= 7);
}

TEST_CASE("a lie in any partial loses with both values named") {
    std::set<PartialPhase> phases;
    for (const char* const name : {"gpt2 f32", "gpt2 i16", "llama wide f32", "llama wide i16"}) {
        Step step;
        make_step(step, variant_of(name));
        StepCommitments honest(step.inputs);
        for (const PlayedClaim& truth : claims_of_kinds(honest)) {
            for (std::uint64_t partial = 0; partial < truth.partials.size(); ++partial) {
                PlayedClaim lie = truth;
                lie.position.partial = partial;
                phases.insert(partial_place(step.inputs.facts, lie.position).phase);
                INFO(name << ": " << describe(step.inputs.facts, lie.position));
                CHECK(to_text(disputed::verdict_on(step, honest, lie).reason) == "agrees");
                Cells& cells = lie.partials[partial];
                const std::size_t cell = cells.size() - 1;
                if (cells.kind == CellKind::kReal) {
                    cells.real[cell] =
                        std::bit_cast<float>(std::bit_cast<std::uint32_t>(cells.real[cell]) ^ 1U);
                } else {
                    cells.whole[cell] += 1;
                }
                const GameVerdict verdict = disputed::verdict_on(step, honest, lie);
                CHECK(to_text(verdict.reason) == "differs");
                CHECK(verdict.cell == cell);
                CHECK(verdict.claimed == cells.bits(cell));
                CHECK(verdict.computed == truth.partials[partial].bits(cell));
            }
        }
    }
    CHECK(phases.size() == 8);
}

TEST_CASE("maxima that elements exceed and sums that nothing reaches are refused") {
    Step step;
    make_step(step, variant_of("gpt2 i16"));
    StepCommitments honest(step.inputs);
    for (PlayedClaim claim : claims_of_kinds(honest)) {
        if (claim.partials.size() < 3) continue;
        claim.position.partial = 0;
        if (partial_place(step.inputs.facts, claim.position).phase != PartialPhase::kMaxima) continue;
        while (partial_place(step.inputs.facts, claim.position).phase == PartialPhase::kMaxima)
            ++claim.position.partial;
        const std::uint64_t maxima = claim.position.partial - 1;
        const float largest = claim.partials[maxima].real[0];
        for (const std::uint32_t bits : {std::uint32_t{0}, kInfinity, kNan}) {
            if (largest == 0.0F && bits == 0) continue;
            claim.partials[maxima].real[0] = std::bit_cast<float>(bits);
            INFO(describe(step.inputs.facts, claim.position));
            CHECK(to_text(disputed::verdict_on(step, honest, claim).reason) == "beyond_maximum");
        }
        claim.partials[maxima].real[0] = largest;
        if (partial_place(step.inputs.facts, claim.position).term != 0) continue;
        const std::uint64_t first_sums = claim.position.partial++;
        if (partial_place(step.inputs.facts, claim.position).phase != PartialPhase::kSums) continue;
        claim.partials[first_sums].whole[0] = INT64_MAX;
        CHECK(to_text(disputed::verdict_on(step, honest, claim).reason) == "out_of_range");
    }
}

TEST_CASE("a token that the vocabulary does not have voids the job") {
    Step step;
    make_step(step, variant_of("gpt2 f32"));
    const std::size_t at = program::kTokenFileHeader + 2 * step.inputs.facts.first_token(0);
    StepCommitments honest(step.inputs);
    PlayedClaim claim{{0, 1, 0, 0, 0, 0}, honest.partials({0, 1, 0, 0, 0, 0})};
    FixedHashes fixed = disputed::fixed_hashes(step, honest, claim);
    base::Bytes witness = disputed::witness_of(honest, claim);
    CHECK(judge(step.inputs.facts, claim.position, fixed, witness).claimant_wins());
    // The same piece with another token, under another id.
    const base::ByteView piece = base::ByteView(step.inputs.token_file)
                                     .subspan(at / base::kBlobPiece * base::kBlobPiece,
                                              piece_bytes(step.inputs.facts, at / base::kBlobPiece));
    const auto found = std::search(witness.begin(), witness.end(), piece.begin(), piece.end());
    REQUIRE(found != witness.end());
    *(found + static_cast<std::ptrdiff_t>(at % base::kBlobPiece) + 1) = 0xff;
    step.inputs.token_file[at + 1] = 0xff;
    fixed.data = base::blob_id(step.inputs.token_file);
    const GameVerdict verdict = judge(step.inputs.facts, claim.position, fixed, witness);
    CHECK(to_text(verdict.reason) == "token");
    CHECK(to_text(verdict.outcome) == "job_void");
}

TEST_CASE("a partial has one witness") {
    std::mt19937_64 random(29);
    for (const char* const name : {"llama untied f32", "llama untied i16"}) {
        Step step;
        make_step(step, variant_of(name));
        StepCommitments honest(step.inputs);
        for (PlayedClaim& claim : claims_of_kinds(honest)) {
            claim.position.partial = claim.partials.size() / 2;
            INFO(describe(step.inputs.facts, claim.position));
            const FixedHashes fixed = disputed::fixed_hashes(step, honest, claim);
            const base::Bytes witness = disputed::witness_of(honest, claim);
            REQUIRE(judge(step.inputs.facts, claim.position, fixed, witness).claimant_wins());
            const auto loses = [&](const base::Bytes& bytes) {
                return judge(step.inputs.facts, claim.position, fixed, bytes).outcome !=
                       GameOutcome::kClaimantWins;
            };
            for (int i = 0; i < 12; ++i) {
                base::Bytes other = witness;
                other[random() % other.size()] ^= static_cast<std::uint8_t>(1U << (random() % 8));
                CHECK(loses(other));
            }
            base::Bytes longer = witness;
            longer.push_back(0);
            CHECK(to_text(judge(step.inputs.facts, claim.position, fixed, longer).reason) ==
                  "witness_trails");
            const base::Bytes shorter(witness.begin(), witness.end() - 1);
            CHECK(to_text(judge(step.inputs.facts, claim.position, fixed, shorter).reason) == "witness_ends");
            CHECK(loses({}));
            CHECK(loses(base::Bytes(kMaxWitnessBytes + 1)));
        }
    }
}

TEST_CASE("a place that a step does not have has a verdict") {
    Step step;
    make_step(step, variant_of("gpt2 f32"));
    const FixedHashes fixed{
        .claimed = {}, .outputs = {}, .partials = {}, .data = {}, .states = {Hash256{}}, .arrays = {}};
    const auto operators = static_cast<std::uint32_t>(step.program.operators.size());
    for (const PartialPosition& at :
         {PartialPosition{0, 0, operators, 0, 0, 0}, PartialPosition{0, 0, 0, 1, 0, 0},
          PartialPosition{0, 0, 0, 0, 1'000'000, 0}, PartialPosition{0, 0, 0, 0, 0, 1},
          PartialPosition{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX}}) {
        CHECK(to_text(judge(step.inputs.facts, at, fixed, {}).reason) == "position");
    }
}

TEST_CASE("the example of docs/formats/witness.md is right") {
    Step step;
    make_step(step, variant_of("gpt2 f32"));
    StepCommitments honest(step.inputs);
    PlayedClaim claim;
    while (step.program.operators[claim.position.operator_index].kind != program::OperatorKind::kClip) {
        ++claim.position.operator_index;
    }
    claim.partials = honest.partials(claim.position);
    assay::test::check_example("witness.md", disputed::witness_of(honest, claim));
}
