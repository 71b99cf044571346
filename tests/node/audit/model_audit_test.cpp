// SPDX-License-Identifier: Apache-2.0
// A model audited by sample: forged models are found as often as the audit says, whatever bytes are left.
#include "node/audit/model_audit.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/node/audit/born_model.hpp"
#include "tests/node/cut_ledger.hpp"
#include "tests/support/run_program.hpp"

using namespace assay;
using namespace assay::node;
using namespace assay::node::tests;

namespace {

using worker::Drill;
using worker::DrillKind;

/// A flipped bit at the end of a segment: that segment alone is false, and the rest follows from it.
Drill flip(std::uint32_t segment) { return {DrillKind::kFlip, segment, "wte.weight", 3, 7}; }

/// Four of forty segments: a tenth of the work.
const PlannedFaults kForgedTenth{{{0, 1}, {flip(2)}}, {{2, 0}, {flip(0)}}, {{3, 1}, {flip(1), flip(3)}}};

ModelAuditReport audit(const BornModel& model, WorkerClient& worker, const AuditBytes& bytes,
                       const SamplePlan& plan) {
    ModelReplay replay(worker, model.born(), bytes, never);
    auto report = audit_model(model.born(), model.root(), plan, replay);
    if (!report.ok()) FAIL(report.error().what);
    return *report;
}

ClaimFinding judged(ClaimJudge& judge, const UnitPlace& place) {
    auto found = judge.judge(place);
    if (!found.ok()) FAIL(found.error().what);
    return *found;
}
ClaimFinding judged(ClaimJudge& judge, const TilePlace& place) {
    auto found = judge.judge(place);
    if (!found.ok()) FAIL(found.error().what);
    return *found;
}

/// A store that holds the job's tokens and whatever is computed.
struct EmptyHome {
    test::TemporaryFolder folder;
    std::unique_ptr<BlobStore> blobs;
    EmptyHome() {
        BlobStoreOptions options;
        options.folder = folder / "blobs";
        blobs = BlobStore::open(options).value();
    }
    [[nodiscard]] AuditBytes bytes() const { return BornModel::bytes_of(*blobs); }
};

constexpr std::uint32_t kFinalise = 4;

void bend(frames::Message& answer) {
    if (auto* merged = std::get_if<frames::BaseStateFrame>(&answer)) merged->root.bytes[0] ^= 1U;
    if (auto* descended = std::get_if<frames::Descended>(&answer))
        descended->answer.hashes.front().bytes[0] ^= 1U;
}

/// A worker whose first answer to one kind of request has a wrong bit, as of a machine that errs once.
template <class Request>
class ErringWorker final : public WorkerClient {
public:
    explicit ErringWorker(WorkerClient& worker) : worker_(worker) {}
    WorkerRequestId submit(frames::Message request, std::vector<frames::SharedDescriptor> bulk,
                           WorkerHandler handler) override {
        const bool errs = std::holds_alternative<Request>(request) && !std::exchange(erred_, true);
        if (!errs) return worker_.submit(std::move(request), std::move(bulk), std::move(handler));
        return worker_.submit(std::move(request), std::move(bulk), [handler](WorkerEvent event) {
            bend(event.message);
            handler(std::move(event));
        });
    }
    void cancel(WorkerRequestId request) override { worker_.cancel(request); }
    [[nodiscard]] frames::Hello hello() const override { return worker_.hello(); }
    [[nodiscard]] bool erred() const { return erred_; }

private:
    WorkerClient& worker_;
    bool erred_ = false;
};

}  // namespace

TEST_CASE("over 200 seeds a forged model is found as often as the audit states, by a worker's own bits") {
    BornModel model(born_job(), kForgedTenth);
    REQUIRE(contradictions(model.born()).empty());
    const auto worker = model.worker();
    constexpr int kSeeds = 200;
    constexpr std::uint64_t kDraws = 10;
    int found = 0;
    double stated = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const ModelAuditReport report = audit(model, *worker, model.bytes(), plan_of(seed, kDraws));
        CHECK(report.inconclusive.empty());
        CHECK(report.segments.population == 40);
        CHECK(report.segments.recomputed == kDraws);
        CHECK(report.ok() == report.failures.empty());
        if (!report.ok()) ++found;
        stated = report.segments.chances[2];  // of a tenth
    }
    // 1 - C(36,10)/C(40,10)
    CHECK(stated == Approx(0.70012).margin(1e-4));
    const double spread = std::sqrt(kSeeds * stated * (1 - stated));
    INFO(found << " of " << kSeeds << ", stated " << kSeeds * stated << " +- " << spread);
    CHECK(std::abs(found - kSeeds * stated) <= 2.58 * spread);  // 99 %
}

TEST_CASE("over 20000 seeds the stated chance of each share is met, of recorded findings") {
    /// Findings as a worker would give them, without one.
    class RecordedJudge final : public ClaimJudge {
    public:
        explicit RecordedJudge(std::set<UnitPlace> forged) : forged_(std::move(forged)) {}
        base::Outcome<ClaimFinding> judge(const UnitPlace& place) override {
            return ClaimFinding{forged_.contains(place) ? ClaimState::kFalse : ClaimState::kRight, ""};
        }
        base::Outcome<ClaimFinding> judge(const TilePlace&) override {
            return ClaimFinding{ClaimState::kRight, ""};
        }
        [[nodiscard]] std::vector<MetFault> met() const override { return {}; }

    private:
        std::set<UnitPlace> forged_;
    };
    const BornModel model(born_job());
    const base::Hash256 root = model.root();
    const std::vector<UnitPlace> places = segments_of(model.born()).places;
    constexpr std::array<std::size_t, 4> kForged{1, 2, 4, 20};  // 1, 5, 10 and 50 % of 40
    for (std::size_t share = 0; share < kForged.size(); ++share) {
        std::set<UnitPlace> forged;
        for (std::size_t i = 0; i < kForged[share]; ++i) forged.insert(places[(i * 7 + 3) % places.size()]);
        RecordedJudge judge(forged);
        constexpr int kSeeds = 5000;
        int found = 0;
        double stated = 0;
        for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
            const auto report =
                audit_model(model.born(), root, plan_of(share * kSeeds + seed, 5), judge).value();
            if (!report.failures.empty()) ++found;
            stated = report.segments.chances[share];
        }
        const double spread = std::sqrt(kSeeds * stated * (1 - stated));
        INFO(kForged[share] << " of 40: " << found << " of " << kSeeds << ", stated " << kSeeds * stated);
        CHECK(std::abs(found - kSeeds * stated) <= 3 * spread);
    }
}

TEST_CASE("the command finds a forged folder for the same seeds as the audit behind it, and exits with 7") {
    BornModel model(born_job(), kForgedTenth);
    const test::TemporaryFolder out;
    model.write_folder(out / "forged");
    const auto worker = model.worker();
    int found = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const bool ok = audit(model, *worker, model.bytes(), plan_of(seed, 4)).ok();
        const auto run = test::run_program(test::built_program_path("assay"),
                                           {"audit", "model", out / "forged", "--home", model.home(),
                                            "--units", "4", "--seed", std::to_string(seed), "-o", "json"});
        INFO(run.out << run.err);
        REQUIRE(run.code == (ok ? 0 : 7));
        const auto printed = nlohmann::json::parse(run.out);
        CHECK(printed.at("ok") == ok);
        CHECK(printed.at("recomputed") == 4);
        CHECK(printed.at("ledger") == "none");
        if (!ok) ++found;
    }
    CHECK(found > 0);
    CHECK(found < 6);
}

TEST_CASE(
    "the command compares a folder with no ledger whose end a receipt of the home shows to be cut off") {
    BornModel model(born_job());
    const test::TemporaryFolder out;
    model.write_folder(out / "model");
    const test::CutLedger ledger(model.home());
    test::write_bytes(std::filesystem::path(model.home()) / "jobs" / "receipt", ledger.receipt());
    const auto audit_failures = [&] {
        const auto run = test::run_program(test::built_program_path("assay"),
                                           {"audit", "model", out / "model", "--home", model.home(),
                                            "--units", "1", "--seed", "1", "-o", "json"});
        INFO(run.out << run.err);
        CHECK(run.code == 7);
        return nlohmann::json::parse(run.out).at("failures").dump();
    };
    CHECK(audit_failures().find("it has no job") != std::string::npos);
    ledger.cut();
    const std::string cut = audit_failures();
    CHECK(cut.find("the ledger ends at block 3: block 4 was cut off") != std::string::npos);
    CHECK(cut.find("it has no job") == std::string::npos);
}

TEST_CASE("an honest model passes whatever is drawn, and all of it passes at last") {
    BornModel model(born_job());
    REQUIRE(contradictions(model.born()).empty());
    const auto worker = model.worker();
    for (std::uint64_t seed = 0; seed < 5; ++seed)
        CHECK(audit(model, *worker, model.bytes(), plan_of(seed, 6)).ok());
    const ModelAuditReport all = audit(model, *worker, model.bytes(), plan_of(7, 1000));
    CHECK(all.ok());
    CHECK(all.segments.recomputed == 40);
    CHECK(all.segments.chances[0] == 1);
    CHECK(all.arrays.population == 15);
    CHECK(all.arrays.recomputed == 15);
    CHECK(all.tiles.recomputed >= 15);
    CHECK(all.panels.population == 40);
    CHECK(all.panels.recomputed == 10);
}

TEST_CASE("without any bytes but the job's tokens all is recomputed from the job's start") {
    BornModel model(born_job());
    const auto worker = model.worker();
    const EmptyHome home;
    ModelReplay replay(*worker, model.born(), home.bytes(), never);
    CHECK(judged(replay, UnitPlace{4, 1, 3}).state == ClaimState::kRight);
    CHECK(judged(replay, UnitPlace{2, 0, 0}).state == ClaimState::kRight);
    CHECK(judged(replay, UnitPlace{0, 0, kFinalise}).state == ClaimState::kRight);
    CHECK(judged(replay, TilePlace{.round = 4, .slot = 0, .tensor = 1, .tile = 0}).state ==
          ClaimState::kRight);
    CHECK(judged(replay, TilePlace{.round = 4, .slot = {}, .tensor = 0, .tile = 1}).state ==
          ClaimState::kRight);
    CHECK(judged(replay, TilePlace{.round = 1, .slot = {}, .is_outer = true, .tensor = 2}).state ==
          ClaimState::kRight);
    CHECK(replay.met().empty());
}

TEST_CASE("behind a false unit nothing can be recomputed without its bytes: gone, and the fault is named") {
    BornModel model(born_job(), {{{1, 0}, {flip(1)}}});
    const auto worker = model.worker();
    const EmptyHome home;
    ModelReplay replay(*worker, model.born(), home.bytes(), never);
    CHECK(judged(replay, UnitPlace{1, 0, 0}).state == ClaimState::kRight);
    CHECK(judged(replay, UnitPlace{1, 1, 3}).state == ClaimState::kRight);
    CHECK(replay.met().empty());
    const ClaimFinding behind = judged(replay, UnitPlace{1, 0, 2});
    CHECK(behind.state == ClaimState::kGone);
    CHECK(behind.why.find("segment 1, which is false") != std::string::npos);
    REQUIRE(replay.met().size() == 1);
    CHECK(replay.met().front().where == "round 1 slot 0 segment 1");
    CHECK(judged(replay, UnitPlace{2, 0, 0}).state == ClaimState::kGone);
    // The same units with the forger's bytes: all right but the one.
    ModelReplay full(*worker, model.born(), model.bytes(), never);
    CHECK(judged(full, UnitPlace{1, 0, 2}).state == ClaimState::kRight);
    CHECK(judged(full, UnitPlace{2, 0, 0}).state == ClaimState::kRight);
    CHECK(judged(full, UnitPlace{1, 0, 1}).state == ClaimState::kFalse);
    CHECK(full.met().size() == 1);
}

TEST_CASE("when the minutes are over nothing of earlier rounds is computed again") {
    BornModel model(born_job());
    const auto worker = model.worker();
    const EmptyHome home;
    ModelReplay replay(*worker, model.born(), home.bytes(), [] { return true; });
    CHECK(judged(replay, UnitPlace{0, 1, 3}).state == ClaimState::kRight);
    const ClaimFinding late = judged(replay, UnitPlace{1, 1, 0});
    CHECK(late.state == ClaimState::kGone);
    CHECK(late.why.find("minutes ended") != std::string::npos);
    // An audit that drew such a unit is not ok.
    const ModelAuditReport report = audit_model(model.born(), model.root(), plan_of(1, 10), replay).value();
    CHECK_FALSE(report.ok());
    CHECK_FALSE(report.inconclusive.empty());
    CHECK(report.failures.empty());
    CHECK(report.segments.recomputed + report.inconclusive.size() >= 10);
}

TEST_CASE("a first state that is gone makes every unit gone") {
    BornModel model(born_job());
    BirthCertificate given = model.born();
    given.spec.initial_blob = base::hash("assay/test", base::as_bytes("a folder's weights"));
    given.rounds[0].base_blob = given.spec.initial_blob;
    const auto worker = model.worker();
    const EmptyHome home;
    ModelReplay replay(*worker, given, home.bytes(), never);
    CHECK(judged(replay, UnitPlace{0, 0, 0}).state == ClaimState::kGone);
    CHECK(judged(replay, UnitPlace{3, 1, 2}).why.find("first state") != std::string::npos);
    CHECK(judged(replay, TilePlace{.round = 2, .slot = 1}).state == ClaimState::kGone);
    CHECK(replay.met().empty());
}

TEST_CASE("bytes that are not what they are named by are as good as gone") {
    BornModel model(born_job());
    const auto worker = model.worker();
    const EmptyHome home;
    AuditBytes bytes = model.bytes();
    const auto garbage = worker::memory_file("test", base::Bytes(100, 7)).value();
    const AuditBytes kept = home.bytes();
    const base::Hash256 train = model.job().spec.data.train;
    // Every blob is garbage; what was recomputed and kept here is not.
    bytes.find = [&](const base::Hash256& blob) {
        if (auto file = kept.find(blob); file != nullptr) return file;
        return blob == train || blob.is_zero() ? nullptr : garbage;
    };
    bytes.keep = kept.keep;
    ModelReplay replay(*worker, model.born(), bytes, never);
    CHECK(judged(replay, UnitPlace{2, 1, 2}).state == ClaimState::kRight);
    CHECK(judged(replay, TilePlace{.round = 1, .slot = {}, .tensor = 3}).state == ClaimState::kRight);
}

TEST_CASE("a base that is not the claimed one is not used after its merge either, whoever has it") {
    BornModel model(born_job());
    const auto worker = model.worker();
    AuditBytes bytes = model.bytes();
    const auto& rounds = model.born().rounds;
    // As one whose home was damaged has it, or as forgers publish it: another state under the claimed name.
    bytes.find = [&, usual = bytes.find](const base::Hash256& blob) {
        return usual(blob == rounds[2].base_blob ? rounds[1].base_blob : blob);
    };
    ModelReplay replay(*worker, model.born(), bytes, never);
    CHECK(judged(replay, UnitPlace{2, 1, 0}).state == ClaimState::kRight);
    CHECK(replay.met().empty());
}

TEST_CASE("a false update and a false merge are found from any of their tiles") {
    BornModel bad_update(born_job(), {{{1, 1}, {{DrillKind::kFinalise, 0, "", 0, 0}}}});
    const auto worker = bad_update.worker();
    ModelReplay replay(*worker, bad_update.born(), bad_update.bytes(), never);
    CHECK(judged(replay, TilePlace{.round = 1, .slot = 1, .tensor = 2}).state == ClaimState::kFalse);
    CHECK(judged(replay, TilePlace{.round = 1, .slot = 0, .tensor = 2}).state == ClaimState::kRight);
    CHECK(judged(replay, TilePlace{.round = 1, .slot = {}, .tensor = 2}).state == ClaimState::kRight);
    BornModel bad_merge(born_job(), {}, 2);
    REQUIRE(contradictions(bad_merge.born()).empty());
    const auto other = bad_merge.worker();
    ModelReplay merges(*other, bad_merge.born(), bad_merge.bytes(), never);
    CHECK(judged(merges, TilePlace{.round = 2, .slot = {}, .tensor = 5}).state == ClaimState::kFalse);
    CHECK(judged(merges, TilePlace{.round = 2, .slot = {}, .is_outer = true}).state == ClaimState::kFalse);
    CHECK(judged(merges, TilePlace{.round = 1, .slot = {}, .tensor = 5}).state == ClaimState::kRight);
    CHECK(judged(merges, UnitPlace{3, 0, 0}).state == ClaimState::kRight);
    // From the job's start the false merge stands in the way, and is named.
    const EmptyHome home;
    ModelReplay from_start(*other, bad_merge.born(), home.bytes(), never);
    CHECK(judged(from_start, UnitPlace{3, 0, 0}).state == ClaimState::kGone);
    REQUIRE(from_start.met().size() == 1);
    CHECK(from_start.met().front().where == "round 2 merge");
}

TEST_CASE("a machine that errs in a merge or in a tile accuses nobody") {
    BornModel model(born_job());
    const auto worker = model.worker();
    const auto refused = [](ModelReplay& replay, const auto& place) {
        const auto found = replay.judge(place);
        REQUIRE_FALSE(found.ok());
        CHECK(found.error().kind == base::ErrorKind::kPreflight);
        CHECK(replay.met().empty());
    };
    const EmptyHome home;
    ErringWorker<frames::Merge> in_merge(*worker);
    ModelReplay merges(in_merge, model.born(), home.bytes(), never);
    refused(merges, UnitPlace{2, 0, 0});  // from the job's start, by way of two merges
    CHECK(in_merge.erred());
    CHECK(judged(merges, UnitPlace{2, 0, 0}).state == ClaimState::kRight);
    for (const TilePlace& place :
         {TilePlace{.round = 1, .slot = 1, .tensor = 2}, TilePlace{.round = 1, .slot = {}, .tensor = 2}}) {
        ErringWorker<frames::DescendArray> in_tile(*worker);
        ModelReplay tiles(in_tile, model.born(), model.bytes(), never);
        refused(tiles, place);
        CHECK(in_tile.erred());
        CHECK(judged(tiles, place).state == ClaimState::kRight);
    }
}

TEST_CASE("jobs that carry moments and jobs that bound updates are audited alike") {
    TinyJob carried = born_job();
    carried.spec.inner_state = program::InnerState::kCarried;
    TinyJob bounded = born_job();
    bounded.spec.train.max_update_norm = 1e-3F;
    for (const TinyJob& job : {carried, bounded}) {
        BornModel model(job);
        const auto wrong = contradictions(model.born());
        INFO((wrong.empty() ? "" : wrong.front()));
        REQUIRE(wrong.empty());
        const auto worker = model.worker();
        CHECK(audit(model, *worker, model.bytes(), plan_of(3, 20)).ok());
        const EmptyHome home;
        ModelReplay replay(*worker, model.born(), home.bytes(), never);
        CHECK(judged(replay, UnitPlace{4, 0, 2}).state == ClaimState::kRight);
        CHECK(judged(replay, TilePlace{.round = 3, .slot = 1, .tensor = 4}).state == ClaimState::kRight);
        CHECK(judged(replay, TilePlace{.round = 2, .slot = {}, .tensor = 4}).state == ClaimState::kRight);
    }
}

TEST_CASE("segments are weighed by their steps, and tiles are counted tensor by tensor") {
    TinyJob uneven = assay::tests::tiny_job();  // segments of two, two and one steps
    BornModel model(uneven);
    const SegmentPopulation segments = segments_of(model.born());
    REQUIRE(segments.places.size() == 12);
    CHECK(segments.weights[0] == 2);
    CHECK(segments.weights[2] == 1);
    CHECK(segments.places[5] == UnitPlace{0, 1, 2});
    const TilePopulation tiles(model.born());
    CHECK(tiles.arrays() == 6);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> of_first;
    const std::uint64_t each = tiles.count() / 8;
    CHECK(tiles.count() == 8 * each);
    for (std::uint64_t i = 0; i < each; ++i) {
        const TilePlace place = tiles.at(i);
        CHECK(place.round == 0);
        CHECK(place.slot == 0U);
        CHECK(place.tile == of_first[{0, place.tensor}]++);
    }
    CHECK(of_first.size() == program::parameter_tensors(uneven.spec.model).size());
    CHECK(tiles.at(2 * each).slot == std::nullopt);
    CHECK_FALSE(tiles.at(2 * each).is_outer);
    CHECK(tiles.at(4 * each - 1).is_outer);
    CHECK(tiles.at(4 * each).round == 1);
}
