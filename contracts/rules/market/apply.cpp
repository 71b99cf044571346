// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/market/clock.hpp"
#include "contracts/rules/market/lots.hpp"
#include "contracts/rules/market/measure.hpp"
#include "contracts/rules/market/phases.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/market/tenants.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

template <class Change>
void edit_clock(State& state, Change change) {
    MarketClock clock = read_market_clock(state);
    change(clock);
    store(state, market_clock_key(), clock);
}

/// Escrow -> a sealed bid's deposit, and back. It counts as spent until it comes back.
void take_from_escrow(State& state, const Hash256& job, Amount deposit) {
    JobProgress progress = required(read_job_progress(state, job));
    progress.escrow = difference(progress.escrow, deposit);
    progress.spent = saturating_sum(progress.spent, deposit);
    store(state, job_progress_key(job), progress);
    if (!deposit.is_zero()) store(state, seal_cost_key(job), sum(read_seal_cost(state, job), deposit));
    move_total(state, &Supply::escrow, &Supply::deposits, deposit);
}

void give_to_escrow(State& state, const Hash256& job, Amount deposit) {
    JobProgress progress = required(read_job_progress(state, job));
    progress.escrow = sum(progress.escrow, deposit);
    progress.spent = difference(progress.spent, deposit);
    store(state, job_progress_key(job), progress);
    const Amount cost = difference(read_seal_cost(state, job), deposit);
    if (cost.is_zero()) {
        state.erase(seal_cost_key(job));
    } else {
        store(state, seal_cost_key(job), cost);
    }
    move_total(state, &Supply::deposits, &Supply::escrow, deposit);
}

}  // namespace

void carry_out(Work& work, const Sent& sent, const LotSeal& tx) {
    start_market(work);
    LotAsk ask;
    ask.owner = sent.owner;
    ask.seal = tx.seal;
    ask.deposit = read_market_params(work.state).lot_deposit;
    take_free(work.state, sent.sender, ask.deposit, &Supply::deposits);
    store(work.state, lot_ask_key(sent.sender), ask);
    edit_clock(work.state, [](MarketClock& clock) { ++clock.lots; });
}

void carry_out(Work& work, const Sent& sent, const LotOpen& tx) {
    LotAsk ask = required(read_lot_ask(work.state, sent.sender));
    hold_class_deposit(work.state, sent.sender, tx.kind, ask.deposit);
    ask.deposit = {};
    ask.opened = true;
    ask.kind = tx.kind;
    ask.price = tx.price;
    ask.salt = tx.salt;
    ask.epochs = tx.epochs;
    store(work.state, lot_ask_key(sent.sender), ask);
}

void carry_out(Work& work, const Sent& sent, const LotWithdraw&) {
    State& state = work.state;
    std::set<program::Profile> profiles;
    if (const auto epoch = withdrawable_epoch(state, sent.sender)) {
        profiles.insert(required(read_lot(state, *epoch, sent.sender)).kind.profile);
        remove_lot(state, *epoch, sent.sender);
    }
    if (const auto ask = read_lot_ask(state, sent.sender); ask && ask->opened) {
        profiles.insert(ask->kind.profile);
        state.erase(lot_ask_key(sent.sender));
        edit_clock(state, [](MarketClock& clock) { --clock.lots; });
    }
    for (const program::Profile profile : profiles) settle_if_idle(work, sent.sender, profile);
    work.tell({.kind = EventKind::kLotGone, .node = sent.sender});
}

void carry_out(Work& work, const Sent& sent, const BidSeal& tx) {
    start_market(work);
    LotBid bid;
    bid.tenant = sent.owner;
    bid.seal = tx.seal;
    bid.deposit = read_market_params(work.state).bid_deposit;
    take_from_escrow(work.state, tx.job, bid.deposit);
    store(work.state, lot_bid_key(tx.job), bid);
    edit_clock(work.state, [](MarketClock& clock) { ++clock.bids; });
}

void carry_out(Work& work, const Sent&, const BidOpen& tx) {
    LotBid bid = required(read_lot_bid(work.state, tx.job));
    give_to_escrow(work.state, tx.job, bid.deposit);
    bid.deposit = {};
    bid.opened = true;
    bid.kind = tx.kind;
    bid.lots = tx.lots;
    bid.price = tx.price;
    bid.salt = tx.salt;
    store(work.state, lot_bid_key(tx.job), bid);
}

void carry_out(Work& work, const Sent& sent, const LeaseTake& tx) {
    const std::uint64_t epoch = read_market_clock(work.state).epoch;
    const auto nodes = list_lots_left(work.state, epoch, tx.kind, tx.lots);
    start_market(work);
    const LotWait wish{sent.owner, tx.kind, tx.lots};
    if (nodes.size() < tx.lots) return store(work.state, lot_wait_key(tx.job), wish);
    const MarketClock clock = read_market_clock(work.state);
    lease_left_lots(work, tx.job, wish, nodes, {epoch, work.block.height, clock.end});
}

}  // namespace assay::contracts
