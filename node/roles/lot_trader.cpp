// SPDX-License-Identifier: Apache-2.0
#include "node/roles/lot_trader.hpp"

#include <algorithm>
#include <bit>

#include "contracts/base/wide.hpp"
#include "contracts/rules/market/lots.hpp"

namespace assay::node {

using contracts::MarketPhase;

namespace {

bool takes_seals(MarketPhase phase) {
    return phase == MarketPhase::kSealing || phase == MarketPhase::kStopped;
}

bool is_in_roster(const contracts::Job& job, const base::PublicKey& node) {
    return std::any_of(job.roster.begin(), job.roster.end(),
                       [&](const auto& entry) { return entry.node == node && !entry.dropped; });
}

bool holds_slot(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& node) {
    if (job.phase != contracts::JobPhase::kRounds) return false;
    const auto slots = contracts::list_slots(state, job.id, job.round);
    return std::any_of(slots.begin(), slots.end(),
                       [&](const auto& slot) { return slot.assigned && slot.miner == node; });
}

}  // namespace

std::uint8_t class_bits(std::uint64_t size) { return static_cast<std::uint8_t>(std::bit_width(size)); }

std::optional<std::uint8_t> expected_speed(const MinerPace& pace, program::Profile profile,
                                           std::uint64_t block_ms) {
    constexpr base::Uint128 kNsInMs = 1'000'000;
    constexpr base::Uint128 kThousandths = 1'000;
    constexpr base::Uint128 kMost = (std::uint64_t{1} << contracts::kMaxSpeedBits) - 1;
    if (block_ms == 0) return std::nullopt;
    std::optional<base::Uint128> best;
    for (const ClassPace& one : pace.classes) {
        if (one.profile != profile || !one.known()) continue;
        // Neither factor is above 2^42 for any machine and any chain; a note that says otherwise is cut.
        const base::Uint128 units = std::min<std::uint64_t>(one.units, std::uint64_t{1} << 50U);
        const base::Uint128 block_ns = std::min<std::uint64_t>(block_ms, std::uint64_t{1} << 40U) * kNsInMs;
        best = std::max(best.value_or(0), units * kThousandths / 8 * block_ns / one.ns);
    }
    if (!best) return std::nullopt;
    return class_bits(static_cast<std::uint64_t>(std::min(*best, kMost)));
}

contracts::LotClass class_of(const contracts::StateView& state, const base::PublicKey& node,
                             const LotTerms& terms) {
    const auto measured = contracts::read_machine(state, node, terms.profile).speed_bits();
    return {terms.profile, measured.value_or(terms.speed.value_or(0)), terms.memory, terms.network};
}

LotStep next_lot_step(const contracts::StateView& state, const base::PublicKey& node,
                      const std::optional<LotTerms>& terms) {
    const contracts::MarketClock clock = contracts::read_market_clock(state);
    const auto ask = contracts::read_lot_ask(state, node);
    if (ask && !ask->opened) return clock.phase == MarketPhase::kOpening ? LotStep::kOpen : LotStep::kNone;
    if (!terms) {
        const bool stands = ask || contracts::withdrawable_epoch(state, node);
        return stands ? LotStep::kWithdraw : LotStep::kNone;
    }
    if (ask) {
        const bool same = ask->kind == class_of(state, node, *terms) && ask->price == terms->ask;
        return !same && takes_seals(clock.phase) ? LotStep::kWithdraw : LotStep::kNone;
    }
    if (clock.phase == MarketPhase::kStopped && contracts::read_lot(state, clock.epoch, node))
        return LotStep::kNone;
    return takes_seals(clock.phase) ? LotStep::kSeal : LotStep::kNone;
}

std::uint64_t lot_lasts(const contracts::StateView& state, std::uint64_t height) {
    const contracts::MarketClock clock = contracts::read_market_clock(state);
    const std::uint64_t epoch = contracts::read_market_params(state).epoch;
    if (clock.phase == MarketPhase::kStopped) return 2 * epoch;
    return (clock.end > height ? clock.end - height : 0) + epoch;
}

bool has_place(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& node) {
    if (contracts::is_over(job.phase)) return false;
    if (!job.leases()) return is_in_roster(job, node);
    const auto leases = contracts::list_leases(state, job.id);
    return std::any_of(leases.begin(), leases.end(), [&](const auto& lease) { return lease.node == node; }) ||
           holds_slot(state, job, node);
}

bool is_bound_by_auction(const contracts::StateView& state, const base::PublicKey& node) {
    const auto jobs = contracts::list_active_jobs(state);
    return std::any_of(jobs.begin(), jobs.end(), [&](const base::Hash256& id) {
        const auto job = contracts::read_job(state, id);
        if (!job || job->leases() || contracts::is_over(job->phase)) return false;
        const bool bids =
            job->phase == contracts::JobPhase::kAskCommit || job->phase == contracts::JobPhase::kAskReveal;
        return has_place(state, *job, node) || (bids && contracts::read_ask(state, id, node));
    });
}

std::optional<base::Hash256> leased_by(const contracts::StateView& state, const base::PublicKey& node) {
    const std::uint64_t epoch = contracts::read_market_clock(state).epoch;
    for (const std::uint64_t one : {epoch, epoch + 1}) {
        const auto lot = contracts::read_lot(state, one, node);
        if (lot && !lot->job.is_zero()) return lot->job;
    }
    return std::nullopt;
}

}  // namespace assay::node
