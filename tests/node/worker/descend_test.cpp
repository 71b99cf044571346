// SPDX-License-Identifier: Apache-2.0
// Both players of a dispute over a segment, each with nothing but a worker process: from the state roots
// between steps down to the number that one of them changed by one ulp.
#include <cstdlib>

#include "contracts/dispute/array_referee.hpp"
#include "contracts/dispute/clip_referee.hpp"
#include "contracts/dispute/referee.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_head.hpp"
#include "contracts/program/state_root.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/worker_process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tiny_job.hpp"

using namespace assay;
using namespace assay::node;
using dispute::PartialPosition;
using dispute::Question;
using dispute::QuestionKind;

namespace {

constexpr std::uint32_t kStep = 3;     // the second step of segment 1
constexpr std::uint32_t kSegment = 1;  // segments have two steps

std::unique_ptr<WorkerProcess> started() {
    WorkerOptions options;
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    REQUIRE(folder != nullptr);
    options.program = std::filesystem::path(folder) / "assay-worker";
    options.threads = 1;
    auto worker = WorkerProcess::start(options);
    if (!worker.ok()) FAIL(worker.error().what);
    return std::move(worker).value();
}

/// A worker with the job open, and slot 0 of round 0 trained.
struct Machine {
    explicit Machine(const tests::TinyJob& job, const std::string& chain = "devnet-1") : worker(started()) {
        auto file = frames::memory_file("test", job.file);
        REQUIRE(file.ok());
        const frames::SharedDescriptor tokens = std::move(file).value();
        REQUIRE(call_for<frames::Opened>(*worker, frames::OpenJob{chain, job.spec}, {tokens, tokens}).ok());
        auto initial = initial_state(*worker);
        REQUIRE(initial.ok());
        base = initial->bytes;
        const auto trained = call_for<frames::Trained>(
            *worker, frames::Train{}, {base}, [&](const WorkerEvent& event) {
                if (std::get_if<frames::Boundary>(&event.message) != nullptr) states.push_back(event.bulk);
            });
        REQUIRE(trained.ok());
        trace = trained->first.trace;
        update = trained->second.front();
    }

    base::Outcome<std::pair<frames::Descended, std::vector<frames::SharedDescriptor>>> ask(
        const frames::Descend& request, const std::vector<frames::SharedDescriptor>& bulk) const {
        return call_for<frames::Descended>(*worker, request, bulk);
    }
    /// A question from the start of the segment.
    dispute::Answer from_segment(const Question& question) const {
        const auto out = ask({question, trace.boundaries[kSegment], {}, false, false}, states[kSegment - 1]);
        if (!out.ok()) FAIL(out.error().what);
        return out->first.answer;
    }

    std::unique_ptr<WorkerProcess> worker;
    frames::SharedDescriptor base;
    std::vector<std::vector<frames::SharedDescriptor>> states;
    program::TraceRecord trace;
    frames::SharedDescriptor update;
};

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

base::Hash256 root_of(const std::vector<base::Hash256>& hashes) { return dispute::StoredTree(hashes).root(); }

}  // namespace

TEST_CASE("two workers lead a dispute from a segment down to a number that one of them changed") {
    const tests::TinyJob job = tests::tiny_job();
    const auto program = program::build_step_program(job.spec.model, job.spec.train, job.spec.profile);
    const dispute::StepFacts facts = dispute::facts_of(job.spec, program, {0, 0, kStep, kStep});
    const Machine machine(job);
    const std::uint32_t disputed = 17;
    const auto id = facts.output(disputed, 0);
    // In the second row of tiles.
    const dispute::QuestionFault fault{kStep, disputed, 0, 20 * facts.cols(id), 1};
    const std::uint64_t faulty_tile = (facts.cols(id) + 15) / 16;
    const auto both = [&](Question question) {
        std::pair<dispute::Answer, dispute::Answer> out;
        out.first = machine.from_segment(question);
        question.fault = fault;
        out.second = machine.from_segment(question);
        return out;
    };
    // Segment to step: the honest end is the trace's, and the states part behind the faulty step.
    const auto [steps, claimed_steps] = both(about(QuestionKind::kSteps, 2));
    REQUIRE(steps.hashes.back() == machine.trace.boundaries[kSegment + 1]);
    REQUIRE(first_difference(claimed_steps.hashes, steps.hashes) == 1);
    // Step to output: from the state before the step, which both have.
    frames::Descend request{about(QuestionKind::kOutputs), machine.trace.boundaries[kSegment], {}, false, true};
    const auto state = machine.ask(request, machine.states[kSegment - 1]);
    REQUIRE(state.ok());
    REQUIRE(state->second.size() == 4);
    request = {about(QuestionKind::kOutputs, facts.outputs()), steps.hashes[0], {}, true, false};
    const auto outputs = machine.ask(request, state->second);
    REQUIRE(outputs.ok());
    REQUIRE(outputs->first.answer == machine.from_segment(request.question));
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
        return dispute::FixedHashes{of_tiles[at.tile], root_of(of_outputs), partials,
                                    job.spec.data.train, {steps.hashes[0]}, {}};
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
    const Machine machine(job, "mainnet");
    const base::Hash256 start = machine.trace.boundaries[kSegment];
    const auto kind = [&](const Question& question, const base::Hash256& root, bool from_step = false) {
        const auto out =
            machine.ask({question, root, {}, from_step, false}, machine.states[kSegment - 1]);
        REQUIRE_FALSE(out.ok());
        return out.error().kind;
    };
    Question question = about(QuestionKind::kSteps, 2);
    REQUIRE(machine.from_segment(question).hashes.size() == 2);
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
    CHECK(machine.from_segment(about(QuestionKind::kSteps, 2)).hashes.back() ==
          machine.trace.boundaries[kSegment + 1]);
}

TEST_CASE("a worker leads a dispute over an update, a merge and a clip down to a witness") {
    tests::TinyJob job = tests::tiny_job();
    job.spec.train.max_update_norm = 1e-3F;
    const Machine machine(job);
    const auto tensors = program::parameter_tensors(job.spec.model);
    const auto ask = [&](const frames::DescendArray& request,
                         const std::vector<frames::SharedDescriptor>& bulk) {
        const auto out = call_for<frames::Descended>(*machine.worker, request, bulk);
        if (!out.ok()) FAIL(out.error().what);
        return out->first.answer;
    };
    // Its tensors fold into the array, a tensor's tiles into the tensor; the witness of a partial is good.
    const auto descend = [&](frames::DescendArray request, const std::vector<frames::SharedDescriptor>& bulk,
                             const dispute::ArrayFacts& facts, dispute::FixedHashes fixed) {
        request.question.level = dispute::ArrayLevel::kTensors;
        request.question.row = {0, 0, tensors.size()};
        const auto roots = ask(request, bulk).hashes;
        for (std::uint32_t t = 0; t < tensors.size(); t += 5) {
            dispute::ArrayPosition at{t, 0, 0};
            const auto count = arithmetic::tile_count(tensors[t].rows, tensors[t].cols);
            request.question.at = at;
            request.question.level = dispute::ArrayLevel::kTiles;
            request.question.row = dispute::top_row(count);
            const auto tiles = ask(request, bulk).hashes;
            REQUIRE(root_of(tiles) == roots[t]);
            at.tile = count - 1;
            request.question.at = at;
            fixed.partials = root_of({});
            std::vector<base::Hash256> partials;
            if (dispute::partial_count(facts) > 1) {
                request.question.level = dispute::ArrayLevel::kPartials;
                request.question.row = dispute::top_row(dispute::partial_count(facts) - 1);
                partials = ask(request, bulk).hashes;
                fixed.partials = root_of(partials);
            }
            partials.push_back(tiles.back());
            request.question.level = dispute::ArrayLevel::kWitness;
            for (at.partial = 0; at.partial < partials.size(); ++at.partial) {
                request.question.at = at;
                fixed.claimed = partials[at.partial];
                const base::Bytes witness = ask(request, bulk).witness;
                CHECK(dispute::judge(facts, at, fixed, witness).claimant_wins());
                fixed.claimed = root_of(roots);
                CHECK(dispute::judge(facts, at, fixed, witness).reason == dispute::GameReason::kNotClaimed);
            }
        }
        return dispute::fold_array(tensors, roots);
    };
    dispute::ArrayFacts facts;
    facts.tensors = &tensors;
    facts.row = &program::strategy_of(job.spec);
    facts.settings = program::round_settings(job.spec);
    frames::DescendArray request;
    request.question.subject = dispute::ArraySubject::kUpdate;
    request.end_root = machine.trace.boundaries.back();
    const auto arrays = program::RoundPlan(job.spec).start(program::RoundPlan(job.spec).finalise()).arrays;
    auto bulk = program::narrowed(machine.states.back(), program::strategy_of(job.spec).lane_arrays, arrays);
    bulk.insert(bulk.begin(), machine.base);
    const auto rooted = call_for<frames::Rooted>(
        *machine.worker, frames::Root{frames::BulkKind::kBaseState}, {machine.base});
    REQUIRE(rooted.ok());
    const base::Hash256 start = rooted->first.root;
    CHECK(descend(request, bulk, facts, {{}, {}, {}, {}, {start, request.end_root}, {}}) ==
          machine.trace.update);
    // The update is in range: there is no divergence to show.
    request.question.level = dispute::ArrayLevel::kDivergence;
    CHECK_FALSE(call_for<frames::Descended>(*machine.worker, request, bulk).ok());
    request.end_root = start;
    CHECK_FALSE(call_for<frames::Descended>(*machine.worker, request, bulk).ok());
    // A merge of one slot, with its clip.
    frames::Merge merge;
    merge.accepted = {{0, 3, machine.trace.update}};
    const auto merged =
        call_for<frames::BaseStateFrame>(*machine.worker, merge, {machine.base, machine.update});
    REQUIRE(merged.ok());
    const std::uint32_t clip = merged->first.clips.at(0);
    REQUIRE(clip < arithmetic::kWholeClip);
    request = {};
    request.merged = {{0, 3, clip, machine.trace.update}};
    facts.slots = {{{}, 3, clip}};
    program::StateRoots next;
    next.step_count = job.spec.train.inner_steps;
    const dispute::FixedHashes fixed{{}, {}, {}, {}, {start}, {machine.trace.update}};
    request.question.subject = dispute::ArraySubject::kMergedParameters;
    facts.unit = dispute::ArrayUnit::kMergedParameters;
    next.parameters = descend(request, {machine.base, machine.update}, facts, fixed);
    request.question.subject = dispute::ArraySubject::kMergedOuter;
    facts.unit = dispute::ArrayUnit::kMergedOuter;
    next.outer = descend(request, {machine.base, machine.update}, facts, fixed);
    CHECK(program::state_root(next) == merged->first.root);
    // The clip itself.
    const dispute::ClipFacts of_clip{&tensors, facts.settings.sum_exponent,
                                     job.spec.train.max_update_norm.value()};
    const std::uint64_t count = dispute::partial_count(of_clip);
    request.question.subject = dispute::ArraySubject::kClip;
    request.question.level = dispute::ArrayLevel::kPartials;
    request.question.row = dispute::top_row(count - 1);
    const auto sums = ask(request, {machine.update}).hashes;
    request.question.level = dispute::ArrayLevel::kWitness;
    for (request.question.at.partial = 0; request.question.at.partial < count; ++request.question.at.partial) {
        const std::uint64_t at = request.question.at.partial;
        dispute::Cells claimed{dispute::CellKind::kWhole, {}, {base::Int128{clip}}};
        dispute::FixedHashes hashes = fixed;
        hashes.partials = root_of(sums);
        hashes.claimed = at + 1 == count ? dispute::partial_hash(claimed) : sums[at];
        const base::Bytes witness = ask(request, {machine.update}).witness;
        CHECK(dispute::judge(of_clip, at, hashes, witness).claimant_wins());
    }
}
