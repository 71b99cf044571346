// SPDX-License-Identifier: Apache-2.0
// The audit of payouts of a job that leases: what each slot paid was its lot's price, by another hand.
#include <algorithm>
#include <functional>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/market/leases.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "tests/contracts/rules/leased_world.hpp"

namespace assay::ledger {

using namespace contracts;
using namespace contracts::test;

namespace {

std::string said(const PayoutReport& report) {
    std::string text;
    for (const AuditFailure& failure : report.failures) text += failure.where + ": " + failure.what + "\n";
    return text;
}

/// m2 is dropped for its silence, is back by a later lease, is dropped for its absence, and is back again,
/// each time at another price.
LeasedWorld played() {
    JobSpec spec = leased_job();
    spec.rounds = 5;
    LeasedWorld w(spec);
    w.start(1);
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kSilent}}});
    w.env.next_block();
    w.lease("m1", 310, 1'000);
    w.lease("m2", 420, 1);
    w.begin();
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kAbsent}}});
    w.env.next_block();
    w.lease("m2", 430, 1'000);
    w.begin();
    play_round(w.env, w.job);
    play_round(w.env, w.job, {.verifiers = {{"v1", VerifierManner::kSealsOnly}}});
    play_job(w.env, w.job);
    return w;
}

/// One unit of an audit's fee comes from the newcomer's fee and not from the escrow.
void pay_more_from_prepaid(MemoryState& state, const Hash256& job) {
    std::uint32_t number = 0;
    for (SettlementLine line : list_settlement(state, job, 0)) {
        if (line.kind == LineKind::kAudit && !line.from_prepaid.is_zero() && !line.from_escrow.is_zero()) {
            line.from_prepaid = amount(line.from_prepaid.units() + 1);
            line.from_escrow = amount(line.from_escrow.units() - 1);
            return store(state, settlement_key(job, 0, number), line);
        }
        ++number;
    }
    FAIL("no audit was paid from both");
}

}  // namespace

TEST_CASE("payouts of a job that leases are right at every lot's price, and a changed price is reported") {
    LeasedWorld w = played();
    REQUIRE(w.record().end_reason == Reason::kJobComplete);
    CHECK(w.line(1, "m2").reason == Reason::kNoCommitAgain);
    const MemoryState whole = w.env.with_evidence();
    const PayoutReport report = audit_payouts(whole);
    INFO(said(report));
    REQUIRE(report.ok());

    const auto said_of = [&](const std::function<void(MemoryState&)>& change) {
        MemoryState changed = whole;
        change(changed);
        return said(audit_payouts(changed));
    };
    const auto with_prices = [&](const std::function<void(RoundPrices&)>& change) {
        return said_of([&](MemoryState& state) {
            RoundPrices prices = read_round_prices(state, w.job, 1).value();
            change(prices);
            store(state, round_prices_key(w.job, 1), prices);
        });
    };
    CHECK(with_prices([](RoundPrices&) {}).empty());
    CHECK(with_prices([](RoundPrices& p) { p.slots[0] = amount(1'001); }).find("more than the job's cap") !=
          std::string::npos);
    CHECK(with_prices([](RoundPrices& p) { p.highest = amount(999); }).find("not the highest of its slots") !=
          std::string::npos);
    CHECK(with_prices([](RoundPrices& p) { p.slots.clear(); }).find("not as many as the slots") !=
          std::string::npos);
    CHECK(said_of([&](MemoryState& state) {
              state.erase(round_prices_key(w.job, 2));
          }).find("not of this kind of job") != std::string::npos);
    // A lease that says another price than its slot was dealt at. Those of the job went with it.
    CHECK(said_of([&](MemoryState& state) {
              const SlotRound slot = read_slot(state, w.job, 2, 0).value();
              Lease lease;
              lease.node = slot.miner;
              lease.owner = slot.owner;
              lease.job = w.job;
              lease.price = amount(read_round_prices(state, w.job, 2).value().slots[0].units() + 1);
              lease.from = read_round_progress(state, w.job, 2).value().started_at;
              lease.until = lease.from + 1;
              store(state, lease_key(w.job, lease.node, lease.epoch), lease);
          }).find("not dealt as its miner's lot was leased") != std::string::npos);
    // A newcomer's fee pays no more than the price of its own slot asks for.
    CHECK(said_of([&](MemoryState& state) {
              pay_more_from_prepaid(state, w.job);
          }).find("the part from a newcomer's fee is") != std::string::npos);
    // Who was dropped for its silence is back with one absence, whatever it paid since.
    const auto lines = list_settlement(whole, w.job, 1);
    const auto again = std::find_if(lines.begin(), lines.end(), [](const SettlementLine& line) {
        return line.reason == Reason::kNoCommitAgain;
    });
    REQUIRE(again != lines.end());
    CHECK_FALSE(said_of([&](MemoryState& state) {
                    SettlementLine line = *again;
                    line.reason = Reason::kNoCommit;
                    line.lost = line.lost_burned = {};
                    store(state, settlement_key(w.job, 1, static_cast<std::uint32_t>(again - lines.begin())),
                          line);
                }).empty());
}

TEST_CASE("who loses a game by silence while the job waits is dropped, and is back by a later lease alone") {
    LeasedWorld w;
    w.start(1);
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kCheats}}});
    REQUIRE(w.record().phase == JobPhase::kWaiting);
    const std::uint32_t slot = w.line(0, "m2").slot;
    const auto claim = read_claim(w.env.state(), {w.job, 0, ClaimKind::kSlot, slot});
    REQUIRE(claim.has_value());
    const program::RoundPlan plan(w.record().spec);
    for (const Accusation& accusation : claim->accusations) {
        const bool finalise = plan.is_finalise(accusation.unit);
        w.env.send(w.env.by_node(accusation.verifier),
                   DisputeOpen{w.job, 0, ClaimKind::kSlot, slot,
                               finalise ? dispute::UnitKind::kUpdate : dispute::UnitKind::kSegment,
                               finalise ? 0 : accusation.unit});
    }
    CHECK_FALSE(w.entry("m2").dropped);
    while (read_game(w.env.state(), w.job, 0)->is_open()) w.env.let_deadline_pass();
    CHECK(read_game(w.env.state(), w.job, 0)->cost == replay_cost(w.record(), amount(500)));
    CHECK(w.entry("m2").dropped_for == Reason::kDisputeSilent);
    CHECK(w.entry("m2").dropped_round == 0);
    CHECK(read_dropped_at(w.env.state(), w.job, w.env.person("m2").node_key()) == w.env.height());
    w.env.next_block();
    w.lease("m1", 310, 1'000);
    w.lease("m2", 420, 1'000);
    w.begin();
    REQUIRE(w.record().phase == JobPhase::kRounds);
    CHECK(w.entry("m2").missed == kAbsenceWeight);
    play_round(w.env, w.job, {.miners = {{"m2", MinerManner::kAbsent}}});
    CHECK(w.line(1, "m2").reason == Reason::kNoCommitAgain);
    const PayoutReport report = audit_payouts(w.env.with_evidence());
    INFO(said(report));
    CHECK(report.ok());
}

}  // namespace assay::ledger
