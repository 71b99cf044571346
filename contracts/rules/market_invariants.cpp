// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market_invariants.hpp"

#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

constexpr std::array kMarketTables = {Table::kMarketClock, Table::kMarketParams, Table::kLotAsk,
                                      Table::kLotBid,      Table::kLease,        Table::kLot,
                                      Table::kLotLeft,     Table::kClassBook,    Table::kClassEpoch,
                                      Table::kTenant,      Table::kMachine,      Table::kLotWait};

bool is_miner(const StateView& state, const PublicKey& node, const PublicKey& owner) {
    const auto miner = read_miner(state, node);
    return miner && miner->owner == owner;
}

InvariantResult check_lease(const StateView& state, ByteView key, ByteView value) {
    const auto lease = stored<Lease>(value);
    const auto wrong = [&](const char* what) {
        return broken("a lease of job " + lease.job.brief() + " " + what);
    };
    if (base::to_bytes(key) != lease_key(lease.job, lease.node, lease.epoch))
        return wrong("stands under another key");
    const auto job = read_job_progress(state, lease.job);
    if (!job || is_over(job->phase)) return wrong("outlives it");
    if (!is_miner(state, lease.node, lease.owner)) return wrong("is of no miner");
    if (lease.from >= lease.until || !is_class(lease.kind)) return wrong("is of nothing");
    const auto lot = read_lot(state, lease.epoch, lease.node);
    if (!lot || lot->job != lease.job || lot->kind != lease.kind) return wrong("is of another's lot");
    return {};
}

InvariantResult check_lot(const StateView& state, ByteView key, ByteView value) {
    const auto lot = stored<Lot>(value);
    const std::uint64_t epoch = number_in(key.subspan(1, 8));
    const PublicKey node = node_in(key.subspan(9));
    const std::uint64_t running = read_market_clock(state).epoch;
    if (epoch < running || epoch > running + 1)
        return broken("a lot of " + node.brief() + " is of another epoch");
    const Bytes counterpart =
        lot.job.is_zero() ? lot_left_key(epoch, lot.kind, lot.ask, node) : lease_key(lot.job, node, epoch);
    if (!state.get(counterpart)) return broken("a lot of " + node.brief() + " is neither leased nor left");
    return {};
}

InvariantResult check_left(const StateView& state, ByteView key) {
    const std::uint64_t epoch = number_in(key.subspan(1, 8));
    const PublicKey node = node_in(key.subspan(key.size() - 32));
    const auto lot = read_lot(state, epoch, node);
    if (lot && lot->job.is_zero() && lot_left_key(epoch, lot->kind, lot->ask, node) == base::to_bytes(key))
        return {};
    return broken("a lot of " + node.brief() + " is listed as left and is not");
}

InvariantResult check_clock(const StateView& state) {
    const MarketClock clock = read_market_clock(state);
    if (clock.lots > kMaxLots || clock.bids > kMaxBids) return broken("the market holds too much");
    if (clock.phase == MarketPhase::kStopped) return {};
    if (!state.get(deadline_key({clock.due(), DueKind::kMarket, {}})))
        return broken("the market's clock is not among the deadlines");
    return {};
}

InvariantResult check_record(const StateView& state, ByteView key, ByteView value) {
    switch (static_cast<Table>(key.front())) {
        case Table::kMarketClock: return check_clock(state);
        case Table::kMarketParams:
            return check_market_params(stored<MarketParams>(value))
                       ? broken("a parameter of the market is out of its range")
                       : InvariantResult{};
        case Table::kLotAsk: {
            const auto ask = stored<LotAsk>(value);
            const PublicKey node = node_in(key.subspan(1));
            if (!is_miner(state, node, ask.owner)) return broken("an ask is of no miner");
            if (ask.opened && (!ask.deposit.is_zero() || ask.epochs == 0 || !is_class(ask.kind)))
                return broken("the ask of " + node.brief() + " is not what an opened one is");
            return {};
        }
        case Table::kLotBid: {
            const auto bid = stored<LotBid>(value);
            if (!bid.opened || (bid.deposit.is_zero() && bid.lots > 0 && is_class(bid.kind))) return {};
            return broken("a bid is not what an opened one is");
        }
        case Table::kLease: return check_lease(state, key, value);
        case Table::kLot: return check_lot(state, key, value);
        case Table::kLotLeft: return check_left(state, key);
        case Table::kClassEpoch:
            return read_class_book(state, class_in(key.subspan(1))) ? InvariantResult{}
                                                                    : broken("an epoch is of no class");
        case Table::kMachine:
            return read_miner(state, node_in(key.subspan(1))) ? InvariantResult{}
                                                              : broken("a machine is of no miner");
        default: return {};
    }
}

/// Nothing of an epoch that is over is left.
InvariantResult check_epochs(const StateView& state) {
    const std::uint64_t running = read_market_clock(state).epoch;
    InvariantResult finding;
    for (const Table table : {Table::kLot, Table::kLotLeft}) {
        const Bytes prefix = table_prefix(table);
        state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
            if (number_in(key.subspan(1, 8)) < running)
                finding = broken("a lot of an epoch that is over stands");
            return false;  // they ascend by epoch
        });
        ASSAY_TRY(finding);
    }
    return {};
}

InvariantResult check_present(const StateView& state, const Bytes& key) {
    const auto value = state.get(key);
    return value ? check_record(state, key, *value) : InvariantResult{};
}

/// The records that a record names, which may be wrong once it has changed or gone.
std::vector<Bytes> counterparts(ByteView key, ByteView value) {
    const std::size_t end = key.size();
    switch (static_cast<Table>(key.front())) {
        case Table::kLease: {
            const auto lease = stored<Lease>(value);
            return {lot_key(lease.epoch, lease.node)};
        }
        case Table::kLot: {
            const auto lot = stored<Lot>(value);
            const std::uint64_t epoch = number_in(key.subspan(1, 8));
            const PublicKey node = node_in(key.subspan(9));
            return {lease_key(lot.job, node, epoch), lot_left_key(epoch, lot.kind, lot.ask, node)};
        }
        case Table::kLotLeft: return {lot_key(number_in(key.subspan(1, 8)), node_in(key.subspan(end - 32)))};
        default: return {};
    }
}

int presence(const StateView& state, ByteView key) { return state.get(key) ? 1 : 0; }

}  // namespace

bool is_of_market(Table table) {
    return std::find(kMarketTables.begin(), kMarketTables.end(), table) != kMarketTables.end();
}

bool is_market_due(const StateView& state, const Deadline& deadline) {
    const MarketClock clock = read_market_clock(state);
    return deadline.kind == DueKind::kMarket && deadline.subject.is_zero() &&
           clock.phase != MarketPhase::kStopped && clock.due() == deadline.height;
}

InvariantResult check_market(const StateView& state) {
    if (!state.get(market_params_key())) return broken("the market has no parameters");
    std::size_t lots = 0, bids = 0;
    for (const Table table : kMarketTables) {
        InvariantResult finding;
        const Bytes prefix = table_prefix(table);
        state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
            lots += table == Table::kLotAsk ? 1U : 0U;
            bids += table == Table::kLotBid ? 1U : 0U;
            finding = check_record(state, key, value);
            return finding.ok();
        });
        ASSAY_TRY(finding);
    }
    const MarketClock clock = read_market_clock(state);
    if (clock.lots != lots || clock.bids != bids) return broken("lots and bids are not as many as counted");
    return check_epochs(state);
}

InvariantResult check_market(const StateView& before, const Overlay& changes, const std::set<Hash256>& jobs) {
    std::int64_t lots = read_market_clock(before).lots;
    std::int64_t bids = read_market_clock(before).bids;
    bool any = false;
    for (const auto& [key, value] : changes.changes()) {
        if (key.empty()) continue;
        const auto deadline =
            key.front() == static_cast<std::uint8_t>(Table::kDeadline) ? deadline_of(key) : std::nullopt;
        any = any || (deadline && deadline->kind == DueKind::kMarket);
        if (!is_of_market(static_cast<Table>(key.front()))) continue;
        any = true;
        const auto old = before.get(key);
        const int change = (value ? 1 : 0) - presence(before, key);
        if (key.front() == static_cast<std::uint8_t>(Table::kLotAsk)) lots += change;
        if (key.front() == static_cast<std::uint8_t>(Table::kLotBid)) bids += change;
        if (value) ASSAY_TRY(check_record(changes, key, *value));
        if (!value && key.front() == static_cast<std::uint8_t>(Table::kClassBook)) {
            const LotClass kind = class_in(ByteView(key).subspan(1));
            if (!list_class_epochs(changes, kind).empty()) return broken("an epoch is of no class");
        }
        for (const auto& version : {old, value}) {
            if (!version) continue;
            for (const Bytes& other : counterparts(key, *version)) ASSAY_TRY(check_present(changes, other));
        }
    }
    // One that is there must be true, whoever left it.
    const MarketClock old = read_market_clock(before);
    if (any && old.phase != MarketPhase::kStopped) {
        const Deadline due{old.due(), DueKind::kMarket, {}};
        if (changes.get(deadline_key(due)) && !is_market_due(changes, due))
            return broken("a deadline is nobody's");
    }
    for (const Hash256& job : jobs)
        for (const Lease& lease : list_leases(changes, job))
            ASSAY_TRY(check_present(changes, lease_key(job, lease.node, lease.epoch)));
    if (!any) return {};
    if (!changes.get(market_params_key())) return broken("the market has no parameters");
    const MarketClock clock = read_market_clock(changes);
    if (clock.lots != lots || clock.bids != bids) return broken("lots and bids are not as many as counted");
    ASSAY_TRY(check_clock(changes));
    return check_epochs(changes);
}

}  // namespace assay::contracts
