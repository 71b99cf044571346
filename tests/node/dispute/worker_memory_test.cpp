// SPDX-License-Identifier: Apache-2.0
// Both players of a game, each with a worker process and nothing else: a planted ulp loses wherever it is,
// and a claim that is right wins against every pick, whatever is disputed.
#include "node/dispute/worker_memory.hpp"

#include <functional>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "node/dispute/move_words.hpp"
#include "node/dispute/slot_difference.hpp"
#include "tests/node/worker/player_machine.hpp"
#include "trainer/run/state_bytes.hpp"

using namespace assay;
using dispute::GameVerdict;
using dispute::UnitClaim;
using dispute::UnitFacts;
using dispute::UnitKind;
using dispute::Way;
using dispute::WayStage;
using node::PlayerFiles;
using node::WorkerMemory;
using tests::PlayerMachine;
namespace frames = worker;

namespace {

using Files = std::vector<frames::SharedDescriptor>;

/// Computes until nothing is lacking.
template <class Compute>
auto with_worker(WorkerMemory& memory, const PlayerMachine& machine, Compute&& compute) {
    for (int asked = 0;; ++asked) {
        memory.begin();
        auto result = compute();
        if (!memory.lacking()) return result;
        REQUIRE(asked < 40);
        const node::WorkerAsk ask = *memory.lacking();
        bool enough = false;
        const auto hand = [&](const node::WorkerEvent& event) {
            if (!enough) enough = memory.take(ask, event.message, event.bulk);
        };
        const auto last = node::call(*machine.worker, ask.request, ask.bulk, hand);
        if (!last.ok()) FAIL(last.error().what);
        hand(*last);
    }
}

/// Points at the same place of every row, as if it were false, and at a step's end where `end` says so.
struct Liar {
    std::uint64_t place = 0;
    std::optional<dispute::StepEnd> end;

    [[nodiscard]] std::optional<dispute::Pick> pick(const Way& way, UnitFacts& facts) const {
        const dispute::Pick at_end{0, end};
        if (end && may_pick(way, facts, at_end)) return at_end;
        const dispute::Pick behind{way.posted.size(), std::nullopt};
        if (place >= way.posted.size() && may_pick(way, facts, behind)) return behind;
        const dispute::Pick inside{std::min(place, way.posted.size() - 1), std::nullopt};
        if (may_pick(way, facts, inside)) return inside;
        return dispute::Pick{0, std::nullopt};
    }
};

using Picks = std::function<std::optional<dispute::Pick>(const Way&, UnitFacts&)>;

struct Ended {
    Way way;
    std::optional<GameVerdict> verdict;  ///< nothing: the challenger found nothing
    std::string words;
};

/// The claimant against picks; `restarted`: it keeps nothing from one move to the next.
Ended play(UnitFacts& facts, const PlayerFiles& files, const PlayerMachine& machine, const Picks& picks,
           bool restarted = false) {
    auto memory = std::make_unique<WorkerMemory>(facts, files);
    Ended out{begin_way(facts), std::nullopt, {}};
    while (out.way.stage != WayStage::kWitness) {
        if (restarted) memory = std::make_unique<WorkerMemory>(facts, files);
        REQUIRE(with_worker(*memory, machine, [&] { return memory->starts_as_claimed(); }));
        const auto hashes = with_worker(*memory, machine, [&] { return next_post(out.way, *memory); });
        INFO(node::describe_post(out.way, facts));
        REQUIRE(may_post(out.way, facts, hashes));
        post(out.way, facts, hashes);
        const auto pick = picks(out.way, facts);
        if (!pick) return out;
        REQUIRE(may_pick(out.way, facts, *pick));
        out.words += node::describe_pick(out.way, facts, *pick) + "\n";
        dispute::pick(out.way, facts, *pick);
    }
    const auto witness = with_worker(*memory, machine, [&] { return memory->witness(out.way); });
    out.words += describe_way(out.way, facts);
    out.verdict = judge_way(out.way, facts, witness);
    return out;
}

/// The challenger's own picks.
Picks picks_of(WorkerMemory& memory, const PlayerMachine& machine) {
    return [&](const Way& way, UnitFacts& facts) {
        REQUIRE(with_worker(memory, machine, [&] { return memory.starts_as_claimed(); }));
        return with_worker(memory, machine, [&] { return next_pick(way, facts, memory); });
    };
}

/// What a slot's trace claims of a unit, as the ledger has it.
UnitClaim claim_of(const tests::TinyJob& job, const program::TraceRecord& trace, const base::Hash256& base,
                   UnitKind kind, std::uint32_t segment = 0) {
    const program::RoundPlan plan(job.spec);
    UnitClaim claim;
    claim.kind = kind;
    switch (kind) {
        case UnitKind::kSegment: {
            const program::StepRange steps = plan.steps(segment);
            claim.segment = segment;
            claim.first_step = steps.first;
            claim.last_step = steps.last;
            claim.age = steps.first;
            claim.states = {trace.boundaries[segment], trace.boundaries[segment + 1]};
            claim.fingerprints = {trace.fingerprints.begin() + steps.first,
                                  trace.fingerprints.begin() + steps.last};
            break;
        }
        case UnitKind::kUpdate:
            claim.claimed = trace.update;
            claim.states = {base, trace.boundaries.back()};
            break;
        case UnitKind::kCarried:
            claim.claimed = trace.carried->out;
            claim.states = {trace.boundaries.back()};
            claim.age = job.spec.train.inner_steps;
            break;
        default: FAIL("not of a slot");
    }
    return claim;
}

base::Hash256 root_of_base(const PlayerMachine& machine, const frames::SharedDescriptor& base) {
    const auto rooted =
        tests::call_for<frames::Rooted>(*machine.worker, frames::Root{frames::BulkKind::kBaseState}, {base});
    REQUIRE(rooted.ok());
    return rooted->first.root;
}

program::TraceRecord trained_with(const PlayerMachine& machine, const frames::Drill& drill) {
    frames::Train request;
    request.drills = {drill};
    const auto trained = tests::call_for<frames::Trained>(*machine.worker, request, {machine.base});
    if (!trained.ok()) FAIL(trained.error().what);
    return trained->first.trace;
}

/// Trains with one wrong number in segment 0, and keeps the state of each boundary: all behind follow from
/// it.
program::TraceRecord trained_falsely(const PlayerMachine& machine, std::vector<Files>& states) {
    frames::Drill drill{.kind = frames::DrillKind::kUlp, .segment = 0, .tensor = "wte.weight", .index = 5};
    frames::Train request;
    request.drills = {drill};
    const auto trained = tests::call_for<frames::Trained>(
        *machine.worker, request, {machine.base}, [&](const node::WorkerEvent& event) {
            if (std::get_if<frames::Boundary>(&event.message) != nullptr) states.push_back(event.bulk);
        });
    if (!trained.ok()) FAIL(trained.error().what);
    return trained->first.trace;
}

frames::Drill fault(std::uint32_t operator_index, std::uint64_t element) {
    frames::Drill drill{.kind = frames::DrillKind::kOperator, .segment = 1, .tensor = {}, .index = element};
    drill.step = 1;
    drill.operator_index = operator_index;
    return drill;
}

/// Any hashes of a row, for a claimant whose numbers nobody computed.
std::vector<base::Hash256> made_up(std::uint64_t nodes) {
    std::vector<base::Hash256> hashes;
    for (std::uint64_t i = 0; i < nodes; ++i)
        hashes.push_back(base::hash("test/made up", base::as_bytes(std::to_string(i))));
    return hashes;
}

}  // namespace

TEST_CASE("one ulp in any operator of one step loses the game that its trace leads to") {
    const tests::TinyJob job = tests::tiny_job();
    const auto program = program::build_step_program(job.spec.model, job.spec.train, job.spec.profile);
    const PlayerMachine machine(job);
    std::uint32_t played = 0;
    for (std::uint32_t index = 1; index < program.operators.size(); index += 13) {
        const frames::Drill drill = fault(index, 0);
        const auto claimed = trained_with(machine, drill);
        const auto unit = node::first_difference(claimed, machine.trace, job.spec);
        if (!unit) continue;  // rounded away before the step's end
        INFO("operator " << program.operators[index].name);
        REQUIRE(*unit == node::DisputedUnit{UnitKind::kSegment, 1});
        const UnitClaim claim = claim_of(job, claimed, {}, UnitKind::kSegment, 1);
        UnitFacts facts(job.spec, claim);
        PlayerFiles cheat{.base = machine.base};
        cheat.drills = {drill};
        WorkerMemory challenger(facts, {.base = machine.base});
        const Ended end = play(facts, cheat, machine, picks_of(challenger, machine), played == 0);
        INFO(end.words);
        REQUIRE(end.verdict.has_value());
        CHECK(end.verdict->outcome == dispute::GameOutcome::kClaimantLoses);
        CHECK(end.way.at.step == 3);
        CHECK(end.way.at.operator_index == index);
        CHECK(end.words.find("step 3 of segment 1") == 0);
        ++played;
        // From the start that the claimant served, the challenger finds the same.
        PlayerFiles served{.base = machine.base};
        served.served = {1, claimed.boundaries[1], machine.states[0]};
        WorkerMemory again(facts, served);
        CHECK(play(facts, cheat, machine, picks_of(again, machine)).way == end.way);
    }
    CHECK(played > 5);
}

TEST_CASE("who finds nothing has nothing to pick, and whose numbers lead elsewhere knows it") {
    const tests::TinyJob job = tests::tiny_job();
    const PlayerMachine machine(job);
    UnitClaim claim = claim_of(job, machine.trace, {}, UnitKind::kSegment, 1);
    {
        UnitFacts facts(job.spec, claim);
        WorkerMemory challenger(facts, {.base = machine.base});
        const Ended end = play(facts, {.base = machine.base}, machine, picks_of(challenger, machine));
        CHECK_FALSE(end.verdict.has_value());
    }
    claim.states[0].bytes[0] ^= 1;
    UnitFacts facts(job.spec, claim);
    WorkerMemory other(facts, {.base = machine.base});
    CHECK_FALSE(with_worker(other, machine, [&] { return other.starts_as_claimed(); }));
}

TEST_CASE("a unit behind a false one is right from the start that was served, a unit or more before it") {
    for (const bool carries : {false, true}) {
        tests::TinyJob job = tests::tiny_job();
        if (carries) job.spec.inner_state = program::InnerState::kCarried;
        const PlayerMachine machine(job);
        const base::Hash256 base = root_of_base(machine, machine.base);
        std::vector<Files> states;  // of boundary 1 first
        const program::TraceRecord trace = trained_falsely(machine, states);
        REQUIRE(trace.boundaries[1] != machine.trace.boundaries[1]);
        const program::RoundPlan plan(job.spec);
        const Files end = program::narrowed(states[2], program::strategy_of(job.spec).lane_arrays,
                                            plan.start(plan.finalise()).arrays);
        struct Served {
            UnitKind kind;
            std::uint32_t segment;
            node::ServedState start;
        };
        std::vector<Served> cases = {
            {UnitKind::kSegment, 1, {1, trace.boundaries[1], states[0]}},
            {UnitKind::kSegment, 2, {1, trace.boundaries[1], states[0]}},
            {UnitKind::kUpdate, 0, {1, trace.boundaries[1], states[0]}},
            {UnitKind::kUpdate, 0, {plan.finalise(), trace.boundaries[3], end}},
        };
        if (carries) {
            cases.push_back({UnitKind::kCarried, 0, {2, trace.boundaries[2], states[1]}});
            cases.push_back({UnitKind::kCarried, 0, {plan.finalise(), trace.boundaries[3], end}});
        }
        for (const Served& one : cases) {
            const UnitClaim claim = claim_of(job, trace, base, one.kind, one.segment);
            INFO(node::describe_unit(claim) << " from unit " << one.start.unit);
            UnitFacts facts(job.spec, claim);
            PlayerFiles files{.base = machine.base};
            WorkerMemory from_base(facts, files);
            CHECK_FALSE(with_worker(from_base, machine, [&] { return from_base.starts_as_claimed(); }));
            files.served = one.start;
            for (const bool restarted : {false, true}) {
                const Liar liar{3, {}};
                const Ended ended = play(
                    facts, files, machine, [&](const Way& way, UnitFacts& of) { return liar.pick(way, of); },
                    restarted);
                REQUIRE(ended.verdict.has_value());
                CHECK(ended.verdict->claimant_wins());
            }
        }
    }
}

TEST_CASE("a served start that cannot be read, or leads elsewhere, gives way to the round's base") {
    const tests::TinyJob job = tests::tiny_job();
    const PlayerMachine machine(job);
    std::vector<Files> states;
    const program::TraceRecord other = trained_falsely(machine, states);
    const UnitClaim claim = claim_of(job, machine.trace, {}, UnitKind::kSegment, 2);
    const base::Hash256& second = machine.trace.boundaries[1];
    Files noise = machine.states[0];
    noise[1] = machine.states[0][2];
    const std::pair<const char*, node::ServedState> starts[] = {
        {"no head", {1, second, {machine.update}}},
        {"nothing", {1, second, {}}},
        {"another root than its head has", {1, other.boundaries[1], machine.states[0]}},
        {"an array in another's place", {1, second, noise}},
        {"one behind the unit", {3, machine.trace.boundaries[3], machine.states[2]}},
        {"one that leads elsewhere", {1, other.boundaries[1], states[0]}},
        {"the unit's own, of another run", {2, other.boundaries[2], states[1]}}};
    for (const auto& [what, start] : starts) {
        INFO(what);
        UnitFacts facts(job.spec, claim);
        WorkerMemory memory(facts, {.base = machine.base, .served = start});
        CHECK(with_worker(memory, machine, [&] { return memory.starts_as_claimed(); }));
        // Whose slot cannot be run, since nothing else was gathered, says so and asks for nothing.
        WorkerMemory alone(facts, {.base = nullptr, .can_run = false, .served = start});
        CHECK_FALSE(with_worker(alone, machine, [&] { return alone.starts_as_claimed(); }));
        CHECK(alone.lacks_run());
    }
}

TEST_CASE("a unit whose start was served is reached from it alone") {
    const tests::TinyJob job = tests::tiny_job();
    const PlayerMachine machine(job);
    const UnitClaim claim = claim_of(job, machine.trace, {}, UnitKind::kSegment, 2);
    UnitFacts facts(job.spec, claim);
    WorkerMemory memory(facts,
                        {.base = nullptr,
                         .can_run = false,
                         .served = node::ServedState{1, machine.trace.boundaries[1], machine.states[0]}});
    CHECK(with_worker(memory, machine, [&] { return memory.starts_as_claimed(); }));
    CHECK(with_worker(memory, machine, [&] { return memory.state(claim.last_step); }) ==
          machine.trace.boundaries[3]);
    CHECK_FALSE(memory.lacks_run());
}

TEST_CASE("whose own update is out of range points at the number, and does not concede to one made up") {
    tests::TinyJob job = tests::tiny_job();
    job.spec.train.learning_rate = 1.0F;  // numbers move further than 2^-64 can count
    job.spec.train.sum_exponent = -64;
    const PlayerMachine machine(job);
    REQUIRE(machine.trace.divergence);
    REQUIRE(machine.trace.divergence->step == job.spec.train.inner_steps);
    const base::Hash256 base = root_of_base(machine, machine.base);
    UnitClaim claim = claim_of(job, machine.trace, base, UnitKind::kUpdate);
    const std::vector<program::TensorInfo> tensors = program::parameter_tensors(job.spec.model);
    const auto tiles_of = [&](std::uint32_t tensor) {
        return made_up(arithmetic::tile_count(tensors[tensor].rows, tensors[tensor].cols));
    };
    std::vector<base::Hash256> leaves;
    for (std::uint32_t i = 0; i < tensors.size(); ++i)
        leaves.push_back(program::tensor_leaf(tensors[i], base::merkle_root(tiles_of(i))));
    claim.claimed = base::merkle_root(leaves);
    UnitFacts facts(job.spec, claim);
    Way way = begin_way(facts);
    for (const bool restarted : {false, true}) {
        auto own = std::make_unique<WorkerMemory>(facts, PlayerFiles{.base = machine.base});
        way = begin_way(facts);
        while (way.stage != WayStage::kWitness) {
            if (restarted) own = std::make_unique<WorkerMemory>(facts, PlayerFiles{.base = machine.base});
            post(way, facts, way.stage == WayStage::kTensors ? leaves : tiles_of(way.array.tensor));
            const auto pick = with_worker(*own, machine, [&] { return next_pick(way, facts, *own); });
            REQUIRE(pick);
            dispute::pick(way, facts, *pick);
        }
    }
    // The numbers of that tile are out of range from this base to this end.
    frames::DescendArray ask;
    ask.question.level = dispute::ArrayLevel::kDivergence;
    ask.end_root = machine.trace.boundaries.back();
    Files bulk{machine.base};
    const program::RoundPlan plan(job.spec);
    const Files end = program::narrowed(machine.states.back(), program::strategy_of(job.spec).lane_arrays,
                                        plan.start(plan.finalise()).arrays);
    bulk.insert(bulk.end(), end.begin(), end.end());
    const auto shown = tests::call_for<frames::Descended>(*machine.worker, ask, bulk);
    REQUIRE(shown.ok());
    const base::Bytes& witness = shown->first.answer.witness;
    const auto number = [&](std::size_t at, std::size_t bytes) {
        std::uint64_t value = 0;
        for (std::size_t i = bytes; i > 0; --i) value = value << 8 | witness[at + i - 1];
        return value;
    };
    CHECK(way.array.tensor == number(0, 4));
    CHECK(way.array.tile == number(4, 8));
}

TEST_CASE("whose own step is not finite points at its first such number, and has no fingerprint behind it") {
    const tests::TinyJob job = tests::tiny_job();
    const PlayerMachine machine(job);
    const auto tensors = program::parameter_tensors(job.spec.model);
    const auto bytes = frames::read_all(*machine.base, std::size_t{1} << 24);
    REQUIRE(bytes.ok());
    auto base = trainer::decode_base_state(*bytes, tensors.back().offset + tensors.back().size());
    REQUIRE(base.ok());
    base->parameters[tensors[program::tensor_index(tensors, "ln_f.weight")].offset] = 3e38F;
    auto file = frames::memory_file("test", trainer::encode_base_state(*base));
    REQUIRE(file.ok());
    const frames::SharedDescriptor huge = std::move(file).value();
    const auto trained = tests::call_for<frames::Trained>(*machine.worker, frames::Train{}, {huge});
    REQUIRE(trained.ok());
    const program::TraceRecord& trace = trained->first.trace;
    REQUIRE(trace.divergence);
    REQUIRE(trace.divergence->step == 0);
    program::TraceRecord goes_on = trace;  // as if its steps had ended well, and changed nothing
    goes_on.fingerprints.resize(job.spec.train.inner_steps);
    goes_on.divergence.reset();
    const UnitClaim claim = claim_of(job, goes_on, {}, UnitKind::kSegment, 0);
    UnitFacts facts(job.spec, claim);
    WorkerMemory own(facts, {.base = huge});
    REQUIRE(with_worker(own, machine, [&] { return own.starts_as_claimed(); }));
    CHECK_FALSE(with_worker(own, machine, [&] { return own.fingerprint(0); }));
    Way way = begin_way(facts);
    // The claimant posts what the worker gives here, states and outputs. It is caught all the same.
    for (int move = 0; move < 2; ++move) {
        post(way, facts, with_worker(own, machine, [&] { return next_post(way, own); }));
        const auto pick = with_worker(own, machine, [&] { return next_pick(way, facts, own); });
        REQUIRE(pick);
        dispute::pick(way, facts, *pick);
    }
    CHECK(way.at.step == 0);
    CHECK(way.at.operator_index == trace.divergence->operator_index);
}

TEST_CASE("a replay whose start is gone is no end of the player's work") {
    const tests::TinyJob job = tests::tiny_job();
    const PlayerMachine machine(job);
    const UnitClaim claim = claim_of(job, machine.trace, {}, UnitKind::kSegment, 1);
    UnitFacts facts(job.spec, claim);
    WorkerMemory own(facts, {.base = machine.base,
                             .served = node::ServedState{1, machine.trace.boundaries[1], machine.states[0]}});
    own.begin();
    CHECK_FALSE(own.fingerprint(2).has_value());
    REQUIRE(own.lacking());
    const node::WorkerAsk ask = *own.lacking();
    REQUIRE(std::holds_alternative<frames::Replay>(ask.request));
    (void)own.take(ask, frames::Replayed{.verdict = frames::UnitVerdict::kUnavailable}, {});
    const auto found = with_worker(own, machine, [&] { return own.fingerprint(2); });
    REQUIRE(found);
    CHECK(*found == machine.trace.fingerprints[2]);
}

TEST_CASE("a claim of a slot that is right wins against every pick") {
    for (const bool carries : {false, true}) {
        tests::TinyJob job = tests::tiny_job();
        if (carries) job.spec.inner_state = program::InnerState::kCarried;
        const PlayerMachine machine(job);
        const base::Hash256 base = root_of_base(machine, machine.base);
        const PlayerFiles files{.base = machine.base};
        std::vector<std::pair<UnitKind, std::uint32_t>> units = {{UnitKind::kSegment, 0},
                                                                 {UnitKind::kSegment, 1},
                                                                 {UnitKind::kSegment, 2},
                                                                 {UnitKind::kUpdate, 0}};
        if (carries) units.emplace_back(UnitKind::kCarried, 0);
        const std::vector<Liar> liars = {{0, {}},
                                         {1, {}},
                                         {100, {}},
                                         {3'000, {}},
                                         {0, dispute::StepEnd::kLoss},
                                         {0, dispute::StepEnd::kNorm},
                                         {0, dispute::StepEnd::kState},
                                         {1, dispute::StepEnd::kState},
                                         {7, dispute::StepEnd::kState}};
        for (const auto& [kind, segment] : units) {
            const UnitClaim claim = claim_of(job, machine.trace, base, kind, segment);
            UnitFacts facts(job.spec, claim);
            for (const Liar& liar : liars) {
                if (liar.end && kind != UnitKind::kSegment) continue;
                const Ended end = play(facts, files, machine,
                                       [&](const Way& way, UnitFacts& of) { return liar.pick(way, of); });
                INFO(node::describe_unit(claim) << "\n" << end.words);
                REQUIRE(end.verdict.has_value());
                CHECK(end.verdict->claimant_wins());
            }
        }
    }
}

TEST_CASE("a merge and a clip that are right win against every pick") {
    tests::TinyJob job = tests::tiny_job();
    job.spec.train.max_update_norm = 1e-3F;
    const PlayerMachine machine(job);
    const base::Hash256 base = root_of_base(machine, machine.base);
    frames::Merge merge;
    merge.accepted = {{0, 1, machine.trace.update}};
    const auto merged =
        tests::call_for<frames::BaseStateFrame>(*machine.worker, merge, {machine.base, machine.update});
    REQUIRE(merged.ok());
    UnitClaim claim;
    claim.states = {base};
    claim.claimed = merged->first.root;
    claim.updates = {machine.trace.update};
    claim.clips = merged->first.clips;
    PlayerFiles files{.base = machine.base};
    files.slots = {0};
    files.updates = {machine.update};
    for (const UnitKind kind : {UnitKind::kMerge, UnitKind::kClip}) {
        claim.kind = kind;
        UnitFacts facts(job.spec, claim);
        for (const std::uint64_t place : {0U, 1U, 5U, 3'000U}) {
            const Liar liar{place, {}};
            const Ended end = play(facts, files, machine,
                                   [&](const Way& way, UnitFacts& of) { return liar.pick(way, of); });
            INFO(end.words);
            REQUIRE(end.verdict.has_value());
            CHECK(end.verdict->claimant_wins());
        }
    }
}
