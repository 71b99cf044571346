// SPDX-License-Identifier: Apache-2.0
// Rows of the simulator in which a verifier leaves slots out of its seal.
#include <map>
#include <set>

#include "tests/node/sim/played_row.hpp"

namespace assay::node::sim {

using contracts::LineKind;
using contracts::Reason;
using contracts::SettlementLine;
using namespace test_rows;

namespace {

/// Lines of the first round's audits by a party.
std::vector<SettlementLine> audits_by(const JobOutcome& outcome, const base::PublicKey& node) {
    std::vector<SettlementLine> found;
    for (const SettlementLine& line : outcome.lines)
        if (line.kind == LineKind::kAudit && line.node == node) found.push_back(line);
    return found;
}

}  // namespace

TEST_CASE(
    "who seals one of its slots and leaves the others out is paid for the one, and pays for each other") {
    const auto world = open_world(*find_strategy("left-out"));
    const auto cheats = cheats_of(*world);
    REQUIRE(cheats.size() == 1);
    const JobOutcome outcome = job_of(*world);
    std::map<Reason, int> words;
    std::set<std::uint32_t> left;
    for (const SettlementLine& line : audits_by(outcome, *cheats.begin())) {
        ++words[line.reason];
        CHECK(line.lost.is_zero() == (line.reason == Reason::kPaidAudit));
        if (line.reason == Reason::kAuditSilent) left.insert(line.slot);
    }
    CHECK(words[Reason::kPaidAudit] == 1);
    CHECK(words[Reason::kAuditSilent] > 1);
    CHECK(words.size() == 2);
    // Somebody else is heard about each, and its miner is paid.
    std::set<std::uint32_t> heard;
    for (const SettlementLine& line : outcome.lines) {
        if (line.kind == LineKind::kSlot) CHECK(is_paid_whole(line));
        if (line.kind != LineKind::kAudit || cheats.contains(line.node)) continue;
        CHECK(line.reason == Reason::kPaidAudit);
        heard.insert(line.slot);
    }
    CHECK(std::includes(heard.begin(), heard.end(), left.begin(), left.end()));
}

TEST_CASE("who leaves its accomplice's slots out of its seal pays for it, and hides none of them") {
    CheatRow row = *find_strategy("left-out-for-accomplice");
    row.rate_one = true;  // whoever is drawn for a false slot finds it
    CheatRow vouching = row;
    vouching.friends = {.verdicts = Verdicts::kColludes};
    int would_be_hidden = 0;
    for (std::uint64_t seed = kSeed; seed < kSeed + 4; ++seed) {
        const auto world = open_world(row, seed);
        const auto cheats = cheats_of(*world);
        const JobOutcome outcome = job_of(*world);
        std::set<std::uint32_t> false_slots;
        for (const SettlementLine& line : outcome.lines) {
            if (line.kind == LineKind::kSlot && cheats.contains(line.node)) false_slots.insert(line.slot);
        }
        bool spares = false;
        base::Amount lost;
        for (const SettlementLine& line : audits_by(outcome, key_in(*world, "friend-vera"))) {
            const bool spared = false_slots.contains(line.slot);
            CHECK(line.reason == (spared ? Reason::kAuditSilent : Reason::kPaidAudit));
            if (!spared) CHECK(line.lost.is_zero());
            spares = spares || spared;
            lost = std::max(lost, line.lost);
        }
        CHECK(lost.is_zero() != spares);
        for (const std::uint32_t slot : false_slots) CHECK(loses_a_game(outcome, slot));
        // The same draws, before which nobody says anything: of a slot that it alone was drawn for one more
        // is drawn.
        const JobOutcome vouched = job_of(*open_world(vouching, seed));
        for (const auto& [round, slot] : vouched.among_friends) {
            if (!false_slots.contains(slot)) continue;
            ++would_be_hidden;
            CHECK_FALSE(loses_a_game(vouched, slot));
        }
    }
    CHECK(would_be_hidden > 0);
}

}  // namespace assay::node::sim
