// SPDX-License-Identifier: Apache-2.0
// Three miners at one, three and nine parts of a processor's time keep their machines on offer between jobs,
// and three buyers bid for them: what lots cost by class and load, who is preempted, and that nobody's bits
// change.
#include <iostream>

#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/audit/evidence.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "node/roles/miner_order.hpp"
#include "node/roles/price_order.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/views/supply.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"

namespace assay::tests {

using contracts::EventKind;
using contracts::JobPhase;
using contracts::Reason;

namespace {

constexpr std::uint64_t kAsk = 900;
constexpr std::uint64_t kModestCap = 1'500;
constexpr std::uint64_t kRichCap = 3'000;

/// The network's own job needs all three machines for its one round, and so measures them: classes are powers
/// of two of speed, and a load that slows one machine to a fourth of what it does leaves their order. Lots of
/// three classes would serve it no second round.
ScenarioPlan trading_plan() {
    ScenarioPlan plan = slow_plan();
    plan.miners.clear();
    for (const char* duty : {"8", "24", "72"}) {
        plan.miners.push_back(honest_miner(kAsk));
        plan.miners.back().flags = {"--trade", "--speed-bits", "0", "--duty", duty};
    }
    plan.more_buyers = 2;
    plan.market = {.epoch = 60 * kPatience, .seal_window = 20 * kPatience, .open_window = 20 * kPatience};
    plan.params.ask_commit_window = plan.params.ask_reveal_window = 20 * kPatience;
    plan.job.train.inner_steps = 12;
    plan.job.rounds = 1;
    plan.job.market.terms = {.gang = 3, .most = 3};
    return plan;
}

struct Sale {
    std::uint64_t epoch = 0;
    base::Hash256 job;
    std::uint32_t kind = 0;  ///< number_of(LotClass)
    std::uint64_t price = 0;
};

std::uint8_t speed_in(std::uint32_t kind) { return static_cast<std::uint8_t>(kind >> 16U); }

/// A run of the market, and what was seen of it.
struct TradingRun {
    SmallNetwork network{trading_plan()};
    std::vector<Sale> sales;
    std::map<base::Hash256, std::vector<JobPhase>> phases;  ///< each job's, in order
    base::Hash256 first, modest, rich;
    std::uint8_t fastest = 0;  ///< bits of speed

    TradingRun() {
        network.on_event([this](const node::Follower&, const contracts::Event& event) { see(event); });
        measure_machines();
        outbid();
        network.stop();
    }
    [[nodiscard]] contracts::Job job(const base::Hash256& id) const {
        return *contracts::read_job(network.state(), id);
    }
    [[nodiscard]] std::vector<Sale> sales_to(const base::Hash256& id) const {
        std::vector<Sale> found;
        for (const Sale& sale : sales)
            if (sale.job == id) found.push_back(sale);
        return found;
    }

private:
    void see(const contracts::Event& event) {
        if (event.kind == EventKind::kLeased)
            sales.push_back({event.number, event.job, event.slot, event.amount.units()});
        if (event.kind == EventKind::kJobPhase)
            phases[event.job].push_back(static_cast<JobPhase>(event.number));
        if (event.kind == EventKind::kJobSubmitted)
            (first.is_zero() ? first : modest.is_zero() ? modest : rich) = event.job;
    }
    static bool is_over(const contracts::StateView& state, const base::Hash256& id) {
        const auto job = contracts::read_job_progress(state, id);
        return !id.is_zero() && (!job || contracts::is_over(job->phase));
    }
    static std::optional<std::uint8_t> speed_of(const contracts::StateView& state,
                                                const node::Participant& miner) {
        return contracts::read_machine(state, miner.node, program::Profile::kF32).speed_bits();
    }

    void measure_machines() {
        const auto& net = network.net();
        network.follow_until("stakes", std::chrono::seconds(60), [&](const contracts::StateView& state) {
            const auto staked = [&](const node::Participant& one) {
                return !contracts::read_stake(state, one.node).free.is_zero();
            };
            return std::all_of(net.miners.begin(), net.miners.end(), staked) &&
                   std::all_of(net.verifiers.begin(), net.verifiers.end(), staked);
        });
        network.submit_job(net.buyer, net.plan.home / "job.toml");
        const auto offers_as_measured = [](const contracts::StateView& state, const node::Participant& one) {
            const auto ask = contracts::read_lot_ask(state, one.node);
            return ask && ask->opened && speed_of(state, one) == ask->kind.speed;
        };
        std::map<std::string, std::uint8_t> speeds;
        network.follow_until("measured machines on offer", std::chrono::seconds(60),
                             [&](const contracts::StateView& state) {
                                 for (const auto& one : net.miners) {
                                     if (!offers_as_measured(state, one)) return false;
                                     speeds[one.name] = *speed_of(state, one);
                                 }
                                 return true;
                             });
        for (const auto& [name, speed] : speeds)
            std::cout << name << " is measured at " << int{speed} << " bits" << std::endl;
        fastest = speeds.at("miner-3");
        CHECK(speeds.at("miner-1") < fastest);
        // Where the middle one came into the class of the fastest, it leaves the market to it.
        if (speeds.at("miner-2") == fastest)
            must(node::write_order(*must(node::make_disk_port(net.miners[1].home.jobs())),
                                   node::MinerOrder::kPause));
    }
    void outbid() {
        program::JobSpec spec = trading_plan().job;
        spec.slots = 1;
        spec.rounds = 8;
        spec.seed = 11;
        spec.market.max_price = *base::Amount::of(kModestCap);
        spec.market.terms = {.gang = 1, .most = 1};
        const auto& buyers = network.net().more_buyers;
        network.submit_job(buyers[0], network.write_job("modest", spec));
        network.follow_until("the modest job", std::chrono::seconds(60),
                             [&](const contracts::StateView&) { return !modest.is_zero(); });
        // It bids less than anybody asks, until its owner orders otherwise.
        spec.rounds = 2;
        spec.seed = 12;
        spec.market.max_price = *base::Amount::of(kRichCap);
        spec.market.terms.least_speed = fastest;
        network.submit_job(buyers[1], network.write_job("rich", spec),
                           {"--bid", std::to_string(kAsk - 1) + "u"});
        network.follow_until("a round of the modest job beside the rich one", std::chrono::seconds(60),
                             [&](const contracts::StateView& state) {
                                 const auto job = contracts::read_job_progress(state, modest);
                                 return !rich.is_zero() && job && job->phase == JobPhase::kRounds;
                             });
        must(node::write_price_order(*must(node::make_disk_port(buyers[1].home.jobs())),
                                     node::bid_order_note(rich), base::Amount::of(kRichCap)));
        network.follow_until(
            "the end of all jobs", std::chrono::seconds(120), [&](const contracts::StateView& state) {
                return is_over(state, first) && is_over(state, modest) && is_over(state, rich);
            });
    }
};

const TradingRun& trading_run() {
    static const TradingRun run;
    return run;
}

}  // namespace

TEST_CASE(
    "market: machines on offer are leased by auction at their asks, and classed by what rounds measured") {
    const TradingRun& run = trading_run();
    const auto gang = run.sales_to(run.first);
    REQUIRE(gang.size() >= 3);
    for (const Sale& sale : gang) CHECK(sale.price == kAsk);  // nobody bid against it
    CHECK(speed_in(gang.front().kind) == 0);                  // nothing was measured yet
    const auto modest = run.sales_to(run.modest);
    REQUIRE_FALSE(modest.empty());
    CHECK(speed_in(modest.front().kind) >= run.fastest);
    CHECK(modest.front().price == kAsk);
    for (const base::Hash256& id : {run.first, run.modest, run.rich})
        CHECK(run.job(id).end_reason == Reason::kJobComplete);
}

TEST_CASE("market: who wants the fastest machine more pays what the other bid; other classes stay cheap") {
    const TradingRun& run = trading_run();
    const auto rich = run.sales_to(run.rich);
    REQUIRE_FALSE(rich.empty());
    // The modest job bid its cap there: the critical price is that, or one unit more where it wins ties.
    CHECK(speed_in(rich.front().kind) >= run.fastest);
    CHECK(rich.front().price >= kModestCap);
    CHECK(rich.front().price <= kModestCap + 1);
    bool moved_on = false;
    for (const Sale& sale : run.sales_to(run.modest)) {
        CHECK(sale.price <= kModestCap);
        moved_on = moved_on || (sale.kind != rich.front().kind && sale.price == kAsk);
    }
    CHECK(moved_on);
}

TEST_CASE("market: a job that is outbid waits at its round's border and comes to the same bits") {
    const TradingRun& run = trading_run();
    const auto& phases = run.phases.at(run.modest);
    const auto began = std::find(phases.begin(), phases.end(), JobPhase::kRounds);
    const auto waited = std::find(began, phases.end(), JobPhase::kWaiting);
    REQUIRE(waited != phases.end());
    CHECK(std::find(waited, phases.end(), JobPhase::kRounds) != phases.end());
    for (const base::Hash256& id : {run.first, run.modest, run.rich}) {
        const contracts::Job job = run.job(id);
        CHECK(run.network.train_alone(job.spec) == job.base_root);
    }
}

TEST_CASE("market: every deposit came back, every slot was paid its lot's price, and the books close") {
    const TradingRun& run = trading_run();
    auto report = must(ledger::audit_ledger(ledger::rules_machine(), run.network.net().plan.home.string()));
    REQUIRE(report.ok());
    must(ledger::recover_records(report.state));
    must(ledger::recover_evidence(report.state, run.network.net().plan.home.string()));
    const auto payouts = ledger::audit_payouts(report.state);
    for (const auto& failure : payouts.failures) UNSCOPED_INFO(failure.where + ": " + failure.what);
    CHECK(payouts.ok());
    CHECK(payouts.jobs.size() == 3);
    CHECK(node::supply_delta(contracts::read_supply(report.state)) == 0);
    for (const node::Participant& miner : run.network.net().miners)
        CHECK(contracts::read_miner(run.network.state(), miner.node)->forfeited.is_zero());
}

}  // namespace assay::tests
