// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/epoch.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/market/book.hpp"
#include "contracts/rules/market/clearing.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/market/lots.hpp"
#include "contracts/rules/market/measure.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/market/tenants.hpp"
#include "contracts/rules/market/terms.hpp"
#include "contracts/rules/market/tie_seed.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// The bids and asks of one class, with whose they are.
struct Desk {
    ClassMarket market;
    std::vector<PublicKey> tenants;  ///< of each bid
    std::vector<PublicKey> owners;   ///< of each ask
};

struct Clearing {
    Work& work;
    MarketClock& clock;
    MarketParams params;
    std::map<LotClass, Desk> desks;
    TieSeed seed;
    /// Nodes with a class deposit whose lots stand no more behind this clearing.
    std::vector<std::pair<PublicKey, program::Profile>> gone;

    [[nodiscard]] State& state() const { return work.state; }
    [[nodiscard]] std::uint64_t next() const { return clock.epoch + 1; }
};

void tell_bid_lost(Clearing& c, const Hash256& job, const LotClass& kind, Amount price, Reason reason) {
    c.work.tell({.kind = EventKind::kBidLost,
                 .job = job,
                 .slot = number_of(kind),
                 .reason = reason,
                 .amount = price,
                 .number = c.next()});
}

void burn(Clearing& c, Event lost) {
    lost.kind = EventKind::kSealLost;
    lost.reason = Reason::kSealNotOpened;
    move_total(c.state(), &Supply::deposits, &Supply::burned, lost.amount);
    c.work.tell(lost);
}

/// A bid that wins nothing whatever others bid: its escrow no longer covers it, or nobody could judge what
/// its machines do.
Checked check_bid(const StateView& state, const Hash256& job, const LotBid& bid) {
    ASSAY_TRY(check_cover(state, job, bid.kind, bid.price));
    return check_judged(state, job);
}

/// Bids leave the state, opened or not. One that fails check_bid is set aside.
void take_bids(Clearing& c) {
    for (const auto& [job, bid] : list_lot_bids(c.state())) {
        c.state().erase(lot_bid_key(job));
        --c.clock.bids;
        if (!bid.opened) {
            burn(c, {.job = job, .amount = bid.deposit});
            continue;
        }
        c.seed.add(job, bid);
        if (const auto may_win = check_bid(c.state(), job, bid); !may_win) {
            tell_bid_lost(c, job, bid.kind, bid.price, may_win.error());
            continue;
        }
        Desk& desk = c.desks[bid.kind];
        desk.market.bids.push_back(
            {job, bid.lots, bid.price, read_tenant(c.state(), bid.tenant, bid.kind).owed()});
        desk.tenants.push_back(bid.tenant);
    }
}

void forget_ask(Clearing& c, const PublicKey& node) {
    c.state().erase(lot_ask_key(node));
    --c.clock.lots;
}

/// Of an opened ask, with what is known of its machine.
void forget_opened(Clearing& c, const PublicKey& node, const LotAsk& ask, const MachineSpeed& machine) {
    forget_ask(c, node);
    if (!machine.deposit.is_zero()) c.gone.emplace_back(node, ask.kind.profile);
}

void take_ask(Clearing& c, const PublicKey& node, LotAsk ask) {
    if (!ask.opened) {
        Miner miner = required(read_miner(c.state(), node));
        miner.forfeited = saturating_sum(miner.forfeited, ask.deposit);
        store(c.state(), miner_key(node), miner);
        burn(c, {.node = node, .amount = ask.deposit});
        return forget_ask(c, node);
    }
    // Measured since it was offered: it can be offered in its own class.
    const MachineSpeed machine = read_machine(c.state(), node, ask.kind.profile);
    const auto measured = machine.speed_bits();
    if (measured && *measured < ask.kind.speed) {
        forget_opened(c, node, ask, machine);
        return c.work.tell({.kind = EventKind::kLotGone, .node = node, .reason = Reason::kClassTooFast});
    }
    c.seed.add(node, ask);
    Desk& desk = c.desks[ask.kind];
    desk.market.asks.push_back({node, ask.price});
    desk.owners.push_back(ask.owner);
    if (--ask.epochs == 0) return forget_opened(c, node, ask, machine);
    store(c.state(), lot_ask_key(node), ask);
}

/// What winners lease. Returns by owner what was wanted and sold, and marks the asks that were sold.
TenantShares lease_matches(Clearing& c, const LotClass& kind, const Desk& desk, const ClassOutcome& outcome,
                           std::vector<bool>& sold) {
    TenantShares shares;
    std::vector<bool> won(desk.market.bids.size(), false);
    for (const Match& match : outcome.matches) {
        const ClassAsk& ask = desk.market.asks[match.ask];
        won[match.bid] = sold[match.ask] = true;
        ++shares[desk.tenants[match.bid]].got;
        Lease lease;
        lease.node = ask.node;
        lease.owner = desk.owners[match.ask];
        lease.job = desk.market.bids[match.bid].job;
        lease.kind = kind;
        lease.price = match.price;
        lease.epoch = c.next();
        lease.from = c.clock.end;
        lease.until = later(c.clock.end, c.params.epoch);
        lease_lot(c.work, lease, ask.price);
    }
    for (std::size_t i = 0; i < won.size(); ++i) {
        const ClassBid& bid = desk.market.bids[i];
        // A bid that no lot can be sold to is no wish.
        if (bid.price >= desk.market.base_price) shares[desk.tenants[i]].wanted += bid.lots;
        if (!won[i]) tell_bid_lost(c, bid.job, kind, bid.price, Reason::kOutbid);
    }
    return shares;
}

void clear_desk(Clearing& c, const LotClass& kind, Desk& desk, const Hash256& seed) {
    desk.market.seed = seed;
    desk.market.base_price = base_price_for(c.state(), kind, c.next(), c.params.least_base_price);
    const ClassOutcome outcome = clear_class(desk.market);
    std::vector<bool> sold(desk.market.asks.size(), false);
    const TenantShares shares = lease_matches(c, kind, desk, outcome, sold);
    count_shares(c.state(), kind, shares);
    ClassEpoch cleared;
    cleared.base_price = desk.market.base_price;
    cleared.bids = static_cast<std::uint32_t>(desk.market.bids.size());
    for (const ClassBid& bid : desk.market.bids) cleared.wanted = saturating_sum(cleared.wanted, bid.lots);
    cleared.offered = static_cast<std::uint32_t>(desk.market.asks.size());
    cleared.sold = static_cast<std::uint32_t>(outcome.matches.size());
    cleared.lowest = outcome.lowest;
    cleared.highest = outcome.highest;
    for (std::size_t i = 0; i < sold.size(); ++i)
        cleared.above += !sold[i] && desk.market.asks[i].price > cleared.base_price ? 1U : 0U;
    // A class that nobody offers in has no price to keep, and costs its bidders nothing to name.
    if (cleared.offered > 0) write_class_epoch(c.state(), kind, c.next(), cleared, c.params);
    for (std::size_t i = 0; i < sold.size(); ++i)
        if (!sold[i])
            leave_lot(c.state(), c.next(), desk.market.asks[i].node, kind, desk.market.asks[i].price);
    c.work.tell({.kind = EventKind::kClassCleared,
                 .round = cleared.offered,
                 .slot = number_of(kind),
                 .amount = cleared.base_price,
                 .number = cleared.sold});
}

/// Leases a waiting job lots that are left, all of its number. False: it cannot have so many.
bool lease_left(Clearing& c, const Hash256& job, const LotWait& wait) {
    const auto cleared = read_class_epoch(c.state(), wait.kind, c.next());
    const auto terms = read_job_terms(c.state(), job);
    if (!cleared || !terms || !check_cover(c.state(), job, wait.kind, cleared->base_price) ||
        !check_judged(c.state(), job))
        return false;
    if (count_leases(c.state(), job, c.next()) + wait.lots >
        market_terms_of(*terms).value_or(LotRange{}).most)
        return false;
    const auto nodes = list_lots_left(c.state(), c.next(), wait.kind, wait.lots);
    if (nodes.size() < wait.lots) return false;
    lease_left_lots(c.work, job, wait, nodes, {c.next(), c.clock.end, later(c.clock.end, c.params.epoch)});
    return true;
}

/// Whoever waits is served once, the most deprived first, and waits no more.
void serve_waiting(Clearing& c, const Hash256& seed) {
    struct Place {
        std::uint64_t owed;
        Hash256 lot;  // breaks ties
        Hash256 job;
        LotWait wait;
    };
    std::vector<Place> queue;
    for (const auto& [job, wait] : list_lot_waits(c.state())) {
        queue.push_back({read_tenant(c.state(), wait.tenant, wait.kind).owed(),
                         base::Hasher("assay/market-wait/v1").add(seed).add(job).finish(), job, wait});
        c.state().erase(lot_wait_key(job));
    }
    std::sort(queue.begin(), queue.end(), [](const Place& a, const Place& b) {
        return a.owed != b.owed ? a.owed > b.owed : a.lot < b.lot;
    });
    for (const Place& place : queue)
        if (!lease_left(c, place.job, place.wait))
            tell_bid_lost(c, place.job, place.wait.kind, {}, Reason::kOutbid);
}

/// Who has fewer lots from the next epoch on is told before this one ends.
void give_notice(Clearing& c) {
    std::map<Hash256, std::int64_t> lost;
    for (const std::uint64_t epoch : {c.clock.epoch, c.next()}) {
        for (const auto& [node, lot] : list_lots(c.state(), epoch))
            lost[lot.job] += epoch == c.clock.epoch ? 1 : -1;
    }
    for (const auto& [job, lots] : lost)
        if (lots > 0 && !job.is_zero())
            c.work.tell(
                {.kind = EventKind::kLotsLost, .job = job, .number = static_cast<std::uint64_t>(lots)});
}

}  // namespace

void clear_next_epoch(Work& work, MarketClock& clock) {
    Clearing c{.work = work, .clock = clock, .params = read_market_params(work.state)};
    halve_tenants(c.state());
    take_bids(c);
    for (const auto& [node, ask] : list_lot_asks(c.state())) take_ask(c, node, ask);
    const Hash256 seed = c.seed.finish();
    for (auto& [kind, desk] : c.desks) clear_desk(c, kind, desk, seed);
    serve_waiting(c, seed);
    for (const auto& [node, profile] : c.gone) settle_if_idle(work, node, profile);
    forget_old_classes(c.state(), c.next(), c.params);
    give_notice(c);
}

}  // namespace assay::contracts
