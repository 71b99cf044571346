// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/job/phases.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/market/lots.hpp"
#include "contracts/rules/market/phases.hpp"
#include "contracts/rules/market/seals.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/market/terms.hpp"
#include "contracts/rules/market/working_lots.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// Seals are taken for the next epoch; where the clock stands still, they start it.
Checked check_sealing(const MarketClock& clock) {
    const bool takes = clock.phase == MarketPhase::kSealing || clock.phase == MarketPhase::kStopped;
    return takes ? Checked{} : failed(Reason::kWrongWindow);
}

/// The terms of a job that trades in the market, asked by its buyer's node.
Result<LotRange, Reason> check_trader(const Case& c, const Hash256& job) {
    const auto progress = read_job_progress(c.state, job);
    if (!progress) return failed(reason_of_absence(c.state, job));
    if (progress->phase == JobPhase::kEnded) return failed(Reason::kJobOver);
    const JobTerms terms = required(read_job_terms(c.state, job));
    if (terms.buyer_node != c.sender) return failed(Reason::kNotYours);
    ASSAY_TRY(check_decides(c, terms));
    const auto range = market_terms_of(terms);
    if (!range) return failed(Reason::kNoMarketTerms);
    return *range;
}

/// The same of a job that goes on.
Result<LotRange, Reason> check_buyer(const Case& c, const Hash256& job) {
    ASSAY_ASSIGN(const LotRange range, check_trader(c, job));
    if (is_over(required(read_job_progress(c.state, job)).phase)) return failed(Reason::kJobOver);
    return range;
}

}  // namespace

Checked check(const Case& c, const LotSeal&) {
    const MarketClock clock = read_market_clock(c.state);
    ASSAY_TRY(check_sealing(clock));
    if (!read_miner(c.state, c.sender)) return failed(Reason::kNotMiner);
    if (read_lot_ask(c.state, c.sender)) return failed(Reason::kLotStands);
    if (clock.lots >= kMaxLots) return failed(Reason::kMarketFull);
    if (read_stake(c.state, c.sender).free < read_market_params(c.state).lot_deposit)
        return failed(Reason::kInsufficientStake);
    return {};
}

Checked check(const Case& c, const LotOpen& tx) {
    if (read_market_clock(c.state).phase != MarketPhase::kOpening) return failed(Reason::kWrongWindow);
    const auto ask = read_lot_ask(c.state, c.sender);
    if (!ask) return failed(Reason::kNoSeal);
    if (ask->opened) return failed(Reason::kAlreadyDone);
    if (lot_seal(c.block.chain_id, c.sender, tx.kind, tx.price, tx.epochs, tx.salt) != ask->seal)
        return failed(Reason::kSealMismatch);
    return {};
}

Checked check(const Case& c, const LotWithdraw&) {
    const auto ask = read_lot_ask(c.state, c.sender);
    const bool stands = (ask && ask->opened) || withdrawable_epoch(c.state, c.sender);
    return stands ? Checked{} : failed(Reason::kNoSuchLot);
}

Checked check(const Case& c, const BidSeal& tx) {
    ASSAY_TRY(check_buyer(c, tx.job));
    const MarketClock clock = read_market_clock(c.state);
    ASSAY_TRY(check_sealing(clock));
    if (read_lot_bid(c.state, tx.job)) return failed(Reason::kAlreadyDone);
    if (clock.bids >= kMaxBids) return failed(Reason::kMarketFull);
    return check_spare(c.state, tx.job, read_market_params(c.state).bid_deposit);
}

Checked check(const Case& c, const BidOpen& tx) {
    // A job whose rounds were done before the opening has its deposit back, and is set aside.
    ASSAY_ASSIGN(const LotRange range, check_trader(c, tx.job));
    if (read_market_clock(c.state).phase != MarketPhase::kOpening) return failed(Reason::kWrongWindow);
    const auto bid = read_lot_bid(c.state, tx.job);
    if (!bid) return failed(Reason::kNoSeal);
    if (bid->opened) return failed(Reason::kAlreadyDone);
    if (bid_seal(c.block.chain_id, tx.job, tx.kind, tx.lots, tx.price, tx.salt) != bid->seal)
        return failed(Reason::kSealMismatch);
    if (tx.lots < range.gang || tx.lots > range.most) return failed(Reason::kWrongLots);
    return check_wish(required(read_job_terms(c.state, tx.job)), tx.kind, tx.price);
}

Checked check(const Case& c, const LeaseTake& tx) {
    ASSAY_ASSIGN(const LotRange range, check_buyer(c, tx.job));
    const std::uint64_t epoch = read_market_clock(c.state).epoch;
    const auto cleared = read_class_epoch(c.state, tx.kind, epoch);
    const Amount price = cleared ? cleared->base_price : read_market_params(c.state).least_base_price;
    ASSAY_TRY(check_cover(c.state, tx.job, tx.kind, price));
    ASSAY_TRY(check_judged(c.state, tx.job));
    const bool any_left = list_lots_left(c.state, epoch, tx.kind, tx.lots).size() == tx.lots;
    const std::uint32_t held =
        any_left ? count_working_lots(c.state, required(read_job(c.state, tx.job)), epoch) : 0;
    if (held + tx.lots > range.most) return failed(Reason::kWrongLots);
    // Lots that cannot work are replaced, and not without end.
    const std::uint32_t all = any_left ? count_leases(c.state, tx.job, epoch) : 0;
    if (all + tx.lots > most_leased(range.most)) return failed(Reason::kWrongLots);
    if (any_left) return {};
    if (!tx.wait) return failed(Reason::kTooFewLots);
    return read_lot_wait(c.state, tx.job) ? failed(Reason::kAlreadyDone) : Checked{};
}

}  // namespace assay::contracts
