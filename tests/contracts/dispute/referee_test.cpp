// SPDX-License-Identifier: Apache-2.0
// Every kind of operator of both families and profiles: its partials give what the reference machine wrote; a
// number that is off by one ulp loses, and the referee names both values; the truth wins.
#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <set>

#include "tests/contracts/dispute/game.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay;
using namespace assay::dispute;
using disputed::Step;

bool same_bits(const Cells& a, const Cells& b) {
    return a.shape() == b.shape() && encode_cells(a) == encode_cells(b);
}

// Compares tiles of every output, at most `most` of each.
void check_partials(StepCommitments& commitments, std::uint64_t most) {
    const StepFacts& facts = *commitments.facts();
    std::mt19937_64 random(3);
    for (std::uint32_t i = 0; i < facts.program->operators.size(); ++i) {
        for (std::uint32_t o = 0; o < facts.program->operators[i].outputs.size(); ++o) {
            const std::uint64_t tiles = facts.tiles(facts.output(i, o));
            for (std::uint64_t n = 0; n < std::min(tiles, most); ++n) {
                const PartialPosition at{0, 0, i, o, tiles <= most ? n : random() % tiles, 0};
                const std::vector<Cells> partials = compute_partials(at, commitments);
                if (same_bits(partials.back(), commitments.tile_of(i, o, at.tile))) continue;
                FAIL(describe(facts, at) << " has other bits than the reference machine");
            }
        }
    }
}

// A tile and its siblings are 2 KiB in trees of 2^32 tiles, and 1.4 KiB in these.
constexpr std::size_t kMostTiles = 128;

// Holds witnesses of a tile of every output to so many tiles, whatever the heads and sequences are.
void check_witnesses(const Step& step, StepCommitments& commitments) {
    const StepFacts& facts = step.inputs.facts;
    for (std::uint32_t i = 0; i < facts.program->operators.size(); ++i) {
        for (std::uint32_t o = 0; o < facts.program->operators[i].outputs.size(); ++o) {
            disputed::PlayedClaim claim;
            claim.position = {0, 1, i, o, facts.tiles(facts.output(i, o)) / 2, 0};
            claim.partials = commitments.partials(claim.position);
            for (const std::uint64_t partial :
                 {std::size_t{0}, claim.partials.size() / 2, claim.partials.size() - 1}) {
                claim.position.partial = partial;
                const base::Bytes witness = disputed::witness_of(commitments, claim);
                INFO(describe(facts, claim.position));
                CHECK(witness.size() <= kMostTiles * 1'400);
                CHECK(judge(facts, claim.position, disputed::fixed_hashes(step, commitments, claim), witness)
                          .claimant_wins());
            }
        }
    }
}

// A number that the operator wrote and whose last bit can change, or nothing.
std::optional<std::uint64_t> changeable(const StepCommitments& commitments, std::uint32_t operator_index,
                                        std::uint32_t output, std::mt19937_64& random) {
    const std::vector<float>& values = commitments.version(operator_index, output);
    for (int tries = 0; tries < 1'000; ++tries) {
        const std::uint64_t i = random() % values.size();
        if (values[i] != 0.0F) return i;
    }
    return std::nullopt;
}

void plant_and_judge(const Step& step, StepCommitments& honest, const PlantedFault& fault) {
    StepCommitments cheat(step.inputs, std::nullopt, fault);
    const auto claim = disputed::walk(cheat, honest);
    REQUIRE(claim);
    INFO(describe(step.inputs.facts, claim->position));
    CHECK(claim->position.operator_index == fault.operator_index);
    CHECK(claim->position.output == fault.output);
    const GameVerdict verdict = disputed::verdict_on(step, cheat, *claim);
    CHECK(to_text(verdict.outcome) == "claimant_loses");
    CHECK(to_text(verdict.reason) == "differs");
    CHECK((verdict.claimed ^ verdict.computed) == 1);
    const float wrote = honest.version(fault.operator_index, fault.output)[fault.element];
    CHECK(verdict.computed == std::bit_cast<std::uint32_t>(wrote));
    disputed::PlayedClaim truth{claim->position, honest.partials(claim->position)};
    const GameVerdict wins = disputed::verdict_on(step, honest, truth);
    CHECK(to_text(wins.reason) == "agrees");
    CHECK(wins.claimant_wins());
}
}  // namespace

TEST_CASE("every kind of operator has one row of partials, which says what it writes") {
    for (const program::OperatorRow& row : program::operator_table()) {
        INFO(row.name);
        std::size_t rows = 0;
        for (const auto list :
             {element_rows(), row_sum_rows(), product_rows(), column_sum_rows(), norm_rows()}) {
            for (const PartialRow& one : list) rows += one.kind == row.kind ? 1 : 0;
        }
        CHECK(rows == 1);
        const PartialRow& own = partial_row(row.kind);
        const bool some_columns =
            std::any_of(row.outputs.begin(), row.outputs.end(),
                        [](const program::Output& one) { return one.write == program::Write::kColumns; });
        if (some_columns) CHECK(own.columns != nullptr);
        if (own.columns != nullptr) CHECK(row.outputs.size() == 1);
        // Squares are used up a piece at a time: no machine has to hold one.
        if (own.is_square) CHECK(row.is_transient);
    }
}

TEST_CASE("partials end in what the reference machine wrote") {
    for (const auto& variant : disputed::small_variants()) {
        INFO(variant.name);
        Step step;
        make_step(step, variant);
        StepCommitments commitments(step.inputs);
        check_partials(commitments, 24);
    }
}

TEST_CASE("partials of long sequences end in what the reference machine wrote") {
    for (const auto& variant : disputed::long_variants()) {
        INFO(variant.name);
        Step step;
        make_step(step, variant);
        StepCommitments commitments(step.inputs);
        check_partials(commitments, 3);
        check_witnesses(step, commitments);
    }
}

TEST_CASE("partials of subnormal numbers and of -0 end in what the reference machine wrote") {
    for (const auto& variant : disputed::small_variants()) {
        if (variant.model.width > 100) continue;
        for (const auto numbers : {disputed::Numbers::kSubnormal, disputed::Numbers::kNegativeZero}) {
            INFO(variant.name);
            Step step;
            make_step(step, variant, numbers);
            StepCommitments commitments(step.inputs);
            check_partials(commitments, 4);
        }
    }
}

TEST_CASE("one ulp in a number of any operator loses, and the truth wins") {
    std::set<program::OperatorKind> judged;
    std::mt19937_64 random(5);
    for (const auto& variant : disputed::small_variants()) {
        if (variant.model.width > 100) continue;  // each fault is a step
        INFO(variant.name);
        Step step;
        make_step(step, variant);
        StepCommitments honest(step.inputs);
        std::set<program::OperatorKind> here;
        for (std::uint32_t i = 0; i < step.program.operators.size(); ++i) {
            const program::Operator& one = step.program.operators[i];
            if (!here.insert(one.kind).second) continue;
            for (std::uint32_t o = 0; o < one.outputs.size(); ++o) {
                const auto element = changeable(honest, i, o, random);
                if (!element) continue;
                judged.insert(one.kind);
                plant_and_judge(step, honest, {i, o, *element, 1});
            }
        }
    }
    CHECK(judged.size() == program::operator_table().size());
}
