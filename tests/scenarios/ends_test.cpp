// SPDX-License-Identifier: Apache-2.0
// Jobs that end before their last round, by their buyer's will or for want of money.
#include <signal.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "contracts/program/program.hpp"
#include "contracts/rules/job/costs.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::EventKind;
using contracts::Reason;

namespace {

void check_paid_and_refunded(const SmallNetwork& network, std::uint32_t rounds) {
    const contracts::Job job = network.job();
    CHECK(job.rounds_done == rounds);
    CHECK(job.round == rounds);
    const auto slots = network.lines(contracts::LineKind::kSlot);
    CHECK(slots.size() == std::size_t{rounds} * job.spec.slots);
    for (const auto& line : slots) CHECK(line.reason == Reason::kPaid);
    CHECK(job.spent.units() > 0);
    CHECK(job.refunded.units() > 0);
    CHECK(job.spent.units() + job.refunded.units() == job.spec.market.budget.units());
    for (const auto& who : network.net().miners) CHECK(network.lost_by(who) == 0);
    for (const auto& who : network.net().verifiers) CHECK(network.lost_by(who) == 0);
    network.check_books();
}

}  // namespace

TEST_CASE("a cancelled job ends at the round border, pays what was done and refunds the rest") {
    ScenarioPlan plan = small_plan();
    // Rounds go on while the buyer's key is opened and the wish is on its way: how many, the machine decides.
    plan.job.rounds = 40;
    SmallNetwork network(plan);
    std::vector<std::uint64_t> began;  // each round's first block
    std::uint64_t cancelled = 0;       // the block that holds the wish
    network.on_event([&](const node::Follower& ledger, const contracts::Event& event) {
        if (event.kind != EventKind::kRoundStarted) return;
        began.push_back(ledger.height());
        if (event.round != 1) return;
        const auto reply = network.submit_as_owner(network.net().buyer, ledger.state(),
                                                   contracts::JobCancel{.job = event.job});
        cancelled = reply.height;
    });
    network.run();
    CHECK(network.job().end_reason == Reason::kJobCancelled);
    // A block begins its round before its transactions, so this counts the round that the wish found running.
    const auto rounds =
        std::count_if(began.begin(), began.end(), [&](std::uint64_t height) { return height <= cancelled; });
    REQUIRE(rounds >= 2);
    check_paid_and_refunded(network, static_cast<std::uint32_t>(rounds));
}

TEST_CASE("a run whose role ends before it staked ends with that role's name, though no block is due") {
    for (const char* const gone : {"miner-1", "verifier-1"}) {
        SmallNetwork network(small_plan());
        must(network.network().signal(gone, SIGKILL));
        std::ostringstream story;
        node::JobRun run(network.net(), network.network(), story);
        const auto outcome = run.run(network.net().plan.home / "job.toml", {});
        REQUIRE_FALSE(outcome.ok());
        CHECK(outcome.error().what.find(gone) != std::string::npos);
        CHECK(outcome.error().what.find("ended") != std::string::npos);
    }
}

TEST_CASE("a job whose budget covers no further round ends as exhausted and refunds the rest") {
    ScenarioPlan plan = small_plan();
    plan.job.rounds = 3;
    plan.job.slots = 3;
    const auto cost = contracts::round_cost(plan.params, plan.job, plan.job.market.max_price,
                                            program::work_units(plan.job));
    REQUIRE(cost.has_value());
    // A round begins only when its dearest course is covered: after one there is less than that left.
    plan.job.market.budget = *cost;
    SmallNetwork network(plan);
    network.run();
    CHECK(network.job().end_reason == Reason::kJobExhausted);
    check_paid_and_refunded(network, 1);
}

}  // namespace assay::tests
