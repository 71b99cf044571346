// SPDX-License-Identifier: Apache-2.0
// A miner's notes of its slots: their names, notes that are another's, and disks that fail.
#include "node/roles/job_note.hpp"
#include "node/roles/price_order.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Reason;
using contracts::RoundPhase;

MarketOptions lone_miner() {
    MarketOptions options;
    options.miners = {"mia"};
    options.rounds = 1;
    return options;
}

}  // namespace

TEST_CASE("notes of two jobs have different names, however alike the jobs' ids are") {
    base::Hash256 one;
    one.bytes.fill(7);
    base::Hash256 other = one;
    other.bytes.back() ^= 1;
    CHECK(job_note("audit", one) == "audit-" + one.hex());
    CHECK(job_note("slot", one, {3, 4}) == "slot-" + one.hex() + "-3-4");
    CHECK(slot_note(one, 0, 0) != slot_note(other, 0, 0));
    CHECK(merge_file(one, 0) != merge_file(other, 0));
    CHECK(bid_order_note(one) != bid_order_note(other));
    for (const contracts::Stage stage : contracts::kStages)
        CHECK(audit_file(one, 0, stage) != audit_file(other, 0, stage));
}

TEST_CASE("a note about another job, round or slot is none") {
    Market market(lone_miner());
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kBeacon); }));
    const int other = GENERATE(0, 1, 2);
    CAPTURE(other);
    int changed = 0;
    for (auto& [name, bytes] : market.party("mia").notes.files) {
        if (!name.starts_with("slot-")) continue;
        auto work = slot_work_of(bytes);
        REQUIRE(work.has_value());
        if (other == 0) work->job.bytes.back() ^= 1;
        if (other == 1) ++work->round;
        if (other == 2) ++work->slot;
        bytes = base::encode(*work);
        ++changed;
    }
    REQUIRE(changed == 2);
    market.restart_miner("mia");
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    // What was committed cannot be opened without its own note.
    for (const auto& slot : slots_of(market, "mia", 0)) CHECK(slot.verdict == Reason::kSilentAfterDraw);
}

TEST_CASE("a note of another length is none") {
    Market market(lone_miner());
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kBeacon); }));
    const auto note = market.party("mia").notes.files.lower_bound("slot-")->second;
    const auto work = slot_work_of(note);
    REQUIRE(work.has_value());
    CHECK(work->devices.size() == 1);
    for (std::size_t size = 0; size < note.size(); ++size)
        CHECK_FALSE(slot_work_of(base::ByteView(note).first(size)).has_value());
    Bytes longer = note;
    longer.push_back(0);
    CHECK_FALSE(slot_work_of(longer).has_value());
}

TEST_CASE("a miner whose last note of a slot is refused commits nothing: it could not open it") {
    Market market(lone_miner());
    market.start();
    Party& mia = market.party("mia");
    mia.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        (void)request;
        if (std::holds_alternative<frames::Trained>(answer.message)) mia.notes.refuses = true;
    };
    market.turn_until([&] { return mia.ended; }, 120);
    REQUIRE(mia.ended);
    market.turn_until([&] { return market.ended(); }, 120);
    for (const auto& slot : slots_of(market, "mia", 0)) CHECK_FALSE(slot.committed);
}

TEST_CASE("a boundary that has changed on the disk is trained again, and the slot is committed") {
    Market market(lone_miner());
    market.start();
    Party& mia = market.party("mia");
    // The first training ends behind its last boundary, as when its device is short of memory.
    mia.worker.falsify = [failed = false](const frames::Message& request, WorkerAnswered& answer) mutable {
        (void)request;
        if (failed || !std::holds_alternative<frames::Trained>(answer.message)) return;
        failed = true;
        answer.message = frames::Refusal{frames::RefusalReason::kInternal, "no memory", {}};
        answer.bulk.clear();
    };
    std::optional<BlobId> boundary;
    REQUIRE(market.turn_until([&] {
        for (const auto& [name, bytes] : mia.notes.files) {
            const auto work = name.starts_with("slot-") ? slot_work_of(bytes) : std::nullopt;
            if (work && !work->complete && !work->boundary_blobs.empty())
                boundary = work->boundary_blobs.back();
        }
        return boundary.has_value();
    }));
    const std::vector<BlobId> arrays = arrays_of(*mia.files, *boundary);
    REQUIRE_FALSE(arrays.empty());
    change_on_disk(mia, arrays.front());
    check_all_paid(market);
    CHECK(mia.log.lines_with("is trained again from its start") == 1);
}

}  // namespace assay::node
