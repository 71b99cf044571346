// SPDX-License-Identifier: Apache-2.0
// A slot's round on the ledger, recomputed from blobs: what replay says of the verdict, whichever units were
// drawn and whatever is false beside them.
#include "node/audit/replay.hpp"

#include <map>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/round_plan.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/program/drill.hpp"
#include "node/worker/worker_process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/slot_files.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_job.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::node {
namespace {

using contracts::Reason;
using UnitState = UnitReplay::Comparison;
using worker::Drill;
using worker::DrillKind;

constexpr std::uint32_t kSlot = 1;

/// A flipped bit at the end of a segment: that segment alone is false.
Drill flip(std::uint32_t segment) { return {DrillKind::kFlip, segment, "wte.weight", 3, 7}; }

/// One slot's round by a miner with such drills, as ledger and blob store have it afterwards.
class SlotOnLedger {
public:
    explicit SlotOnLedger(const std::vector<Drill>& drills,
                          program::InnerState inner_state = program::InnerState::kReset) {
        job_.spec.inner_state = inner_state;
        BlobStoreOptions options;
        options.folder = folder_ / "blobs";
        blobs_ = BlobStore::open(options).value();
        REQUIRE(blobs_->put(job_.file));
        WorkerOptions worker;
        worker.program = std::filesystem::path(std::getenv("ASSAY_BIN_DIR")) / "assay-worker";
        worker_ = WorkerProcess::start(worker).value();
        runner_ = trainer::JobRunner::create(job_.spec, {job_.tokens}, {job_.tokens}, {}).value();
        const trainer::BaseState base = runner_->initial();
        std::vector<trainer::SlotState> boundaries{runner_->start(base).value()};
        const auto keep = [&](const trainer::BoundaryReport& boundary) {
            boundaries.push_back(boundary.state);
        };
        auto work = verifier::run_drilled_round(*runner_, base, 0, kSlot, std::nullopt, drills, keep, {});
        reveal_.trace = work->trace;
        for (std::size_t i = 1; i < boundaries.size(); ++i) {
            const auto files = assay::tests::files_of_state(job_.spec, boundaries[i]);
            boundary_blobs_.push_back(base::blob_id(files.front()));
            for (const base::Bytes& file : files) REQUIRE(blobs_->put(file));
        }
        boundaries_ = std::move(boundaries);
        contracts::Job job;
        job.id = id_;
        job.spec = job_.spec;
        contracts::write_job(state_, job);
        contracts::Round round;
        round.job = id_;
        round.base_root = runner_->base_root(base);
        contracts::write_round(state_, round);
        slot_.slot = kSlot;
        slot_.assigned = true;
        slot_.revealed = true;
    }

    [[nodiscard]] std::uint32_t finalise() const { return program::RoundPlan(job_.spec).segments(); }
    /// The unit's root as verifiers compute it from its claimed start.
    [[nodiscard]] base::Hash256 right_root(std::uint32_t unit) const {
        return runner_->replay_segment(boundaries_[unit], {0, kSlot, unit}, {})->unit_root;
    }
    [[nodiscard]] base::Hash256 claimed_root(std::uint32_t unit) const {
        return program::unit_root(reveal_.trace, job_.spec, unit);
    }
    /// No holder serves the state of this boundary any more.
    void lose_boundary(std::uint32_t boundary) { REQUIRE(blobs_->remove(boundary_blobs_[boundary - 1])); }

    /// The store holds these bytes in the place of the boundary's head.
    void swap_boundary(std::uint32_t boundary, const base::Bytes& bytes) {
        REQUIRE(blobs_->remove(boundary_blobs_[boundary - 1]));
        boundary_blobs_[boundary - 1] = blobs_->put(bytes).value();
    }
    /// The head of the boundary's state.
    [[nodiscard]] base::Bytes boundary_bytes(std::uint32_t boundary) const {
        return assay::tests::files_of_state(job_.spec, boundaries_[boundary]).front();
    }
    /// No holder serves this array of the boundary's state any more.
    void lose_array(std::uint32_t boundary, program::StateArray array) {
        const auto head = assay::tests::head_of_state(job_.spec, boundaries_[boundary]);
        REQUIRE(blobs_->remove(head.part(array)->blob));
    }

    void lose(const BlobId& blob) { REQUIRE(blobs_->remove(blob)); }
    [[nodiscard]] base::Hash256 data_blob() const { return job_.spec.data.train; }

    /// An accusation that awaits its game.
    void caught(std::vector<std::uint32_t> drawn, std::uint32_t unit, const base::Hash256& found) {
        state_.put(contracts::claim_key(claim_), base::encode(contracts::Claim{}));
        slot_.drawn_units = std::move(drawn);
        slot_.verdict = Reason::kPaidAccused;
        slot_.fault_unit = unit;
        slot_.fault_claimed = claimed_root(unit);
        slot_.fault_found = found;
    }
    void judged(std::vector<std::uint32_t> drawn, Reason verdict) {
        slot_.drawn_units = std::move(drawn);
        slot_.verdict = verdict;
    }

    /// Its window passes and nobody wins a game about it: the miner has its pay.
    void close_claim() { state_.erase(contracts::claim_key(claim_)); }
    /// All who accused it have lost.
    void clear() {
        slot_.cleared = true;
        close_claim();
    }
    /// Its claim dies in a game about this segment.
    void lose_game(std::uint32_t segment, contracts::GameEnd end) {
        contracts::Game game;
        game.number = 4;
        game.claim = kSlot;
        game.part = segment;
        game.phase = contracts::GamePhase::kEnded;
        game.end = end;
        game.claimant_lost = true;
        state_.put(contracts::game_key(id_, game.number), base::encode(game));
        close_claim();
    }

    /// The slot is of round 1 and goes on with a state that nobody serves any more, nor the base of round 0
    /// from which it could be made again.
    void go_on_with_lost_state() {
        contracts::Round round = contracts::read_round(state_, id_, 0).value();
        round.number = round_ = 1;
        contracts::write_round(state_, round);
        round.number = 0;
        round.base_blob = base::hash("assay/test", base::as_bytes("gone"));
        contracts::write_round(state_, round);
        contracts::CarriedIn carried;
        carried.root = reveal_.trace.carried->out;
        carried.blob = base::hash("assay/test", base::as_bytes("gone too"));
        state_.put(contracts::handed_on_key(id_, 0, kSlot), base::encode(carried));
    }

    /// The ledger has the start of the run that begins with this unit, as its miner served it.
    void serve_start(std::uint32_t unit) {
        contracts::Serve serve;
        serve.starts.push_back({unit, reveal_.trace.boundaries[unit], base::blob_id(boundary_bytes(unit))});
        state_.put(contracts::serve_key(id_, round_, kSlot), base::encode(serve));
    }
    /// Takes these bytes out of the store; try_replay() brings them.
    void hand_over(const base::Bytes& bytes) {
        REQUIRE(blobs_->remove(base::blob_id(bytes)));
        elsewhere_[base::blob_id(bytes)] = bytes;
    }
    /// Notes what it is asked for.
    base::Outcome<void> bring(const BlobId& id) {
        asked.push_back(id);
        if (!elsewhere_.contains(id)) return base::fail(base::ErrorKind::kUnreachable, "nobody is there");
        ASSAY_TRY(blobs_->put(elsewhere_.at(id)));
        return {};
    }
    std::vector<BlobId> asked;
    [[nodiscard]] const base::Bytes& data() const { return job_.file; }
    base::Outcome<std::vector<SlotReplay>> try_replay(bool brings,
                                                      std::optional<std::uint32_t> segment = {}) {
        state_.put(contracts::slot_key(id_, round_, kSlot), base::encode(slot_));
        state_.put(contracts::reveal_key(id_, round_, kSlot), base::encode(reveal_));
        ReplayRequest request{.job = id_, .round = round_, .miner = {}, .segment = segment, .bring = {}};
        if (brings) request.bring = [this](const BlobId& id) { return bring(id); };
        return replay_round(*worker_, state_, *blobs_, request);
    }

    SlotReplay replay(std::optional<std::uint32_t> segment = std::nullopt) {
        auto replayed = try_replay(false, segment);
        if (!replayed) FAIL(replayed.error().what);
        REQUIRE(replayed->size() == 1);
        return replayed->front();
    }

private:
    assay::tests::TinyJob job_ = assay::tests::tiny_job();
    test::TemporaryFolder folder_;
    std::unique_ptr<BlobStore> blobs_;
    std::unique_ptr<WorkerProcess> worker_;
    std::unique_ptr<trainer::JobRunner> runner_;
    std::vector<trainer::SlotState> boundaries_;
    std::vector<BlobId> boundary_blobs_;
    std::map<BlobId, base::Bytes> elsewhere_;
    base::Hash256 id_ = base::hash("assay/test", base::as_bytes("job"));
    contracts::ClaimId claim_{id_, 0, contracts::ClaimKind::kSlot, kSlot};
    contracts::MemoryState state_;
    std::uint32_t round_ = 0;
    contracts::SlotRound slot_;
    contracts::Reveal reveal_;
};

}  // namespace

TEST_CASE("a verdict on a drawn unit is right although an earlier unit, which was not drawn, is false too") {
    SlotOnLedger slot({flip(0), flip(2)});
    slot.caught({2, slot.finalise()}, 2, slot.right_root(2));
    const SlotReplay replay = slot.replay();
    CHECK(replay.judgement == Judgement::kRight);
    CHECK(replay.judged_by == 2U);
    REQUIRE(replay.first_wrong() != nullptr);
    CHECK(replay.first_wrong()->unit == 0);
    REQUIRE(replay.units.size() == 4);
    CHECK(replay.units[1].state == UnitState::kEqual);
    CHECK(replay.units[2].state == UnitState::kFalse);
    CHECK(replay.units[2].recomputed == slot.right_root(2));
    CHECK(replay.units[3].state == UnitState::kEqual);
}

TEST_CASE("a verdict whose start is not at hand cannot be judged, and is not called wrong") {
    SlotOnLedger slot({flip(0), flip(2)});
    slot.caught({2, slot.finalise()}, 2, slot.right_root(2));
    slot.lose_boundary(1);
    slot.lose_boundary(2);
    const SlotReplay replay = slot.replay();
    CHECK(replay.judgement == Judgement::kCannotBeMade);
    CHECK(replay.judged_by == 2U);
    CHECK(replay.first_wrong()->unit == 0);
    CHECK(replay.units[2].state == UnitState::kUnknown);
    CHECK(replay.units[2].lacking.find("boundary 2") != std::string::npos);
    // Where nothing is false before it, the start is computed here and no blob is needed.
    SlotOnLedger honest_before({flip(2)});
    honest_before.caught({2, slot.finalise()}, 2, honest_before.right_root(2));
    honest_before.lose_boundary(1);
    honest_before.lose_boundary(2);
    CHECK(honest_before.replay().judgement == Judgement::kRight);
}

TEST_CASE("bytes kept for a boundary that are not its state leave the verdict open") {
    SlotOnLedger slot({flip(0), flip(2)});
    slot.caught({2, slot.finalise()}, 2, slot.right_root(2));
    const base::Bytes second = slot.boundary_bytes(2);
    slot.swap_boundary(1, base::Bytes(100, 7));
    CHECK(slot.replay().judgement == Judgement::kRight);  // its own start is still there
    slot.swap_boundary(2, base::Bytes(100, 8));
    CHECK(slot.replay().judgement == Judgement::kCannotBeMade);
    slot.swap_boundary(2, slot.boundary_bytes(3));
    CHECK(slot.replay().judgement == Judgement::kCannotBeMade);
    slot.swap_boundary(2, second);
    CHECK(slot.replay().judgement == Judgement::kRight);
}

TEST_CASE("a verdict is judged from the arrays that its unit reads, whichever others are lost") {
    using enum program::StateArray;
    SlotOnLedger last({flip(2)});
    last.judged({last.finalise()}, Reason::kPaid);
    last.lose_array(3, kFirstMoment);
    last.lose_array(3, kSecondMoment);
    CHECK(last.replay().judgement == Judgement::kRight);  // `finalise` reads no moment
    last.lose_array(3, kParameters);
    const SlotReplay without = last.replay();
    CHECK(without.judgement == Judgement::kCannotBeMade);
    CHECK(without.units[3].lacking.find("boundary 3") != std::string::npos);
    SlotOnLedger inner({flip(0), flip(2)});
    inner.caught({2, inner.finalise()}, 2, inner.right_root(2));
    inner.lose_boundary(1);
    CHECK(inner.replay().judgement == Judgement::kRight);
    inner.lose_array(2, kSecondMoment);
    const SlotReplay replay = inner.replay();
    CHECK(replay.judgement == Judgement::kCannotBeMade);
}

TEST_CASE("a replay asks once for what the store lacks, and for nothing else") {
    SlotOnLedger slot({flip(0), flip(2)});
    slot.caught({2, slot.finalise()}, 2, slot.right_root(2));
    slot.serve_start(2);
    slot.lose_boundary(1);
    slot.hand_over(slot.boundary_bytes(2));
    slot.hand_over(slot.data());
    const auto without = slot.try_replay(false);
    REQUIRE_FALSE(without);
    CHECK(without.error().kind == base::ErrorKind::kNotFound);
    CHECK(without.error().what.find("the training tokens (" + slot.data_blob().hex()) != std::string::npos);
    CHECK(without.error().fix.find("--fetch") != std::string::npos);
    for (int time = 0; time < 2; ++time) {
        const auto brought = slot.try_replay(true);
        REQUIRE(brought);
        CHECK(brought->front().judgement == Judgement::kRight);
        CHECK(brought->front().judged_by == 2U);
        CHECK(slot.asked == std::vector{slot.data_blob(), base::blob_id(slot.boundary_bytes(2))});
    }
}

TEST_CASE("what nobody brings leaves a verdict open, and without the data there is no replay") {
    SlotOnLedger slot({flip(0), flip(2)});
    slot.caught({2, slot.finalise()}, 2, slot.right_root(2));
    slot.serve_start(2);
    slot.lose_boundary(1);
    slot.lose_boundary(2);
    CHECK(slot.try_replay(true).value().front().judgement == Judgement::kCannotBeMade);
    slot.lose(slot.data_blob());
    const auto none = slot.try_replay(true);
    REQUIRE_FALSE(none);
    CHECK(none.error().kind == base::ErrorKind::kUnreachable);
    CHECK(none.error().what.find("could not be fetched: nobody is there") != std::string::npos);
}

TEST_CASE("a head that names another array's file, or data, leaves the verdict open") {
    SlotOnLedger slot({flip(0), flip(2)});
    slot.caught({2, slot.finalise()}, 2, slot.right_root(2));
    slot.lose_boundary(1);
    CHECK(slot.replay().judgement == Judgement::kRight);
    auto head = program::decode_state_head(slot.boundary_bytes(2)).value();
    std::swap(head.parts[0].blob, head.parts[1].blob);
    slot.swap_boundary(2, program::encode_state_head(head));
    CHECK(slot.replay().judgement == Judgement::kCannotBeMade);
    head.parts[0].blob = slot.data_blob();
    slot.swap_boundary(2, program::encode_state_head(head));
    CHECK(slot.replay().judgement == Judgement::kCannotBeMade);
    head = program::decode_state_head(slot.boundary_bytes(2)).value();
    std::swap(head.parts[0].root, head.parts[1].root);
    slot.swap_boundary(2, program::encode_state_head(head));
    CHECK(slot.replay().judgement == Judgement::kCannotBeMade);
    head.parts.pop_back();
    slot.swap_boundary(2, program::encode_state_head(head));
    CHECK(slot.replay().judgement == Judgement::kCannotBeMade);
}

TEST_CASE("an accusation is confirmed where the recorded unit came out as it says, and is no verdict else") {
    SlotOnLedger slot({flip(0)});
    slot.caught({0}, 0, slot.right_root(0));
    CHECK(slot.replay().judgement == Judgement::kRight);
    CHECK(slot.replay().judged_by == 0U);
    slot.caught({1}, 1, slot.right_root(0));
    CHECK_FALSE(slot.replay().judged_by.has_value());  // unit 0 is false, and 1 was not
    slot.caught({0}, 0, slot.right_root(1));
    CHECK_FALSE(slot.replay().judged_by.has_value());  // false, but not by these bits
    SlotOnLedger honest({});
    honest.caught({1}, 1, honest.right_root(0));
    CHECK(honest.replay().judgement == Judgement::kRight);
    CHECK_FALSE(honest.replay().judged_by.has_value());
    CHECK(honest.replay(0).judgement == Judgement::kNotReached);
}

TEST_CASE("a paid slot is judged by its drawn units, and false work beside them is named as paid for") {
    SlotOnLedger slot({flip(1)});
    slot.judged({0, 2, slot.finalise()}, Reason::kPaid);
    const SlotReplay undrawn = slot.replay();
    CHECK(undrawn.judgement == Judgement::kRight);
    CHECK(undrawn.false_work_paid);
    CHECK(undrawn.count(UnitState::kFalse) == 1);
    slot.judged({1, slot.finalise()}, Reason::kPaid);
    CHECK(slot.replay().judgement == Judgement::kWrong);
    CHECK(slot.replay().judged_by == 1U);
    slot.judged({2, slot.finalise()}, Reason::kPaid);
    slot.lose_boundary(2);
    const SlotReplay open = slot.replay();
    CHECK(open.judgement == Judgement::kCannotBeMade);
    CHECK(open.judged_by == 2U);
    CHECK(open.false_work_paid);

    SlotOnLedger honest({});
    honest.judged({0, honest.finalise()}, Reason::kPaid);
    const SlotReplay right = honest.replay();
    CHECK(right.judgement == Judgement::kRight);
    CHECK_FALSE(right.false_work_paid);
    CHECK(right.count(UnitState::kEqual) == 4);
    // A verdict that no bits decided.
    slot.judged({1}, Reason::kSilentAfterDraw);
    CHECK(slot.replay().judgement == Judgement::kRight);
}

TEST_CASE("an accusation that no game bore out is no caught cheat: what was paid for false work is named") {
    SlotOnLedger slot({flip(2)});
    slot.caught({2, slot.finalise()}, 2, slot.right_root(2));
    const SlotReplay open = slot.replay();
    CHECK(open.awaits_game);
    CHECK(open.judged_by == 2U);
    CHECK_FALSE(open.false_work_paid);
    // Nobody lost its game: the job's own data were at fault.
    slot.close_claim();
    const SlotReplay undecided = slot.replay();
    CHECK_FALSE(undecided.awaits_game);
    CHECK(undecided.judgement == Judgement::kRight);
    CHECK(undecided.false_work_paid);
    slot.clear();
    const SlotReplay cleared = slot.replay();
    CHECK(cleared.judgement == Judgement::kWrong);
    CHECK(cleared.judged_by == 2U);
    CHECK(cleared.false_work_paid);
    // Found by a replay, beside what was drawn.
    slot.caught({1, slot.finalise()}, 2, slot.right_root(2));
    slot.clear();
    CHECK(slot.replay().judgement == Judgement::kRight);
    CHECK(slot.replay().false_work_paid);
    SlotOnLedger honest({});
    honest.caught({1}, 1, honest.right_root(0));
    honest.clear();
    CHECK(honest.replay().judgement == Judgement::kRight);
    CHECK_FALSE(honest.replay().false_work_paid);
}

TEST_CASE("what was not recomputed is not equal, and leaves a paid slot open") {
    SlotOnLedger carried({}, program::InnerState::kCarried);
    carried.judged({}, Reason::kPaid);
    CHECK(carried.replay().is_equal());
    CHECK_FALSE(carried.replay().is_left_open());
    carried.go_on_with_lost_state();
    for (const std::uint32_t boundary : {1U, 2U, 3U}) carried.lose_boundary(boundary);
    const SlotReplay gone = carried.replay();
    CHECK(gone.count(UnitState::kUnknown) == gone.units.size());
    CHECK(gone.judgement == Judgement::kRight);  // nothing was drawn
    CHECK_FALSE(gone.is_equal());
    CHECK(gone.is_left_open());
    // Behind the fault for which a claim died nothing was paid for.
    SlotOnLedger lost({flip(0)});
    lost.judged({0, lost.finalise()}, Reason::kPaid);
    for (const std::uint32_t boundary : {1U, 2U, 3U}) lost.lose_boundary(boundary);
    CHECK(lost.replay().is_left_open());
    lost.lose_game(0, contracts::GameEnd::kJudged);
    const SlotReplay dead = lost.replay();
    CHECK(dead.count(UnitState::kUnknown) > 0);
    CHECK_FALSE(dead.is_equal());
    CHECK_FALSE(dead.is_left_open());
}

TEST_CASE("a verdict on a paid slot is not judged by less than the units that were drawn") {
    SlotOnLedger slot({});
    slot.judged({2, slot.finalise()}, Reason::kPaid);
    const SlotReplay first = slot.replay(0);
    CHECK(first.judgement == Judgement::kNotReached);
    CHECK(first.judged_by == 2U);
    CHECK(first.is_equal());  // as far as was asked
    CHECK(slot.replay(2).judgement == Judgement::kNotReached);
    CHECK(slot.replay(2).judged_by == slot.finalise());
    CHECK(slot.replay(slot.finalise()).judgement == Judgement::kRight);
    SlotOnLedger cheat({flip(0)});
    cheat.judged({2, cheat.finalise()}, Reason::kPaid);
    CHECK(cheat.replay(0).judgement == Judgement::kNotReached);
    CHECK(cheat.replay(0).false_work_paid);
    cheat.judged({0, cheat.finalise()}, Reason::kPaid);
    CHECK(cheat.replay(0).judgement == Judgement::kWrong);
}

TEST_CASE("false work that was paid because nobody recomputed it is named as paid for") {
    SlotOnLedger slot({flip(1)});
    slot.judged({1, slot.finalise()}, Reason::kPaidUndecided);
    CHECK(slot.replay().judgement == Judgement::kRight);  // the ledger does not say that unit 1 is right
    CHECK(slot.replay().false_work_paid);
    SlotOnLedger honest({});
    honest.judged({1, honest.finalise()}, Reason::kPaidUndecided);
    CHECK_FALSE(honest.replay().false_work_paid);
}

TEST_CASE(
    "a slot that was found right and lost a game later was not paid, so that its false units are caught") {
    SlotOnLedger slot({flip(1)});
    slot.judged({1, slot.finalise()}, Reason::kPaid);
    slot.lose_game(1, contracts::GameEnd::kJudged);
    const SlotReplay lost = slot.replay();
    CHECK(lost.judgement == Judgement::kRight);
    CHECK(lost.judged_by == 1U);
    CHECK(lost.lost_game == 4U);
    CHECK_FALSE(lost.false_work_paid);
    CHECK(slot.replay(0).judgement == Judgement::kNotReached);
    slot.judged({2, slot.finalise()}, Reason::kPaidUndecided);
    CHECK(slot.replay().judged_by == 1U);
    CHECK_FALSE(slot.replay().false_work_paid);
    slot.caught({1, slot.finalise()}, 1, slot.right_root(1));
    slot.lose_game(1, contracts::GameEnd::kConceded);
    CHECK(slot.replay().judged_by == 1U);
    CHECK_FALSE(slot.replay().awaits_game);
    SlotOnLedger silent({});
    silent.judged({1, silent.finalise()}, Reason::kPaid);
    silent.lose_game(1, contracts::GameEnd::kSilent);
    CHECK(silent.replay().judgement == Judgement::kRight);
    CHECK_FALSE(silent.replay().judged_by.has_value());
}

TEST_CASE("a fault that two replays found behind a false unit is judged from the round's base") {
    SlotOnLedger slot({flip(0)});
    slot.lose_boundary(1);
    slot.lose_boundary(2);
    slot.lose_boundary(3);
    // From the true state every unit after the first comes out otherwise than it was claimed.
    slot.judged({1}, Reason::kPaid);
    const SlotReplay open = slot.replay();
    CHECK(open.judgement == Judgement::kCannotBeMade);
    CHECK(open.units[1].state == UnitState::kUnknown);
    slot.caught({1}, 1, open.units[1].recomputed);
    CHECK(slot.replay().judgement == Judgement::kRight);
    slot.caught({1}, 1, slot.right_root(2));
    CHECK(slot.replay().judgement == Judgement::kCannotBeMade);
}

}  // namespace assay::node
