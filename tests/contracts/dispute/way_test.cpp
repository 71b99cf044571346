// SPDX-License-Identifier: Apache-2.0
// Whole games by the pure code: the way down from a segment to a witness, played by both sides. One number
// that is off by one ulp in any operator loses, a claim that is right wins against every pick.
#include <bit>
#include <map>
#include <random>

#include "contracts/arithmetic/reduce.hpp"
#include "contracts/dispute/player.hpp"
#include "tests/contracts/dispute/game.hpp"
#include "tests/contracts/dispute/step_player.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay;
using namespace assay::dispute;
using disputed::kStep;
using disputed::Step;
using disputed::StepPlayer;

/// Steps 0 to `last` of round 0, the fixture's among them, as the claimant has them.
UnitClaim claim_of(StepPlayer& claimant, std::uint32_t last) {
    UnitClaim claim;
    claim.first_step = last == kStep + 1 ? kStep : 0;
    claim.last_step = last;
    claim.age = claim.first_step;
    claim.states = {claimant.state(claim.first_step), claimant.state(last)};
    for (std::uint32_t step = claim.first_step; step < last; ++step)
        claim.fingerprints.push_back(claimant.fingerprint(step).value());
    return claim;
}

struct Played {
    Way way;
    std::optional<GameVerdict> verdict;  ///< nothing: the challenger found nothing to reject
    std::uint32_t moves = 0;
};

Played play(const Step& step, const UnitClaim& claim, UnitMemory& claimant, UnitMemory& challenger) {
    UnitFacts facts(step.spec, claim);
    Played played{begin_way(facts), std::nullopt, 0};
    Way& way = played.way;
    while (way.stage != WayStage::kWitness) {
        const auto hashes = next_post(way, claimant);
        REQUIRE(hashes.size() == wanted_hashes(way));
        REQUIRE(may_post(way, facts, hashes));
        post(way, facts, hashes);
        const auto rejected = next_pick(way, facts, challenger);
        if (!rejected) return played;
        REQUIRE(may_pick(way, facts, *rejected));
        pick(way, facts, *rejected);
        const auto again = base::decode<Way>(base::encode(way));
        REQUIRE(again.ok());
        CHECK(*again == way);
        ++played.moves;
    }
    played.verdict = judge_way(way, facts, claimant.witness(way));
    return played;
}

// A number that the operator wrote and whose last bit can change, or nothing.
std::optional<std::uint64_t> changeable(const std::vector<float>& values, std::mt19937_64& random) {
    for (int tries = 0; tries < 1'000; ++tries) {
        const std::uint64_t i = random() % values.size();
        if (values[i] != 0.0F) return i;
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("a game about a segment ends at the one number that is off by one ulp, in every operator") {
    std::mt19937_64 random(5);
    for (const std::size_t which : {0U, 1U, 2U, 3U}) {
        Step step;
        make_step(step, disputed::small_variants()[which]);
        step.spec.data.train = step.data;
        StepCommitments honest(step.inputs);
        for (std::uint32_t op = 0; op < step.program.operators.size(); ++op) {
            const auto element = changeable(honest.version(op, 0), random);
            if (!element) continue;
            StepCommitments wrong(step.inputs, std::nullopt, PlantedFault{op, 0, *element, 1});
            StepPlayer claimant(step, wrong, "claimant");
            StepPlayer challenger(step, honest, "challenger");
            // A fault that the state behind the step does not show is found where the step is known.
            const bool shows = claimant.state(kStep + 1) != challenger.state(kStep + 1);
            const UnitClaim claim = claim_of(claimant, shows ? 4 : kStep + 1);
            const Played played = play(step, claim, claimant, challenger);
            REQUIRE(played.verdict);
            UnitFacts facts(step.spec, claim);
            INFO(describe_way(played.way, facts));
            CHECK(played.way.at.step == kStep);
            CHECK(played.way.at.operator_index == op);
            CHECK(to_text(played.verdict->outcome) == "claimant_loses");
            CHECK(to_text(played.verdict->reason) == "differs");
            CHECK((played.verdict->claimed ^ played.verdict->computed) == 1);
        }
    }
}

TEST_CASE("who goes on behind a number that is not finite loses, though every hash is the challenger's") {
    for (const std::size_t which : {0U, 1U}) {
        Step step;
        make_step(step, disputed::small_variants()[which]);
        for (float& value : step.inputs.state.parameters) value *= 1e20F;
        make_roots(step);
        step.spec.data.train = step.data;
        StepCommitments whole(step.inputs);
        REQUIRE(whole.diverged());
        const StepFacts& facts = step.inputs.facts;
        NotFinitePlace place{.operator_index = *whole.diverged(), .output = 0, .tile = 0};
        const auto is_finite = [&] {
            return arithmetic::all_finite(whole.tile_of(place.operator_index, place.output, place.tile).real);
        };
        while (is_finite()) {
            if (++place.tile < facts.tiles(facts.output(place.operator_index, place.output))) continue;
            place.tile = 0;
            ++place.output;
        }
        StepPlayer claimant(step, whole, "claimant");
        StepPlayer challenger(step, whole, "claimant");
        const UnitClaim claim = claim_of(claimant, 4);
        challenger.ends = place;
        const Played played = play(step, claim, claimant, challenger);
        REQUIRE(played.verdict);
        CHECK(played.way.at.step == kStep);
        CHECK(played.way.at.operator_index == place.operator_index);
        CHECK(played.way.at.tile == place.tile);
        CHECK(to_text(played.verdict->outcome) == "claimant_loses");
        CHECK(to_text(played.verdict->reason) == "diverges");
        // A lie before that is the one that is picked.
        StepCommitments wrong(step.inputs, std::nullopt, PlantedFault{0, 0, 0, 1});
        StepPlayer liar(step, wrong, "claimant");
        const Played earlier = play(step, claim_of(liar, kStep + 1), liar, challenger);
        REQUIRE(earlier.verdict);
        CHECK(earlier.way.at.operator_index == 0);
        CHECK(to_text(earlier.verdict->reason) == "differs");
    }
}

namespace {
/// A slot whose work ends in step 2: its own states repeat from there on. As a liar it stands still in steps
/// 2 to `still`, and goes on with states of its own.
class EndedSlot final : public UnitMemory {
public:
    explicit EndedSlot(std::uint32_t still) : still_(still) {}
    base::Hash256 state(std::uint32_t step) override {
        const std::uint32_t named = step > still_ ? step : std::min(step, 2U);
        return base::hash("test/state", base::as_bytes(std::to_string(named)));
    }
    std::vector<base::Hash256> row(const Way&) override { return {}; }
    std::vector<base::Hash256> arrays() override { return {}; }
    std::optional<program::Fingerprint> fingerprint(std::uint32_t step) override {
        return step < 2 ? std::optional(program::Fingerprint{step + 1, step + 1}) : std::nullopt;
    }
    std::optional<NotFinitePlace> ends_at(const Way&) override { return std::nullopt; }
    base::Bytes witness(const Way&) override { return {}; }

private:
    std::uint32_t still_;
};
}  // namespace

TEST_CASE("a claim that stands still where the work ended, and then goes on, is rejected where it stands") {
    Step step;
    make_step(step, disputed::small_variants()[0]);
    // To the end; for one step; for one of more steps than a move has hashes.
    for (const auto& [still, steps] : {std::pair{99'999U, 4U}, std::pair{3U, 6U}, std::pair{3U, 5'000U}}) {
        CAPTURE(still, steps);
        EndedSlot honest(99'999), liar(still);
        UnitClaim claim;
        claim.last_step = steps;
        claim.states = {liar.state(0), liar.state(steps)};
        claim.fingerprints.resize(steps);
        for (std::uint32_t i = 0; i < 2; ++i) claim.fingerprints[i] = *liar.fingerprint(i);
        UnitFacts facts(step.spec, claim);
        Way way = begin_way(facts);
        while (way.stage == WayStage::kStates) {
            post(way, facts, next_post(way, liar));
            const auto rejected = next_pick(way, facts, honest);
            REQUIRE(rejected);
            pick(way, facts, *rejected);
        }
        CHECK(way.stage == WayStage::kOutputs);
        CHECK(way.at.step == 2);
    }
}

TEST_CASE("a claimant whose step is right wins wherever the challenger points") {
    std::mt19937_64 random(6);
    Step step;
    make_step(step, disputed::small_variants()[3]);
    step.spec.data.train = step.data;
    StepCommitments honest(step.inputs);
    StepPlayer claimant(step, honest, "claimant");
    claimant.print.loss = std::bit_cast<std::uint32_t>(honest.version(0, 0)[0]);
    const UnitClaim claim = claim_of(claimant, kStep + 1);
    for (int game = 0; game < 200; ++game) {
        UnitFacts facts(step.spec, claim);
        Way way = begin_way(facts);
        while (way.stage != WayStage::kWitness) {
            post(way, facts, next_post(way, claimant));
            Pick any;
            do {
                any = {.index = random() % (way.posted.size() + 2), .end = std::nullopt};
                if (random() % 4 == 0) any = {.index = 0, .end = StepEnd::kState};
            } while (!may_pick(way, facts, any));
            pick(way, facts, any);
        }
        INFO(describe_way(way, facts));
        const GameVerdict verdict = judge_way(way, facts, claimant.witness(way));
        CHECK(to_text(verdict.reason) == "agrees");
        CHECK(verdict.claimant_wins());
    }
}

TEST_CASE("a state that the outputs do not make is found in its component and tensor") {
    Step step;
    make_step(step, disputed::small_variants()[2]);
    step.spec.data.train = step.data;
    StepCommitments outputs(step.inputs);
    for (const std::uint32_t component : {0U, 1U, 2U, 3U}) {
        StepPlayer claimant(step, outputs, "claimant");
        StepPlayer challenger(step, outputs, "challenger");
        claimant.lie_about(component, 5);
        const Played played = play(step, claim_of(claimant, kStep + 1), claimant, challenger);
        REQUIRE(played.verdict);
        CHECK(played.way.step_end == StepEnd::kState);
        CHECK(played.way.state.component == component);
        CHECK(played.way.state.place == (component < 3 ? 5 : 0));
        CHECK_FALSE(played.verdict->claimant_wins());
        CHECK(to_text(played.verdict->reason) == "not_opened");
    }
}

TEST_CASE("a fingerprint that is not the step's loss or norm loses") {
    Step step;
    make_step(step, disputed::small_variants()[0]);
    step.spec.data.train = step.data;
    StepCommitments outputs(step.inputs);
    StepPlayer claimant(step, outputs, "same");
    StepPlayer challenger(step, outputs, "same");
    challenger.print = challenger.computed_print();
    // Of a segment of more steps, too, where every state is the challenger's own.
    for (const std::uint32_t last : {kStep + 1, 4U}) {
        for (const StepEnd end : {StepEnd::kLoss, StepEnd::kNorm}) {
            CAPTURE(last);
            claimant.print = challenger.print;
            (end == StepEnd::kLoss ? claimant.print.loss : claimant.print.norm) ^= 1;
            const Played played = play(step, claim_of(claimant, last), claimant, challenger);
            REQUIRE(played.verdict);
            CHECK(played.way.step_end == end);
            CHECK(played.way.at.step == kStep);
            CHECK(to_text(played.verdict->reason) == "differs");
        }
    }
}

TEST_CASE("a challenger that agrees with everything has nothing to pick") {
    Step step;
    make_step(step, disputed::small_variants()[0]);
    StepCommitments outputs(step.inputs);
    StepPlayer claimant(step, outputs, "same");
    StepPlayer challenger(step, outputs, "same");
    for (const std::uint32_t last : {kStep + 1, 4U}) {
        const Played played = play(step, claim_of(claimant, last), claimant, challenger);
        CHECK_FALSE(played.verdict.has_value());
        CHECK(played.moves == 0);
    }
}

TEST_CASE("hashes that are too few, too many or of another tree are no move") {
    Step step;
    make_step(step, disputed::small_variants()[0]);
    StepCommitments outputs(step.inputs);
    StepPlayer claimant(step, outputs, "claimant");
    const UnitClaim claim = claim_of(claimant, 4);
    UnitFacts facts(step.spec, claim);
    Way way = begin_way(facts);
    auto hashes = next_post(way, claimant);
    CHECK(hashes.size() == 4);
    CHECK(may_post(way, facts, hashes));
    hashes.back().bytes[0] ^= 1;
    CHECK_FALSE(may_post(way, facts, hashes));  // the last is the trace's
    hashes.back().bytes[0] ^= 1;
    hashes.push_back({});
    CHECK_FALSE(may_post(way, facts, hashes));
    CHECK_FALSE(may_pick(way, facts, {}));  // nothing is posted
    hashes.pop_back();
    post(way, facts, hashes);
    CHECK(wanted_hashes(way) == 0);
    CHECK_FALSE(may_post(way, facts, hashes));  // not the claimant's turn
    CHECK_FALSE(may_pick(way, facts, {.index = 4, .end = std::nullopt}));
    CHECK_FALSE(may_pick(way, facts, {.index = 0, .end = StepEnd::kState}));
    pick(way, facts, {.index = kStep, .end = std::nullopt});
    REQUIRE(way.stage == WayStage::kOutputs);
    post(way, facts, next_post(way, claimant));
    CHECK_FALSE(may_pick(way, facts, {.index = 0, .end = StepEnd::kDivergence}));
    CHECK_FALSE(may_pick(way, facts, {.index = 1, .end = StepEnd::kLoss}));
    CHECK_FALSE(may_pick(way, facts, {.index = outputs.outputs().leaves(), .end = std::nullopt}));
    pick(way, facts, {.index = 0, .end = std::nullopt});
    auto tiles = next_post(way, claimant);
    REQUIRE(tiles.size() > 1);
    std::swap(tiles[0], tiles[1]);
    CHECK_FALSE(may_post(way, facts, tiles));
}

TEST_CASE("a segment of more steps than a move may carry is halved until one is left") {
    Step step;
    make_step(step, disputed::small_variants()[0]);
    step.spec.train.inner_steps = 10'000;
    UnitClaim claim;
    claim.last_step = 10'000;
    claim.states = {base::hash("test", base::as_bytes("0")), base::hash("test", base::as_bytes("10000"))};
    claim.fingerprints.resize(10'000);
    UnitFacts facts(step.spec, claim);
    Way way = begin_way(facts);
    REQUIRE(wanted_hashes(way) == kMaxMoveHashes);
    std::uint32_t at = 0;
    for (int moves = 0; way.stage == WayStage::kStates; ++moves) {
        REQUIRE(moves < 2);
        std::vector<Hash256> hashes(wanted_hashes(way));
        for (std::size_t i = 0; i < hashes.size(); ++i)
            hashes[i].bytes[i % 32] = static_cast<std::uint8_t>(i + 1);
        hashes.back() = way.end;
        post(way, facts, hashes);
        pick(way, facts, {.index = wanted_hashes(way) + hashes.size() / 2, .end = std::nullopt});
        REQUIRE(way.first >= at);
        at = way.first;
    }
    CHECK(way.at.step == way.first);
    CHECK(way.last == way.first + 1);
}

TEST_CASE("a hash that is zero fixes what stands below it like any other") {
    Step step;
    make_step(step, disputed::small_variants()[0]);
    StepCommitments outputs(step.inputs);
    StepPlayer claimant(step, outputs, "claimant");
    const UnitClaim claim = claim_of(claimant, kStep + 1);
    UnitFacts facts(step.spec, claim);
    Way way = begin_way(facts);
    auto hashes = next_post(way, claimant);
    hashes[0] = {};
    post(way, facts, hashes);
    const Hash256 root = way.outputs;
    pick(way, facts, {.index = 0, .end = std::nullopt});
    const auto tiles = next_post(way, claimant);
    REQUIRE(way.stage == WayStage::kTiles);
    CHECK_FALSE(may_post(way, facts, tiles));
    CHECK(way.outputs == root);
}
