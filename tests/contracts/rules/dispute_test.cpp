// SPDX-License-Identifier: Apache-2.0
// Games over claims: who may challenge what, whose turn it is, what silence, a lie and the truth cost whom.
#include <algorithm>
#include <limits>
#include <memory>

#include "contracts/arithmetic/update.hpp"
#include "contracts/dispute/commitments.hpp"
#include "contracts/dispute/end_referee.hpp"
#include "contracts/program/program.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

using dispute::StepEnd;
using dispute::UnitKind;
using dispute::WayStage;

constexpr std::uint64_t kWindow = 40;

/// A base whose first parameter is no number, and a last boundary of zeros, with all their trees.
class BrokenBase final : public dispute::StepMemory {
public:
    explicit BrokenBase(std::vector<program::TensorInfo> tensors) : tensors_(std::move(tensors)) {}
    [[nodiscard]] program::StateRoots roots(std::uint32_t state) {
        program::StateRoots roots;
        roots.parameters = above({.from = dispute::Source::From::kState, .state = state}).root();
        return roots;
    }
    [[nodiscard]] const dispute::StepFacts* facts() const override { return nullptr; }
    void tile(const dispute::Source& source, std::uint64_t number, dispute::Tile& out) override {
        out.fill(0);
        const bool broken = source.state == 0 && source.number == 0 && number == 0;
        if (broken) out[0] = std::numeric_limits<float>::quiet_NaN();
    }
    void wholes(const dispute::Source&, std::uint64_t, dispute::Cells&) override {}
    const dispute::StoredTree& tiles(const dispute::Source& source) override {
        const program::TensorInfo& tensor = tensors_[source.number];
        std::vector<float> values(tensor.rows * tensor.cols, 0.0F);
        if (source.state == 0 && source.number == 0) values[0] = std::numeric_limits<float>::quiet_NaN();
        return tiles_ = dispute::tile_tree(tensor.rows, tensor.cols, values);
    }
    const dispute::StoredTree& above(const dispute::Source& source) override {
        std::vector<Hash256> leaves;
        for (std::uint32_t i = 0; i < tensors_.size(); ++i) {
            dispute::Source one = source;
            one.number = i;
            leaves.push_back(program::tensor_leaf(tensors_[i], tiles(one).root()));
        }
        return above_ = dispute::StoredTree(std::move(leaves));
    }
    const dispute::StoredTree& components(std::uint32_t state) override {
        const auto leaves = program::component_leaves(roots(state));
        return components_ = dispute::StoredTree({leaves.begin(), leaves.end()});
    }
    void piece(std::uint64_t, base::Bytes&, std::vector<Hash256>&) override {}

private:
    std::vector<program::TensorInfo> tensors_;
    dispute::StoredTree tiles_, above_, components_;
};

/// Two miners and three verifiers, one settled round whose claims are open, and somebody who was not drawn.
struct DisputeWorld {
    Env env;
    Hash256 job;
    program::StateRoots end;  ///< of every slot's last boundary
    std::unique_ptr<BrokenBase> broken;

    static Params params() {
        Params params = short_windows();
        params.claim_window = kWindow;
        params.dispute_move_window = 6;
        return params;
    }
    explicit DisputeWorld(bool has_broken_base = false, VerifierManner manner = VerifierManner::kColludes)
        : env(params()) {
        Play play;
        // They say what the miners say, whose last states are not those of true_trace().
        for (const char* name : {"v1", "v2", "v3"}) play.verifiers[name] = manner;
        for (const char* miner : {"m1", "m2"}) env.miner(miner);
        for (const char* verifier : {"v1", "v2", "v3"}) env.verifier(verifier);
        for (const char* other : {"v4", "m5"}) env.verifier(other);
        JobSpec spec = small_job();
        spec.inner_state = program::InnerState::kCarried;
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        broken = std::make_unique<BrokenBase>(program.parameters);
        if (has_broken_base) {
            spec.initial_root = remember_base(broken->roots(0));
            end = broken->roots(1);
        } else {
            end.parameters = bytes_of("parameters");
            end.first_moment = bytes_of("first moment");
            end.second_moment = bytes_of("second moment");
        }
        spec.security.audit_threshold = spec.security.finalise_threshold = UINT64_MAX;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        for (std::uint32_t slot = 0; slot < 2; ++slot) play.traces[slot] = trace(slot);
        play_round(env, job, play);
        REQUIRE(read_round(env.state(), job, 0)->phase == RoundPhase::kSettled);
    }
    /// A trace whose last state is `end`, and what it hands on that state's moments.
    TraceRecord trace(std::uint32_t slot) {
        const Job record = env.job(job);
        TraceRecord trace = true_trace(record, 0, slot);
        trace.boundaries.back() = program::state_root(end);
        trace.carried->out =
            remember_carried({end.first_moment, end.second_moment, record.spec.train.inner_steps});
        return trace;
    }
    ClaimId claim(std::uint32_t slot) { return {job, 0, ClaimKind::kSlot, slot}; }
    std::string miner_of(std::uint32_t slot) {
        return env.by_node(read_slot(env.whole(), job, 0, slot)->miner).name;
    }
    DisputeOpen challenge(std::uint32_t slot, UnitKind unit = UnitKind::kSegment, std::uint32_t part = 0) {
        return {job, 0, ClaimKind::kSlot, slot, unit, part};
    }
    std::uint32_t open(const std::string& who, std::uint32_t slot, UnitKind unit = UnitKind::kSegment) {
        env.send(env.person(who), challenge(slot, unit));
        return static_cast<std::uint32_t>(list_games(env.state(), job).size() - 1);
    }
    /// How many verifiers were drawn for slot 0.
    std::size_t panel() { return read_slot(env.whole(), job, 0, 0)->verifiers.size(); }
    Game game(std::uint32_t number) { return *read_game(env.whole(), job, number); }
    Amount cost() {
        const Job record = env.job(job);
        return replay_cost(record, record.auction.clearing_price).value();
    }
    /// Of the first challenge of a claim.
    Amount bond() { return std::max(cost(), env.params().verifier_penalty); }
    void let_clock_run_out(std::uint32_t number) { env.advance_to(game(number).due); }
    base::Bytes true_witness() { return dispute::carried_witness(end); }
    /// What is posted next, of nothing that anybody computed.
    void post(const std::string& who, std::uint32_t number) {
        const Game running = game(number);
        std::vector<Hash256> hashes;
        for (std::uint64_t i = 0; i < dispute::wanted_hashes(running.way); ++i)
            hashes.push_back(bytes_of(std::to_string(i)));
        if (running.way.stage == WayStage::kStates) hashes.back() = running.way.end;
        env.send(env.person(who), DisputePost{job, number, hashes});
    }
    void pick(const std::string& who, std::uint32_t number, std::uint64_t index) {
        env.send(env.person(who), DisputePick{job, number, {.index = index, .end = std::nullopt}});
    }
};

}  // namespace

TEST_CASE("anybody with stake challenges any unit of an open claim, and nobody a claim of its own") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    w.env.refuse(Reason::kOwnClaim, w.env.person(miner), w.challenge(0));
    w.env.refuse(Reason::kNoSuchUnit, w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 2));
    w.env.refuse(Reason::kNoSuchUnit, w.env.person("v4"), w.challenge(0, UnitKind::kUpdate, 1));
    w.env.refuse(Reason::kNoSuchUnit, w.env.person("v4"), w.challenge(0, UnitKind::kCarried, 1));
    w.env.refuse(Reason::kNoSuchUnit, w.env.person("v4"), w.challenge(0, UnitKind::kMerge));
    DisputeOpen unknown = w.challenge(0);
    unknown.job = bytes_of("no job");
    w.env.refuse(Reason::kUnknownJob, w.env.person("v4"), unknown);
    DisputeOpen running = w.challenge(0);
    running.round = 1;  // its claims are open, and its round is not settled
    w.env.refuse(Reason::kWrongPhase, w.env.person("v4"), running);
    const std::uint64_t free = read_stake(w.env.state(), w.env.person("v4").node_key()).free.units();
    const std::uint32_t number = w.open("v4", 0);
    CHECK(w.game(number).bond == w.bond());
    CHECK(read_stake(w.env.state(), w.env.person("v4").node_key()).free.units() == free - w.bond().units());
    CHECK(read_claim(w.env.state(), w.claim(0))->challenges == 1);
}

TEST_CASE("a challenge costs twice as much as the one before it while that one is open") {
    DisputeWorld w;
    for (std::uint64_t i = 0; i < 4; ++i) {
        const std::uint32_t number = w.open(i % 2 == 0 ? "v4" : "m5", 0);
        CHECK(w.game(number).bond.units() == w.bond().units() << i);
    }
    CHECK(w.open("v4", 1) == 4);  // of another claim
    CHECK(w.game(4).bond == w.bond());
}

TEST_CASE("a claimant that is silent loses bond, pay and standing, and the challenger is paid its cost") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const Claim claim = *read_claim(w.env.state(), w.claim(0));
    const std::uint64_t winner = w.env.balance("v4");
    const std::uint64_t stake = w.env.stake("v4");
    const std::uint64_t losers = w.env.stake(miner);
    const Amount escrow = escrow_of(w.env.state(), w.env.job(w.job));
    const std::uint32_t number = w.open("v4", 0);
    w.let_clock_run_out(number);
    const Game game = w.game(number);
    CHECK(game.end == GameEnd::kSilent);
    CHECK(game.claimant_lost);
    CHECK(game.lost == claim.bond);
    // At most its cost, and never more than what of a bond may come back to anybody.
    const Amount returned =
        claim.bond.times(w.env.params().forfeit_buyer_ppm, kPartsPerMillion, base::Rounding::kDown).value();
    CHECK(game.to_winner == std::min(w.cost(), returned));
    CHECK(game.to_winner.plus(game.to_buyer) == returned);
    CHECK(w.env.balance("v4") == winner + game.to_winner.units());
    CHECK(w.env.stake("v4") == stake);
    CHECK(w.env.stake(miner) == losers - claim.bond.units());
    CHECK(escrow_of(w.env.state(), w.env.job(w.job)) >= escrow);
    CHECK(read_claim(w.env.state(), w.claim(0))->dead);
    CHECK(read_claim(w.env.state(), w.claim(0))->held.is_zero());
    const Job job = w.env.job(w.job);
    for (const RosterEntry& entry : job.roster) {
        if (entry.node == w.env.person(miner).node_key()) CHECK(entry.dropped);
    }
    w.env.refuse(Reason::kClaimDead, w.env.person("m5"), w.challenge(0));
}

TEST_CASE("a miner that concedes loses the bond and stays") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint32_t number = w.open("v4", 0);
    w.env.refuse(Reason::kNotYours, w.env.person("m5"), DisputeConcede{w.job, number});
    w.env.send(w.env.person(miner), DisputeConcede{w.job, number});
    CHECK(w.game(number).end == GameEnd::kConceded);
    CHECK(w.game(number).claimant_lost);
    const Job job = w.env.job(w.job);
    for (const RosterEntry& entry : job.roster) CHECK_FALSE(entry.dropped);
    w.env.refuse(Reason::kWrongPhase, w.env.person(miner), DisputeConcede{w.job, number});
}

TEST_CASE("a silent challenger loses its bond, and the claim goes on") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint64_t claimants = w.env.balance(miner);
    const std::uint64_t challengers = w.env.stake("v4");
    const std::uint32_t number = w.open("v4", 0);
    w.post(miner, number);
    w.env.refuse(Reason::kNotYourTurn, w.env.person(miner), DisputePost{w.job, number, {bytes_of("x")}});
    w.let_clock_run_out(number);
    CHECK(w.game(number).end == GameEnd::kSilent);
    CHECK_FALSE(w.game(number).claimant_lost);
    CHECK(w.env.stake("v4") == challengers - w.bond().units());
    CHECK(w.env.balance(miner) == claimants + w.cost().units());
    const Claim claim = *read_claim(w.env.state(), w.claim(0));
    CHECK_FALSE(claim.dead);
    CHECK(claim.challenges == 0);
    CHECK_FALSE(claim.held.is_zero());
}

TEST_CASE(
    "the referee's word ends a game: a claimant that opens the truth is paid, a crafted witness loses") {
    for (const bool honest : {true, false}) {
        CAPTURE(honest);
        DisputeWorld w;
        const std::string miner = w.miner_of(0);
        const std::uint64_t challengers = w.env.stake("v4");
        const std::uint32_t number = w.open("v4", 0, UnitKind::kCarried);
        base::Bytes witness = w.true_witness();
        if (!honest) witness[40] ^= 1;
        w.env.refuse(Reason::kNotYours, w.env.person("v4"), DisputeProve{w.job, number, witness});
        w.env.send(w.env.person(miner), DisputeProve{w.job, number, witness});
        const Game game = w.game(number);
        CHECK(game.end == GameEnd::kJudged);
        CHECK(game.claimant_lost == !honest);
        CHECK(game.finding.witness_bytes == witness.size());
        CHECK(to_text(game.finding.reason) == (honest ? "agrees" : "not_opened"));
        CHECK(w.env.stake("v4") == challengers - (honest ? w.bond().units() : 0));
        CHECK(read_claim(w.env.state(), w.claim(0))->dead == !honest);
    }
}

TEST_CASE("a whole way down of hashes that nobody computed ends with a witness that opens nothing") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint32_t number = w.open("v4", 0);
    REQUIRE(w.game(number).way.stage == WayStage::kStates);
    w.env.refuse(Reason::kBadMove, w.env.person(miner), DisputePost{w.job, number, {bytes_of("one")}});
    w.env.refuse(Reason::kNotYours, w.env.person("v4"), DisputePost{w.job, number, {}});
    w.env.refuse(Reason::kNotYourTurn, w.env.person("v4"), DisputePick{w.job, number, {}});
    w.env.refuse(Reason::kBadMove, w.env.person(miner), DisputeProve{w.job, number, {}});
    w.env.refuse(Reason::kNoSuchGame, w.env.person(miner), DisputeProve{w.job, 7, {}});
    w.post(miner, number);
    CHECK(read_game_pieces(w.env.state(), w.job, number)->posted.size() == 2);
    w.env.refuse(Reason::kBadMove, w.env.person("v4"), DisputePick{w.job, number, {.index = 2, .end = {}}});
    w.pick("v4", number, 1);
    REQUIRE(w.game(number).way.stage == WayStage::kOutputs);
    CHECK(w.game(number).way.at.step == 1);
    w.post(miner, number);
    w.env.send(w.env.person("v4"), DisputePick{w.job, number, {.index = 0, .end = StepEnd::kLoss}});
    REQUIRE(w.game(number).way.stage == WayStage::kWitness);
    w.env.send(w.env.person(miner), DisputeProve{w.job, number, base::Bytes(64)});
    CHECK(w.game(number).end == GameEnd::kJudged);
    CHECK(w.game(number).claimant_lost);
    CHECK(w.game(number).moves == 5);
    CHECK_FALSE(read_game_pieces(w.env.state(), w.job, number).has_value());
}

TEST_CASE("each move gives its player a little time, and a clock that ran down stays down") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint32_t number = w.open("v4", 0);
    const Game start = w.game(number);
    CHECK(start.due == w.env.height() + start.claimant_clock + 1);
    w.env.advance_to(w.env.height() + 4);
    w.post(miner, number);
    CHECK(w.game(number).claimant_clock == start.claimant_clock - 4 + w.env.params().dispute_move_window);
    CHECK(w.game(number).challenger_clock == start.challenger_clock);
    CHECK(w.game(number).due == w.env.height() + start.challenger_clock + 1);
}

TEST_CASE("a claimant plays two games at once; the others wait, and so does the window") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    for (int i = 0; i < 3; ++i) w.open("v4", 0, UnitKind::kCarried);
    CHECK(w.game(0).phase == GamePhase::kRunning);
    CHECK(w.game(1).phase == GamePhase::kRunning);
    CHECK(w.game(2).phase == GamePhase::kQueued);
    CHECK(w.game(2).due == 0);
    w.env.refuse(Reason::kWrongPhase, w.env.person(miner), DisputeProve{w.job, 2, w.true_witness()});
    w.env.send(w.env.person(miner), DisputeProve{w.job, 1, w.true_witness()});
    CHECK(w.game(2).phase == GamePhase::kRunning);
    CHECK(w.game(2).due > w.env.height());
    w.env.send(w.env.person(miner), DisputeProve{w.job, 0, w.true_witness()});
    w.env.send(w.env.person(miner), DisputeProve{w.job, 2, w.true_witness()});
    // However many games it won, the claim is final only with its window.
    CHECK(read_claim(w.env.state(), w.claim(0)).has_value());
    CHECK_FALSE(w.game(0).claimant_lost);
}

TEST_CASE("a claim stays open behind its window while a game about it is") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint64_t settled = read_round(w.env.state(), w.job, 0)->settled_at;
    w.env.advance_to(settled + kWindow - 1);
    const std::uint32_t number = w.open("v4", 0, UnitKind::kCarried);
    w.env.advance_to(settled + kWindow + 3);
    REQUIRE(w.game(number).is_open());
    REQUIRE(read_claim(w.env.state(), w.claim(0)).has_value());
    CHECK_FALSE(read_claim(w.env.state(), w.claim(1)).has_value());
    w.env.refuse(Reason::kWindowClosed, w.env.person("m5"), w.challenge(0));
    w.env.refuse(Reason::kWindowClosed, w.env.person("m5"), w.challenge(1));
    w.env.send(w.env.person(miner), DisputeProve{w.job, number, w.true_witness()});
    w.env.next_block();
    CHECK_FALSE(read_claim(w.env.state(), w.claim(0)).has_value());
}

TEST_CASE("when a claim dies, its other games end without a loser") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    const std::uint64_t stake = w.env.stake("m5");
    w.open("v4", 0, UnitKind::kCarried);
    w.open("m5", 0, UnitKind::kCarried);
    w.open("m5", 0);
    w.env.send(w.env.person(miner), DisputeConcede{w.job, 0});
    for (const std::uint32_t number : {1U, 2U}) {
        CHECK(w.game(number).end == GameEnd::kClosed);
        CHECK(w.game(number).lost.is_zero());
    }
    CHECK(w.env.stake("m5") == stake);
    CHECK(read_claim(w.env.state(), w.claim(0))->challenges == 0);
}

TEST_CASE("the winner calls those who vouched: each defends the root that it computed, or loses its bond") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 1));
    w.env.refuse(Reason::kWrongPhase, w.env.person("v4"),
                 DisputeCall{w.job, 0, w.env.person("v1").node_key()});
    // A thrown game proves nothing: the miner concedes though its segment is right.
    w.env.send(w.env.person(miner), DisputeConcede{w.job, 0});
    const auto vouchers = vouchers_of(w.env.state(), w.job, w.game(0));
    REQUIRE(vouchers.size() == w.panel());
    REQUIRE(vouchers.size() >= 2);
    Person& first = w.env.by_node(vouchers[0]);
    Person& second = w.env.by_node(vouchers[1]);
    w.env.refuse(Reason::kNotYours, w.env.person("m5"), DisputeCall{w.job, 0, vouchers[0]});
    w.env.refuse(Reason::kNotDrawn, w.env.person("v4"), DisputeCall{w.job, 0, w.env.person("m1").node_key()});
    for (const PublicKey& voucher : vouchers) w.env.send(w.env.person("v4"), DisputeCall{w.job, 0, voucher});
    w.env.refuse(Reason::kAlreadyDone, w.env.person("v4"), DisputeCall{w.job, 0, vouchers[0]});
    const std::uint64_t stake = w.env.stake(first.name);
    const std::uint64_t watchers = w.env.stake("v4");
    w.post(first.name, 1);
    w.env.send(second, DisputeConcede{w.job, 2});
    w.let_clock_run_out(1);
    CHECK_FALSE(w.game(1).claimant_lost);
    CHECK(w.env.stake(first.name) == stake);
    CHECK(w.env.stake("v4") == watchers);  // a call takes no bond
    CHECK(w.game(2).claimant_lost);
    CHECK_FALSE(w.game(2).lost.is_zero());
    for (const EnlistedVerifier& verifier : w.env.job(w.job).verifiers) {
        if (verifier.node == second.node_key()) CHECK(verifier.dropped);
    }
}

TEST_CASE("a claim that its miner loses to a friend on purpose saves nobody who vouched for it") {
    DisputeWorld w;
    const std::string miner = w.miner_of(0);
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 1));  // honest
    w.env.send(w.env.person("m5"), w.challenge(0, UnitKind::kSegment, 0));  // the miner's friend
    const std::uint64_t stake = w.env.stake("v4");
    w.env.send(w.env.person(miner), DisputeConcede{w.job, 1});
    REQUIRE(w.game(0).end == GameEnd::kClosed);
    const auto vouchers = vouchers_of(w.env.state(), w.job, w.game(0));
    REQUIRE_FALSE(vouchers.empty());
    Person& voucher = w.env.by_node(vouchers[0]);
    // The friend calls it about another unit, and about the same: to be silent.
    w.env.send(w.env.person("m5"), DisputeCall{w.job, 1, vouchers[0]});
    w.env.refuse(Reason::kNotYours, w.env.person("m5"), DisputeCall{w.job, 0, vouchers[0]});
    const std::uint64_t free = read_stake(w.env.state(), w.env.person("v4").node_key()).free.units();
    w.env.send(w.env.person("v4"), DisputeCall{w.job, 0, vouchers[0]});
    w.env.refuse(Reason::kAlreadyDone, w.env.person("v4"), DisputeCall{w.job, 0, vouchers[0]});
    CHECK(w.game(3).called);
    CHECK(w.game(3).part == 1);
    CHECK_FALSE(w.game(3).bond.is_zero());  // who did not win pays for a wrong call
    CHECK(read_stake(w.env.state(), w.env.person("v4").node_key()).free.units() ==
          free - w.game(3).bond.units());
    w.env.send(voucher, DisputeConcede{w.job, 3});
    CHECK(w.game(3).claimant_lost);
    CHECK_FALSE(w.game(3).lost.is_zero());
    CHECK(w.env.stake("v4") == stake);
}

TEST_CASE("a wrong call of one who did not win costs its bond") {
    DisputeWorld w;
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 1));
    w.env.send(w.env.person("m5"), w.challenge(0, UnitKind::kSegment, 0));
    w.env.send(w.env.person(w.miner_of(0)), DisputeConcede{w.job, 1});
    const auto vouchers = vouchers_of(w.env.state(), w.job, w.game(0));
    REQUIRE_FALSE(vouchers.empty());
    const std::string voucher = w.env.by_node(vouchers[0]).name;
    const std::uint64_t stake = w.env.stake("v4");
    w.env.send(w.env.person("v4"), DisputeCall{w.job, 0, vouchers[0]});
    w.post(voucher, 2);
    w.let_clock_run_out(2);
    CHECK_FALSE(w.game(2).claimant_lost);
    CHECK(w.game(2).lost == w.game(2).bond);
    CHECK(w.env.stake("v4") == stake - w.game(2).bond.units());
}

TEST_CASE("nobody vouched for a unit whose start it did not compute as the miner says") {
    // The first boundary alone is false: verifiers agree with the second unit's end, not with its start.
    DisputeWorld w;
    const Reveal honest = *read_reveal(w.env.state(), w.job, 0, 0);
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment, 1));
    w.env.send(w.env.person(w.miner_of(0)), DisputeConcede{w.job, 0});
    CHECK(vouchers_of(w.env.state(), w.job, w.game(0)).size() == w.panel());
    w.env.edit<Reveal>(reveal_key(w.job, 0, 0),
                       [](Reveal& reveal) { reveal.trace.boundaries[1] = bytes_of("false"); });
    CHECK(vouchers_of(w.env.state(), w.job, w.game(0)).empty());
}

TEST_CASE("those who vouched for a first segment are called like all others: it starts from the base") {
    DisputeWorld w;
    w.open("v4", 0);
    w.env.send(w.env.person(w.miner_of(0)), DisputeConcede{w.job, 0});
    const auto vouchers = vouchers_of(w.env.state(), w.job, w.game(0));
    REQUIRE(vouchers.size() == w.panel());
    REQUIRE(vouchers.size() >= 2);
    w.env.send(w.env.person("v4"), DisputeCall{w.job, 0, vouchers[0]});
    CHECK(w.game(1).claimant == vouchers[0]);
    CHECK(read_game_pieces(w.env.state(), w.job, 1)->unit.states[0] ==
          read_reveal(w.env.state(), w.job, 0, 0)->trace.boundaries[0]);
}

TEST_CASE("a challenge costs something where the work costs nothing") {
    DisputeWorld w;
    const Job job = w.env.job(w.job);
    const Claim claim = *read_claim(w.env.state(), w.claim(0));
    CHECK(challenge_bond(w.env.params(), job, Amount{}, claim) == w.env.params().verifier_penalty);
}

TEST_CASE("where the job's own base is no number, nobody loses and the job ends") {
    const bool accused = GENERATE(false, true);
    DisputeWorld w(true, accused ? VerifierManner::kAccuses : VerifierManner::kColludes);
    const std::string miner = w.miner_of(0);
    const std::string who =
        accused ? w.env.by_node(read_claim(w.env.state(), w.claim(0))->accusations.front().verifier).name
                : "v4";
    const std::uint64_t stake = w.env.stake(who);
    // The claimant's update is made of nothing; what it opens of the base is what everybody started from.
    const std::uint32_t number = w.open(who, 0, UnitKind::kUpdate);
    const JobSpec spec = w.env.job(w.job).spec;
    const dispute::UnitClaim unit = read_game_pieces(w.env.state(), w.job, number)->unit;
    dispute::UnitFacts facts(spec, unit);
    REQUIRE(unit.states ==
            std::vector{program::state_root(w.broken->roots(0)), program::state_root(w.broken->roots(1))});
    // The first tensor is a bias: one row.
    const std::vector<dispute::Cells> partials = {
        dispute::Cells::of({dispute::CellKind::kWhole, arithmetic::kTile})};
    const base::Bytes witness =
        dispute::make_witness(facts.array(dispute::ArrayUnit::kUpdate), dispute::ArrayPosition{}, *w.broken,
                              partials, dispute::StoredTree());
    w.env.edit<Game>(game_key(w.job, number), [&](Game& game) {
        game.way.stage = WayStage::kWitness;
        game.way.picked = dispute::tile_hash(partials[0], arithmetic::kTile);
    });
    w.env.send(w.env.person(miner), DisputeProve{w.job, number, witness});
    CHECK(to_text(w.game(number).finding.reason) == "not_finite");
    CHECK(w.game(number).end == GameEnd::kVoid);
    CHECK(w.game(number).lost.is_zero());
    CHECK(w.game(number).accuses == accused);
    CHECK(w.env.stake(who) == stake);
    play_round(w.env, w.job);
    CHECK(w.env.job(w.job).end_reason == Reason::kJobVoid);
    CHECK(w.env.job(w.job).phase == JobPhase::kClosing);
    while (read_job_progress(w.env.state(), w.job)) w.env.next_block();
}

TEST_CASE("a merge is a claim like any other: its verifier plays with its bond for the job") {
    DisputeWorld w;
    std::string merger;
    for (const auto& [id, claim] : list_claims(w.env.state(), w.job)) {
        if (id.kind != ClaimKind::kMerge || id.round != 0) continue;
        const DisputeOpen challenge{w.job, 0, ClaimKind::kMerge, id.number, UnitKind::kMerge, 0};
        w.env.send(w.env.person("v4"), challenge);
        merger = w.env.by_node(claim.node).name;
    }
    REQUIRE_FALSE(merger.empty());
    CHECK(w.game(0).way.stage == WayStage::kArrays);
    w.let_clock_run_out(0);
    CHECK(w.game(0).claimant_lost);
    CHECK_FALSE(w.game(0).lost.is_zero());
}

TEST_CASE("a job whose end is decided waits for the games about its claims") {
    DisputeWorld w;
    play_round(w.env, w.job);
    play_round(w.env, w.job);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kClosing);
    const std::uint64_t settled = read_round(w.env.state(), w.job, 2)->settled_at;
    w.env.advance_to(settled + kWindow - 1);
    const DisputeOpen last{w.job, 2, ClaimKind::kSlot, 0, UnitKind::kSegment, 0};
    w.env.send(w.env.person("v4"), last);
    w.env.advance_to(settled + kWindow + 2);
    REQUIRE(w.env.job(w.job).phase == JobPhase::kClosing);
    const auto number = static_cast<std::uint32_t>(list_games(w.env.state(), w.job).size() - 1);
    w.env.send(w.env.by_node(w.game(number).claimant), DisputeConcede{w.job, number});
    w.env.advance_to(w.env.height() + w.env.params().dispute_move_window + 1);
    CHECK_FALSE(read_job(w.env.state(), w.job).has_value());
}

}  // namespace assay::contracts::test
