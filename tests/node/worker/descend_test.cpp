// SPDX-License-Identifier: Apache-2.0
// Both players of a dispute over a segment, each with nothing but a worker process: from the state roots
// between steps down to the number that one of them changed by one ulp.
#include "contracts/dispute/referee.hpp"
#include "contracts/program/program.hpp"
#include "tests/node/worker/player_machine.hpp"

using namespace assay;
using dispute::PartialPosition;
using dispute::Question;
using dispute::QuestionKind;
using tests::PlayerMachine;
using tests::root_of;
namespace frames = worker;

namespace {

constexpr std::uint32_t kStep = 3;     // the second step of segment 1
constexpr std::uint32_t kSegment = 1;  // segments have two steps

/// A question from the start of the segment.
dispute::DisputeAnswer from_segment(const PlayerMachine& machine, const Question& question) {
    const auto out = machine.ask({question, machine.trace.boundaries[kSegment], {}, false, false},
                                 machine.states[kSegment - 1]);
    if (!out.ok()) FAIL(out.error().what);
    return out->first.answer;
}

Question about(QuestionKind kind, std::uint64_t leaves = 0, const PartialPosition& at = {}) {
    Question out;
    out.kind = kind;
    out.at = at;
    out.at.segment = kSegment;
    out.at.step = kStep;
    out.row = dispute::top_row(leaves);
    return out;
}

std::size_t first_difference(const std::vector<base::Hash256>& a, const std::vector<base::Hash256>& b) {
    REQUIRE(a.size() == b.size());
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
}

}  // namespace

TEST_CASE("two workers lead a dispute from a segment down to a number that one of them changed") {
    const tests::TinyJob job = tests::tiny_job();
    const auto program = program::build_step_program(job.spec.model, job.spec.train, job.spec.profile);
    const dispute::StepFacts facts = dispute::facts_of(job.spec, program, {0, 0, kStep, kStep});
    const PlayerMachine machine(job);
    const std::uint32_t disputed = 17;
    const auto id = facts.output(disputed, 0);
    // In the second row of tiles.
    const dispute::QuestionFault fault{kStep, disputed, 0, 20 * facts.cols(id), 1};
    const std::uint64_t faulty_tile = (facts.cols(id) + 15) / 16;
    const auto both = [&](Question question) {
        std::pair<dispute::DisputeAnswer, dispute::DisputeAnswer> out;
        out.first = from_segment(machine, question);
        question.fault = fault;
        out.second = from_segment(machine, question);
        return out;
    };
    // Segment to step: the honest end is the trace's, and the states part behind the faulty step.
    const auto [steps, claimed_steps] = both(about(QuestionKind::kSteps, 2));
    REQUIRE(steps.hashes.back() == machine.trace.boundaries[kSegment + 1]);
    REQUIRE(first_difference(claimed_steps.hashes, steps.hashes) == 1);
    // Step to output: from the state before the step, which both have.
    frames::Descend request{
        about(QuestionKind::kOutputs), machine.trace.boundaries[kSegment], {}, false, true};
    const auto state = machine.ask(request, machine.states[kSegment - 1]);
    REQUIRE(state.ok());
    REQUIRE(state->second.size() == 4);
    request = {about(QuestionKind::kOutputs, facts.outputs()), steps.hashes[0], {}, true, false};
    const auto outputs = machine.ask(request, state->second);
    REQUIRE(outputs.ok());
    REQUIRE(outputs->first.answer == from_segment(machine, request.question));
    request.question.fault = fault;
    const auto claimed_outputs = machine.ask(request, state->second);
    REQUIRE(claimed_outputs.ok());
    REQUIRE(first_difference(claimed_outputs->first.answer.hashes, outputs->first.answer.hashes) ==
            facts.first_output[disputed]);
    // Output to tile, tile to partial.
    PartialPosition at{kSegment, kStep, disputed, 0, 0, 0};
    const auto [tiles, claimed_tiles] = both(about(QuestionKind::kTiles, facts.tiles(id), at));
    at.tile = first_difference(claimed_tiles.hashes, tiles.hashes);
    REQUIRE(at.tile == faulty_tile);
    const std::uint64_t count = dispute::partial_count(facts, at);
    at.partial = count - 1;
    base::Hash256 partials = root_of({});
    if (count > 1) {
        const auto [rows, claimed_rows] = both(about(QuestionKind::kPartials, count - 1, at));
        REQUIRE(rows == claimed_rows);
        partials = root_of(rows.hashes);
    }
    // The witness of either.
    const auto [witness, claimed_witness] = both(about(QuestionKind::kWitness, 0, at));
    const auto fixed = [&](const std::vector<base::Hash256>& of_tiles,
                           const std::vector<base::Hash256>& of_outputs) {
        return dispute::FixedHashes{of_tiles[at.tile],   root_of(of_outputs), partials,
                                    job.spec.data.train, {steps.hashes[0]},   {}};
    };
    CHECK(dispute::judge(facts, at, fixed(tiles.hashes, outputs->first.answer.hashes), witness.witness)
              .claimant_wins());
    const auto verdict =
        dispute::judge(facts, at, fixed(claimed_tiles.hashes, claimed_outputs->first.answer.hashes),
                       claimed_witness.witness);
    CHECK(verdict.reason == dispute::GameReason::kDiffers);
    CHECK((verdict.claimed ^ verdict.computed) == 1);
}

TEST_CASE("a worker refuses by name what it cannot answer about a step, and goes on") {
    const tests::TinyJob job = tests::tiny_job();
    const PlayerMachine machine(job, "mainnet");
    const base::Hash256 start = machine.trace.boundaries[kSegment];
    const auto kind = [&](const Question& question, const base::Hash256& root, bool from_step = false) {
        const auto out = machine.ask({question, root, {}, from_step, false}, machine.states[kSegment - 1]);
        REQUIRE_FALSE(out.ok());
        return out.error().kind;
    };
    Question question = about(QuestionKind::kSteps, 2);
    REQUIRE(from_segment(machine, question).hashes.size() == 2);
    CHECK(kind(question, machine.trace.boundaries[0]) == base::ErrorKind::kVerification);
    question.row.nodes = 3;
    CHECK(kind(question, start) == base::ErrorKind::kUsage);
    question = about(QuestionKind::kOutputs, 5'000);
    CHECK(kind(question, start) == base::ErrorKind::kUsage);
    question = about(QuestionKind::kWitness, 0, {0, 0, 1'000'000, 0, 0, 0});
    CHECK(kind(question, start) == base::ErrorKind::kUsage);
    question = about(QuestionKind::kTiles, 1);
    question.at.segment = 7;
    CHECK(kind(question, start) == base::ErrorKind::kUsage);
    question = about(QuestionKind::kTiles, 1);
    question.at.step = 0;  // of another segment
    CHECK(kind(question, start) == base::ErrorKind::kUsage);
    question = about(QuestionKind::kSteps, 2);
    question.fault = dispute::QuestionFault{kStep, 0, 0, 0, 1};
    const auto drilled = machine.ask({question, start, {}, false, false}, machine.states[kSegment - 1]);
    REQUIRE_FALSE(drilled.ok());
    CHECK(drilled.error().what.find("devnet") != std::string::npos);
    CHECK(from_segment(machine, about(QuestionKind::kSteps, 2)).hashes.back() ==
          machine.trace.boundaries[kSegment + 1]);
}
