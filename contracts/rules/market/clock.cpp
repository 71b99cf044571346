// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/clock.hpp"

#include <set>

#include "contracts/rules/market/epoch.hpp"
#include "contracts/rules/market/lots.hpp"
#include "contracts/rules/market/measure.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

Bytes deadline_of_clock(const MarketClock& clock) {
    return deadline_key({clock.due(), DueKind::kMarket, {}});
}

void enter(Work& work, MarketClock& clock, MarketPhase phase) {
    clock.phase = phase;
    if (phase != MarketPhase::kStopped) work.state.put(deadline_of_clock(clock), {});
    work.tell({.kind = EventKind::kMarketPhase, .number = static_cast<std::uint64_t>(phase)});
}

/// The windows of the epoch that begins at `start`.
void set_windows(const StateView& state, MarketClock& clock, std::uint64_t start) {
    const MarketParams params = read_market_params(state);
    clock.start = start;
    clock.open_at = later(start, params.seal_window);
    clock.clear_at = later(clock.open_at, params.open_window);
    clock.end = later(start, params.epoch);
}

/// What was leased in the epoch is over, and what was left of it is offered no more.
void end_lots(Work& work, std::uint64_t epoch) {
    const auto lots = list_lots(work.state, epoch);
    for (const auto& [node, lot] : lots) remove_lot(work.state, epoch, node);
    for (const auto& [node, lot] : lots) {
        // Of a node that is still not measured, what stands behind its class stays there as long as its lot.
        if (!lot.job.is_zero() && read_machine(work.state, node, lot.kind.profile).speed_bits()) {
            settle_class_deposit(work, node, lot.kind.profile);
        } else {
            settle_if_idle(work, node, lot.kind.profile);
        }
    }
}

std::vector<Hash256> jobs_with_leases(const StateView& state, std::uint64_t epoch) {
    std::set<Hash256> jobs;
    for (const auto& [node, lot] : list_lots(state, epoch))
        if (!lot.job.is_zero()) jobs.insert(lot.job);
    return {jobs.begin(), jobs.end()};
}

/// From one epoch to the next: it runs on while something is leased in it, or somebody waits.
std::vector<Hash256> begin_epoch(Work& work, MarketClock& clock) {
    end_lots(work, clock.epoch);
    ++clock.epoch;
    set_windows(work.state, clock, clock.end);
    work.tell({.kind = EventKind::kEpochBegan, .number = clock.epoch});
    std::vector<Hash256> jobs = jobs_with_leases(work.state, clock.epoch);
    const bool goes_on = !jobs.empty() || has_any(work.state, table_prefix(Table::kLotWait));
    enter(work, clock, goes_on ? MarketPhase::kSealing : MarketPhase::kStopped);
    return jobs;
}

}  // namespace

void start_market(Work& work) {
    MarketClock clock = read_market_clock(work.state);
    if (clock.phase != MarketPhase::kStopped) return;
    set_windows(work.state, clock, work.block.height);
    enter(work, clock, MarketPhase::kSealing);
    store(work.state, market_clock_key(), clock);
}

std::vector<Hash256> advance_market(Work& work) {
    MarketClock clock = read_market_clock(work.state);
    ASSAY_CHECK(clock.phase != MarketPhase::kStopped);
    work.state.erase(deadline_of_clock(clock));
    std::vector<Hash256> begun;
    switch (clock.phase) {
        case MarketPhase::kSealing: enter(work, clock, MarketPhase::kOpening); break;
        case MarketPhase::kOpening:
            clear_next_epoch(work, clock);
            enter(work, clock, MarketPhase::kNotice);
            break;
        case MarketPhase::kNotice: begun = begin_epoch(work, clock); break;
        case MarketPhase::kStopped: break;
    }
    store(work.state, market_clock_key(), clock);
    return begun;
}

}  // namespace assay::contracts
