// SPDX-License-Identifier: Apache-2.0
// A model whose certificate says that claims of it died: what the ledger found false is listed apart from
// what an audit finds, and nothing else is excused by it.
#include "node/audit/known_defeats.hpp"

#include <algorithm>

#include "tests/node/audit/born_model.hpp"

using namespace assay;
using namespace assay::node;
using namespace assay::node::tests;

namespace {

using contracts::ClaimKind;
using contracts::Reason;
using dispute::UnitKind;
using worker::Drill;
using worker::DrillKind;

DefeatedClaim dead_segment(const BirthCertificate& born, std::uint32_t round, std::uint32_t slot,
                           std::uint32_t segment) {
    return {.game = 3,
            .claim = ClaimKind::kSlot,
            .number = slot,
            .claimant = born.rounds[round].slots[slot].miner,
            .unit = UnitKind::kSegment,
            .part = segment,
            .reason = Reason::kDisputeLost};
}

/// All of a model, drawn to the last unit, under another certificate than its own.
ModelAuditReport audit_all(const BornModel& model, const BirthCertificate& born) {
    REQUIRE(contradictions(born).empty());
    const auto worker = model.worker();
    ModelReplay replay(*worker, born, model.bytes(), never);
    auto report = audit_model(born, certificate_root(encode_certificate(born)), plan_of(5, 1000), replay);
    if (!report.ok()) FAIL(report.error().what);
    return *report;
}

/// Finds what a miner leaves to be found that keeps back all of a slot behind one of its segments, where all
/// is right.
class KeptBack final : public ClaimJudge {
public:
    explicit KeptBack(UnitPlace last) : last_(last) {}
    base::Outcome<ClaimFinding> judge(const UnitPlace& place) override {
        const bool is_kept =
            place.round == last_.round && place.slot == last_.slot && place.unit > last_.unit;
        asked.push_back(place);
        return is_kept ? ClaimFinding{ClaimState::kGone, "nobody has it"}
                       : ClaimFinding{ClaimState::kRight, ""};
    }
    base::Outcome<ClaimFinding> judge(const TilePlace&) override {
        return ClaimFinding{ClaimState::kRight, ""};
    }
    [[nodiscard]] std::vector<MetFault> met() const override { return {}; }

    std::vector<UnitPlace> asked;

private:
    UnitPlace last_;
};

}  // namespace

TEST_CASE(
    "a false unit that the certificate admits is no failure and is listed; another of its slot is one") {
    const BornModel model(born_job(), {{{1, 0}, {{DrillKind::kFlip, 1, "wte.weight", 3, 7}}}});
    CHECK_FALSE(audit_all(model, model.born()).ok());
    BirthCertificate admitted = model.born();
    admitted.rounds[1].defeated = {dead_segment(admitted, 1, 0, 1)};
    admitted.rounds[4].windows_open = true;
    const ModelAuditReport report = audit_all(model, admitted);
    CHECK(report.ok());
    CHECK(report.segments.recomputed == 40);
    CHECK(report.merged_slots == 10);
    CHECK(report.open_rounds == std::vector<std::uint32_t>{4});
    REQUIRE(report.defeated.size() == 1);
    CHECK(report.defeated[0].round == 1);
    CHECK(report.defeated[0].claim.game == 3);
    CHECK(report.defeated[0].found == ClaimState::kFalse);
    CHECK_FALSE(report.defeated[0].why.empty());
    // The game was about another segment: that one is right, and the false one is news.
    BirthCertificate elsewhere = model.born();
    elsewhere.rounds[1].defeated = {dead_segment(elsewhere, 1, 0, 2)};
    const ModelAuditReport other = audit_all(model, elsewhere);
    CHECK_FALSE(other.ok());
    REQUIRE(other.failures.size() == 1);
    CHECK(other.failures[0].where == "round 1 slot 0 segment 1");
    CHECK(other.defeated[0].found == ClaimState::kRight);
}

TEST_CASE("an honest slot that lost a game by silence is listed, and its unit is right") {
    const BornModel model(born_job());
    BirthCertificate born = model.born();
    born.rounds[2].defeated = {dead_segment(born, 2, 1, 0)};
    born.rounds[2].defeated[0].reason = Reason::kDisputeSilent;
    const ModelAuditReport report = audit_all(model, born);
    CHECK(report.ok());
    CHECK(report.defeated[0].found == ClaimState::kRight);
}

TEST_CASE("a false update and a false merge that the certificate admits are met by their tiles") {
    const BornModel bad_update(born_job(), {{{1, 1}, {{DrillKind::kFinalise, 0, "", 0, 0}}}});
    BirthCertificate admitted = bad_update.born();
    DefeatedClaim update = dead_segment(admitted, 1, 1, 0);
    CHECK_FALSE(audit_all(bad_update, admitted).ok());
    // A lost game about a segment excuses no update.
    admitted.rounds[1].defeated = {update};
    CHECK_FALSE(audit_all(bad_update, admitted).ok());
    update.unit = UnitKind::kUpdate;
    admitted.rounds[1].defeated = {update};
    const ModelAuditReport of_update = audit_all(bad_update, admitted);
    CHECK(of_update.ok());
    CHECK(of_update.defeated[0].found == ClaimState::kFalse);

    const BornModel bad_merge(born_job(), {}, 2);
    BirthCertificate merged = bad_merge.born();
    CHECK_FALSE(audit_all(bad_merge, merged).ok());
    contracts::SettlementLine line;
    line.job = merged.job;
    line.round = 2;
    line.kind = contracts::LineKind::kMerge;
    line.node.bytes.fill(9);
    line.reason = Reason::kPaidMerge;
    merged.rounds[2].lines.push_back(line);
    merged.rounds[2].defeated = {{.game = 0,
                                  .claim = ClaimKind::kMerge,
                                  .number = 0,
                                  .claimant = line.node,
                                  .unit = UnitKind::kMerge,
                                  .part = 0,
                                  .reason = Reason::kDisputeLost}};
    const ModelAuditReport of_merge = audit_all(bad_merge, merged);
    CHECK(of_merge.ok());
    CHECK(of_merge.defeated[0].found == ClaimState::kFalse);
    CHECK(claim_name(of_merge.defeated[0].claim, 2) == "round 2 merge");
}

TEST_CASE("what was met on the way is admitted by its place alone, and counts once") {
    const BornModel model(born_job());
    BirthCertificate born = model.born();
    born.rounds[1].defeated = {dead_segment(born, 1, 0, 1)};
    KnownDefeats known(born);
    CHECK_FALSE(known.admits(MetFault{"round 1 slot 0 segment 2", "differs"}));
    CHECK_FALSE(known.admits(MetFault{"round 1 merge", "differs"}));
    CHECK_FALSE(known.reports()[0].found.has_value());
    CHECK(known.admits(MetFault{"round 1 slot 0 segment 1", "differs"}));
    CHECK(known.admits(UnitPlace{1, 0, 1}, {ClaimState::kFalse, "differs again"}));
    CHECK(known.reports()[0].why == "differs");
    CHECK_FALSE(known.admits(UnitPlace{1, 0, 1}, {ClaimState::kGone, "nobody has it"}));
    CHECK_FALSE(known.admits(UnitPlace{1, 1, 1}, {ClaimState::kFalse, "differs"}));
    CHECK_FALSE(known.admits(TilePlace{.round = 1, .slot = 0}, {ClaimState::kFalse, "differs"}));
    // Gone excuses nothing but what lies behind in the same slot.
    const ClaimFinding gone{ClaimState::kGone, "nobody has it"};
    CHECK_FALSE(known.hides(UnitPlace{1, 0, 1}, gone));
    CHECK_FALSE(known.hides(UnitPlace{1, 1, 2}, gone));
    CHECK_FALSE(known.hides(UnitPlace{2, 0, 2}, gone));
    CHECK_FALSE(known.hides(TilePlace{.round = 1, .slot = {}}, gone));
    CHECK_FALSE(known.hides(UnitPlace{1, 0, 2}, {ClaimState::kFalse, "differs"}));
    CHECK(known.reports()[0].behind == 0);
    CHECK(known.hides(UnitPlace{1, 0, 2}, gone));
    CHECK(known.hides(TilePlace{.round = 1, .slot = 0}, gone));
    CHECK(known.unreached().empty());
    CHECK(known.not_excused().empty());
    CHECK(known.reports()[0].behind == 2);
}

TEST_CASE("a defeat whose unit is right excuses nothing behind it, whenever that is found") {
    const BornModel model(born_job());
    BirthCertificate born = model.born();
    born.rounds[1].defeated = {dead_segment(born, 1, 0, 1)};
    const ClaimFinding gone{ClaimState::kGone, "nobody has it"};
    const ClaimFinding right{ClaimState::kRight, ""};
    for (const bool found_first : {true, false}) {
        INFO(found_first);
        KnownDefeats known(born);
        if (found_first) CHECK_FALSE(known.admits(UnitPlace{1, 0, 1}, right));
        CHECK(known.hides(UnitPlace{1, 0, 2}, gone));
        CHECK(known.unreached().size() == (found_first ? 0 : 1));
        if (!found_first) CHECK_FALSE(known.admits(UnitPlace{1, 0, 1}, right));
        const std::vector<MetFault> left = known.not_excused();
        REQUIRE(left.size() == 1);
        CHECK(left[0].where == "round 1 slot 0 segment 2");
        CHECK(known.reports()[0].behind == 0);
    }
    // Behind another unit that is false as well, nothing can be had.
    born.rounds[1].defeated.push_back(dead_segment(born, 1, 0, 0));
    KnownDefeats both(born);
    CHECK_FALSE(both.admits(UnitPlace{1, 0, 1}, right));
    CHECK(both.admits(UnitPlace{1, 0, 0}, {ClaimState::kFalse, "differs"}));
    CHECK(both.hides(UnitPlace{1, 0, 2}, gone));
    CHECK(both.not_excused().empty());
}

TEST_CASE("who loses a game about a right unit on purpose hides nothing behind it, drawn or not") {
    const BornModel model(born_job());
    BirthCertificate born = model.born();
    born.rounds[1].defeated = {dead_segment(born, 1, 0, 1)};
    const base::Hash256 root = certificate_root(encode_certificate(born));
    int not_drawn = 0;  // audits that draw something behind the unit, and not the unit
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        KeptBack judge({1, 0, 1});
        const auto report = audit_model(born, root, plan_of(seed, 3), judge);
        REQUIRE(report.ok());
        const auto drew = [&](std::uint32_t unit) {
            // What is looked at beside the drawn ones comes at the end.
            const auto end = judge.asked.begin() + std::min<std::ptrdiff_t>(3, std::ssize(judge.asked));
            return std::find(judge.asked.begin(), end, UnitPlace{1, 0, unit}) != end;
        };
        const std::size_t hidden = (drew(2) ? 1U : 0U) + (drew(3) ? 1U : 0U);
        INFO("seed " << seed);
        CHECK(report->inconclusive.size() == hidden);
        if (hidden == 0) continue;
        CHECK(report->defeated[0].found == ClaimState::kRight);
        CHECK(report->defeated[0].behind == 0);
        not_drawn += drew(1) ? 0 : 1;
    }
    CHECK(not_drawn > 0);
}
