// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/lots.hpp"

#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/market/measure.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/market/tenants.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

void lease_lot(Work& work, const Lease& lease, Amount ask) {
    if (lease.from >= lease.until) return;  // an epoch behind the last height there is
    store(work.state, lease_key(lease.job, lease.node, lease.epoch), lease);
    store(work.state, lot_key(lease.epoch, lease.node), Lot{lease.job, lease.kind, ask});
    work.tell({.kind = EventKind::kLeased,
               .job = lease.job,
               .slot = number_of(lease.kind),
               .node = lease.node,
               .amount = lease.price,
               .number = lease.epoch});
}

void leave_lot(State& state, std::uint64_t epoch, const PublicKey& node, const LotClass& kind, Amount ask) {
    const auto cleared = read_class_epoch(state, kind, epoch);
    if (!cleared || ask > cleared->base_price) return;
    store(state, lot_key(epoch, node), Lot{{}, kind, ask});
    state.put(lot_left_key(epoch, kind, ask, node), {});
}

void lease_left_lots(Work& work, const Hash256& job, const LotWait& wish, const std::vector<PublicKey>& nodes,
                     const LotTime& span) {
    ClassEpoch cleared = required(read_class_epoch(work.state, wish.kind, span.epoch));
    for (const PublicKey& node : nodes) {
        Lease lease;
        lease.node = node;
        lease.owner = required(read_miner(work.state, node)).owner;
        lease.job = job;
        lease.kind = wish.kind;
        lease.price = cleared.base_price;
        lease.epoch = span.epoch;
        lease.from = span.from;
        lease.until = span.until;
        lease.instant = true;
        const Amount ask = required(read_lot(work.state, span.epoch, node)).ask;
        if (span.from < span.until) remove_lot(work.state, span.epoch, node);  // it is left no more
        lease_lot(work, lease, ask);
    }
    cleared.instant += wish.lots;
    store(work.state, class_epoch_key(wish.kind, span.epoch), cleared);
    count_received(work.state, wish.tenant, wish.kind, wish.lots);
}

void remove_lot(State& state, std::uint64_t epoch, const PublicKey& node) {
    const auto lot = read_lot(state, epoch, node);
    if (!lot) return;
    if (lot->job.is_zero()) {
        state.erase(lot_left_key(epoch, lot->kind, lot->ask, node));
    } else {
        state.erase(lease_key(lot->job, node, epoch));
    }
    state.erase(lot_key(epoch, node));
}

std::optional<std::uint64_t> withdrawable_epoch(const StateView& state, const PublicKey& node) {
    const MarketClock clock = read_market_clock(state);
    if (clock.phase != MarketPhase::kNotice && clock.phase != MarketPhase::kStopped) return std::nullopt;
    const std::uint64_t epoch = clock.phase == MarketPhase::kNotice ? clock.epoch + 1 : clock.epoch;
    const auto lot = read_lot(state, epoch, node);
    return lot && lot->job.is_zero() ? std::optional(epoch) : std::nullopt;
}

void settle_if_idle(Work& work, const PublicKey& node, program::Profile profile) {
    if (read_machine(work.state, node, profile).deposit.is_zero()) return;
    const auto ask = read_lot_ask(work.state, node);
    if (ask && ask->opened && ask->kind.profile == profile) return;
    const std::uint64_t epoch = read_market_clock(work.state).epoch;
    for (const std::uint64_t one : {epoch, epoch + 1}) {
        const auto lot = read_lot(work.state, one, node);
        if (lot && lot->kind.profile == profile) return;
    }
    settle_class_deposit(work, node, profile);
}

void free_lots_of_ended_job(Work& work, const Hash256& job) {
    const auto progress = read_job_progress(work.state, job);
    if (progress && !is_over(progress->phase)) return;
    for (const Lease& lease : list_leases(work.state, job)) {
        const Lot lot = required(read_lot(work.state, lease.epoch, lease.node));
        remove_lot(work.state, lease.epoch, lease.node);
        if (!required(read_node_key(work.state, lease.node)).revoked)
            leave_lot(work.state, lease.epoch, lease.node, lot.kind, lot.ask);
        settle_if_idle(work, lease.node, lease.kind.profile);
    }
}

void drop_lots_of_revoked(Work& work, const PublicKey& node) {
    MarketClock clock = read_market_clock(work.state);
    const auto ask = read_lot_ask(work.state, node);
    if (ask && ask->opened) {
        work.state.erase(lot_ask_key(node));
        --clock.lots;
        store(work.state, market_clock_key(), clock);
        work.tell({.kind = EventKind::kLotGone, .node = node, .reason = Reason::kKeyRevoked});
    }
    for (const std::uint64_t one : {clock.epoch, clock.epoch + 1}) {
        const auto lot = read_lot(work.state, one, node);
        if (!lot || !lot->job.is_zero()) continue;
        remove_lot(work.state, one, node);
        settle_if_idle(work, node, lot->kind.profile);
    }
    if (ask && ask->opened) settle_if_idle(work, node, ask->kind.profile);
}

}  // namespace assay::contracts
