// SPDX-License-Identifier: Apache-2.0
// A fault in any output of any kind of operator of both families in both profiles, and in everything that
// stands behind the steps: the ledger's own computation convicts the miner and who vouched for it.
#include <bit>
#include <cstdlib>
#include <random>
#include <set>

#include "contracts/program/round_law.hpp"
#include "tests/contracts/dispute/array_player.hpp"
#include "tests/contracts/dispute/step_player.hpp"
#include "tests/contracts/rules/planted_court.hpp"

namespace assay::contracts::test {

namespace {

using dispute::StepCommitments;
using disputed::ArrayStore;
using disputed::ArrayUnitPlayer;
using disputed::kStep;
using disputed::Step;
using disputed::StepPlayer;
using program::OperatorKind;

const char* const kVariants[] = {"gpt2 f32", "gpt2 i16", "llama untied f32", "llama untied i16"};

/// The step of the fixture as one of a job that the rules accept.
void make_court_step(Step& step, const std::string& name) {
    for (const disputed::StepVariant& variant : disputed::small_variants())
        if (variant.name == name) make_step(step, variant);
    JobSpec spec = small_job();
    spec.profile = step.spec.profile;
    spec.model = step.spec.model;
    spec.train = step.spec.train;
    spec.data.train = step.data;
    spec.data.train_tokens = step.spec.data.train_tokens;
    step.spec = spec;
    step.inputs.facts =
        dispute::facts_of(spec, step.program, {.round = 0, .slot = 0, .step = kStep, .age = kStep});
}

/// What a miner claims whose first segment ended as the player's.
PlantedCourt::TraceOf claims(StepPlayer& player) {
    return [&player](const Job& job, std::uint32_t slot) {
        TraceRecord trace = true_trace(job, 0, slot);
        if (slot != 0) return trace;
        trace.boundaries[1] = player.state(kStep + 1);
        for (std::uint32_t step = 0; step <= kStep; ++step)
            trace.fingerprints[step] = player.fingerprint(step).value();
        return trace;
    };
}

struct Planted {
    std::uint32_t operator_index = 0;
    std::uint32_t output = 0;
};

/// One operator of each kind, another one in every variant where there are several, with each of its outputs.
std::vector<Planted> places(const program::Program& program, std::mt19937_64& random,
                            std::set<OperatorKind>& met) {
    std::map<OperatorKind, std::vector<std::uint32_t>> of_kind;
    for (std::uint32_t i = 0; i < program.operators.size(); ++i)
        of_kind[program.operators[i].kind].push_back(i);
    std::vector<Planted> out;
    for (const auto& [kind, operators] : of_kind) {
        met.insert(kind);
        const std::uint32_t index = operators[random() % operators.size()];
        for (std::uint32_t o = 0; o < program.operators[index].outputs.size(); ++o) out.push_back({index, o});
    }
    return out;
}

/// The least change of a number of the output that shows in what the claim says of the segment: one ulp, or
/// a higher bit where rounding swallows it.
std::optional<dispute::PlantedFault> visible_fault(const Step& step, StepPlayer& honest,
                                                   const StepCommitments& right, const Planted& place,
                                                   std::mt19937_64& random) {
    const std::vector<float>& numbers = right.version(place.operator_index, place.output);
    // A softmax hides its maximum: what it is divided by hides it again.
    for (const int bit : {0, 8, 16, 22, 23, 24, 25, 26, 27, 31}) {
        const std::uint32_t flip = 1U << static_cast<unsigned>(bit);
        for (int tries = 0; tries < 8; ++tries) {
            const std::uint64_t element = random() % numbers.size();
            if (numbers[element] == 0.0F) continue;
            const dispute::PlantedFault fault{place.operator_index, place.output, element, flip};
            StepCommitments wrong(step.inputs, std::nullopt, fault);
            if (wrong.diverged()) continue;
            StepPlayer claimant(step, wrong, "same");
            const bool shows = claimant.computed_print() != honest.print ||
                               claimant.state(kStep + 1) != honest.state(kStep + 1);
            if (shows) return fault;
        }
    }
    return std::nullopt;
}

void check_planted(const Step& step, const dispute::PlantedFault& fault, StepPlayer& honest) {
    StepCommitments wrong(step.inputs, std::nullopt, fault);
    StepPlayer claimant(step, wrong, "same");
    claimant.print = claimant.computed_print();
    PlantedCourt court(step.spec, claims(claimant));
    const Game game = court.convict(court.about_slot(UnitKind::kSegment), claimant, honest);
    CHECK(game.way.at.step == kStep);
    CHECK(game.way.at.operator_index == fault.operator_index);
    CHECK(game.way.at.output == fault.output);
    CHECK(to_text(game.finding.reason) == "differs");
    CHECK((game.finding.claimed_low ^ game.finding.computed_low) == fault.flip);
}

}  // namespace

TEST_CASE("whatever operator and output a fault is planted in, the miner and its vouchers lose") {
    std::mt19937_64 random(20261124);
    std::set<OperatorKind> met;
    std::size_t games = 0;
    for (const char* const name : kVariants) {
        Step step;
        make_court_step(step, name);
        StepCommitments right(step.inputs);
        StepPlayer honest(step, right, "same");
        honest.print = honest.computed_print();
        for (const Planted& place : places(step.program, random, met)) {
            INFO(name << ": operator " << place.operator_index << ", output " << place.output);
            const auto fault = visible_fault(step, honest, right, place, random);
            REQUIRE(fault);
            check_planted(step, *fault, honest);
            ++games;
        }
    }
    CHECK(games > 150);
    std::set<OperatorKind> all;
    for (const auto rows : {dispute::element_rows(), dispute::row_sum_rows(), dispute::product_rows(),
                            dispute::column_sum_rows(), dispute::norm_rows()}) {
        for (const dispute::PartialRow& row : rows) all.insert(row.kind);
    }
    CHECK(met == all);
}

TEST_CASE("a miner that trained another slot's tokens loses with those who vouched for it") {
    for (const char* const name : kVariants) {
        CAPTURE(name);
        Step step;
        make_court_step(step, name);
        StepCommitments right(step.inputs);
        StepPlayer honest(step, right, "same");
        honest.print = honest.computed_print();
        dispute::StepInputs other = step.inputs;
        other.facts =
            dispute::facts_of(step.spec, step.program, {.round = 0, .slot = 1, .step = kStep, .age = kStep});
        REQUIRE(other.facts.first_token(0) != step.inputs.facts.first_token(0));
        StepCommitments wrong(other);
        StepPlayer claimant(step, wrong, "same");
        claimant.print = claimant.computed_print();
        PlantedCourt court(step.spec, claims(claimant));
        const Game game = court.convict(court.about_slot(UnitKind::kSegment), claimant, honest);
        CHECK(game.way.at.operator_index == 0);
    }
}

TEST_CASE("a state or a fingerprint that the outputs of a step do not make loses") {
    Step step;
    make_court_step(step, "llama untied f32");
    StepCommitments right(step.inputs);
    StepPlayer honest(step, right, "same");
    honest.print = honest.computed_print();
    for (const std::uint32_t component : {0U, 1U, 2U, 3U}) {
        CAPTURE(component);
        StepPlayer claimant(step, right, "same");
        claimant.print = honest.print;
        claimant.lie_about(component, component + 1);
        PlantedCourt court(step.spec, claims(claimant));
        const Game game = court.convict(court.about_slot(UnitKind::kSegment), claimant, honest);
        CHECK(game.way.step_end == StepEnd::kState);
        CHECK(game.way.state.component == component);
    }
    for (const StepEnd end : {StepEnd::kLoss, StepEnd::kNorm}) {
        StepPlayer claimant(step, right, "same");
        claimant.print = honest.print;
        (end == StepEnd::kLoss ? claimant.print.loss : claimant.print.norm) ^= 1;
        PlantedCourt court(step.spec, claims(claimant));
        const Game game = court.convict(court.about_slot(UnitKind::kSegment), claimant, honest);
        CHECK(game.way.step_end == end);
        CHECK(to_text(game.finding.reason) == "differs");
    }
}

namespace {

/// The arrays of a round of a small job under a strategy, two slots.
struct Arrays {
    JobSpec spec = small_job();
    ArrayStore store;
    std::vector<float> merged, merged_outer;

    explicit Arrays(const program::StrategyRow& row, float bound = 0)
        : store(program::build_step_program(model(), spec.train, spec.profile).parameters) {
        spec.model = model();
        spec.engine = row.engine;
        spec.strategy = row.number;
        spec.train.max_update_norm = bound;
        std::mt19937_64 random(3);
        const auto uniform = [&] { return static_cast<float>(random() >> 40U) * 0x1p-24F - 0.5F; };
        std::vector<float> other;
        for (std::size_t i = 0; i < store.numbers(); ++i) {
            store.base.push_back(uniform());
            store.outer.push_back(uniform() * 1e-2F);
            store.end.push_back(store.base.back() + uniform() * 1e-3F);
            other.push_back(store.base.back() + uniform() * 1e-3F);
        }
        store.end_steps = spec.train.inner_steps;
        spec.initial_root = remember_base(store.base_roots());
        const program::RoundSettings settings = program::round_settings(spec);
        std::vector<program::Contribution> contributions;
        for (const std::vector<float>* const end : {&store.end, &other}) {
            store.updates.emplace_back(store.numbers());
            REQUIRE(row.codec->finalise(settings, store.base, *end, store.updates.back()));
        }
        for (const auto& update : store.updates)
            contributions.push_back({update, 1, program::update_clip(spec, update)});
        merged = store.base;
        merged_outer = store.outer;
        row.outer->merge(settings, contributions, merged, merged_outer);
    }
    static program::ModelConfig model() { return {program::Family::kGpt2, 1, 12, 2, 18, 40}; }
    [[nodiscard]] std::vector<std::uint32_t> clips() const {
        std::vector<std::uint32_t> out;
        for (const auto& update : store.updates) out.push_back(program::update_clip(spec, update));
        return out;
    }
    [[nodiscard]] PlantedCourt::TraceOf claims(const Hash256& first_update) {
        return [this, first_update](const Job& job, std::uint32_t slot) {
            TraceRecord trace = true_trace(job, 0, slot);
            trace.update = slot == 0 ? first_update : store.update_root(store.updates[1]);
            if (slot == 0) trace.boundaries.back() = program::state_root(store.end_roots());
            return trace;
        };
    }
};

}  // namespace

TEST_CASE("an update with one wrong number loses under every strategy") {
    std::mt19937_64 random(8);
    for (const program::StrategyRow* const row : program::strategies()) {
        INFO(row->word << " " << row->codec->word);
        Arrays arrays(*row);
        std::vector<std::int64_t> wrong = arrays.store.updates[0];
        wrong[random() % wrong.size()] += 1;
        PlantedCourt court(arrays.spec, arrays.claims(arrays.store.update_root(wrong)));
        const DisputeOpen challenge = court.about_slot(UnitKind::kUpdate);
        const dispute::UnitClaim unit = court.unit_of(challenge);
        dispute::UnitFacts facts(arrays.spec, unit);
        ArrayUnitPlayer claimant(facts, arrays.store);
        ArrayUnitPlayer challenger(facts, arrays.store);
        claimant.update = wrong;
        challenger.update = arrays.store.updates[0];
        const Game game = court.convict(challenge, claimant, challenger);
        CHECK(to_text(game.finding.reason) == "differs");
        CHECK(game.finding.claimed_low - game.finding.computed_low == 1);
    }
}

TEST_CASE("a merge with one wrong number in the parameters or the momentum loses with who attested it") {
    std::mt19937_64 random(9);
    for (const program::StrategyRow* const row : program::strategies()) {
        for (const bool is_outer : {false, true}) {
            for (const float bound : {0.0F, 1e-4F}) {
                INFO(row->word << " " << row->codec->word << ", outer " << is_outer << ", bound " << bound);
                Arrays arrays(*row, bound);
                std::vector<float> parameters = arrays.merged;
                std::vector<float> outer = arrays.merged_outer;
                float& number = (is_outer ? outer : parameters)[random() % parameters.size()];
                number = std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) ^ 1U);
                program::StateRoots roots;
                roots.parameters = program::array_root(arrays.store.tensors(), parameters);
                roots.outer = program::array_root(arrays.store.tensors(), outer);
                roots.step_count = arrays.spec.train.inner_steps;
                remember_base(roots);
                PlantedCourt court(arrays.spec,
                                   arrays.claims(arrays.store.update_root(arrays.store.updates[0])),
                                   [&](const Job& job) {
                                       MergeClaim claim = merge_of(job, 0, {0, 1});
                                       claim.base_root = program::state_root(roots);
                                       if (bound > 0) claim.clips = arrays.clips();
                                       return claim;
                                   });
                const DisputeOpen challenge = court.about_merge(UnitKind::kMerge);
                const dispute::UnitClaim unit = court.unit_of(challenge);
                dispute::UnitFacts facts(arrays.spec, unit);
                ArrayUnitPlayer claimant(facts, arrays.store);
                ArrayUnitPlayer challenger(facts, arrays.store);
                claimant.merged = parameters;
                claimant.merged_outer = outer;
                challenger.merged = arrays.merged;
                challenger.merged_outer = arrays.merged_outer;
                const Game game = court.convict(challenge, claimant, challenger);
                CHECK(game.way.is_outer == is_outer);
                CHECK(to_text(game.finding.reason) == "differs");
            }
        }
    }
}

TEST_CASE("a clip that is one off loses with who attested it") {
    for (const program::StrategyRow* const row : program::strategies()) {
        Arrays arrays(*row, 1e-4F);
        std::vector<std::uint32_t> wrong = arrays.clips();
        REQUIRE(wrong[1] < dispute::kNoClip);
        wrong[1] += 1;
        PlantedCourt court(arrays.spec, arrays.claims(arrays.store.update_root(arrays.store.updates[0])),
                           [&](const Job& job) {
                               MergeClaim claim = merge_of(job, 0, {0, 1});
                               claim.clips = wrong;
                               return claim;
                           });
        const DisputeOpen challenge = court.about_merge(UnitKind::kClip, 1);
        const dispute::UnitClaim unit = court.unit_of(challenge);
        dispute::UnitFacts facts(arrays.spec, unit);
        dispute::UnitClaim right = unit;
        right.clips = {arrays.clips()[1]};
        dispute::UnitFacts right_facts(arrays.spec, right);
        // The clip's only array is the update of its slot.
        ArrayStore second(arrays.store.tensors());
        second.updates = {arrays.store.updates[1]};
        ArrayUnitPlayer claimant(facts, second);
        ArrayUnitPlayer challenger(right_facts, second);
        const Game game = court.convict(challenge, claimant, challenger);
        CHECK(to_text(game.finding.reason) == "differs");
        CHECK(game.finding.claimed_low - game.finding.computed_low == 1);
    }
}

namespace {

/// Opens what it has of the state at a slot's end.
class EndPlayer final : public dispute::UnitMemory {
public:
    explicit EndPlayer(const program::StateRoots& end) : end_(end) {}
    Hash256 state(std::uint32_t) override { return {}; }
    std::vector<Hash256> row(const dispute::Way&) override { return {}; }
    std::vector<Hash256> arrays() override { return {}; }
    std::optional<program::Fingerprint> fingerprint(std::uint32_t) override { return std::nullopt; }
    std::optional<dispute::NotFinitePlace> ends_at(const dispute::Way&) override { return std::nullopt; }
    base::Bytes witness(const dispute::Way&) override { return dispute::carried_witness(end_); }

private:
    program::StateRoots end_;
};

}  // namespace

TEST_CASE("a slot that hands on other moments than those of its end loses with who vouched for it") {
    JobSpec spec = small_job();
    spec.inner_state = program::InnerState::kCarried;
    program::StateRoots end;
    end.parameters = bytes_of("parameters");
    end.first_moment = bytes_of("first moment");
    end.second_moment = bytes_of("second moment");
    end.moment_age = spec.train.inner_steps;
    const auto court_of = [&](const program::CarriedParts& handed) {
        return PlantedCourt(spec, [&](const Job& job, std::uint32_t slot) {
            TraceRecord trace = true_trace(job, 0, slot);
            trace.boundaries.back() = program::state_root(end);
            trace.carried->out = remember_carried(handed);
            return trace;
        });
    };
    const program::CarriedParts own{end.first_moment, end.second_moment, *end.moment_age};
    for (const int wrong : {0, 1, 2}) {
        CAPTURE(wrong);
        program::CarriedParts handed = own;
        if (wrong == 0) handed.first_moment.bytes[7] ^= 1;
        if (wrong == 1) handed.second_moment.bytes[7] ^= 1;
        if (wrong == 2) ++handed.age;
        PlantedCourt court = court_of(handed);
        EndPlayer claimant(end);
        EndPlayer challenger(end);
        const Game game = court.convict(court.about_slot(UnitKind::kCarried), claimant, challenger);
        CHECK(to_text(game.finding.reason) == "not_opened");
    }
    // A false age of the end itself is the last segment's: what was handed on of it is right.
    end.moment_age = *end.moment_age + 1'000;
    PlantedCourt court = court_of({end.first_moment, end.second_moment, *end.moment_age});
    court.env.send(court.env.person("v4"), court.about_slot(UnitKind::kCarried));
    EndPlayer claimant(end);
    EndPlayer challenger(end);
    const Game game = court.play_on(0, claimant, challenger);
    CHECK(game.end == GameEnd::kJudged);
    CHECK_FALSE(game.claimant_lost);
}

}  // namespace assay::contracts::test
