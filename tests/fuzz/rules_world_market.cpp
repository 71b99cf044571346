// SPDX-License-Identifier: Apache-2.0
// The random ledger's market between jobs: lots and bids that are sealed, opened, forgotten, withdrawn and
// leased, with prices near the base price and at the edges.
#include <algorithm>

#include "contracts/rules/market/seals.hpp"
#include "tests/fuzz/rules_world.hpp"

namespace assay::fuzz {

using namespace contracts;

namespace {

constexpr const char* kChain = "fuzz";
constexpr std::size_t kMiners = 4;  // people 1 to 4

}  // namespace

MarketParams RulesWorld::some_market() {
    MarketParams params;
    params.seal_window = 1 + choose_(6);
    params.open_window = 1 + choose_(6);
    params.epoch = params.seal_window + params.open_window + 1 + choose_(12);
    params.history_epochs = static_cast<std::uint32_t>(2 + choose_(3));
    // Deposits that miners and jobs of this world can pay more often than not.
    params.lot_deposit = Amount::of(choose_(1'000)).value();
    params.bid_deposit = Amount::of(chance(4) ? 0 : choose_(2'000)).value();
    params.least_base_price = Amount::of(1 + choose_(40)).value();
    return check_market_params(params) ? MarketParams{} : params;
}

/// Few classes, so that bids meet asks.
LotClass RulesWorld::class_of_lots(const PublicKey& node) const {
    const std::uint8_t byte = derived("class", Hash256{}, node).bytes[0];
    return {program::Profile::kF32, static_cast<std::uint8_t>(byte % 4 == 0 ? 40 : 3), 5, 8};
}

void RulesWorld::seal_or_open_lot(Person& who) {
    const PublicKey node = who.node.public_key();
    const std::uint64_t epoch = read_market_clock(state_).epoch;
    const LotClass kind = class_of_lots(node);
    const Hash256 salt = derived("lot", Hash256{}, node, epoch);
    const Amount price = Amount::of(salt.bytes[0] % 3 == 0 ? 0 : std::uint64_t{salt.bytes[1]}).value();
    const std::uint32_t epochs = 1 + salt.bytes[2] % 3U;
    if (read_market_clock(state_).phase == MarketPhase::kOpening)
        return send(who, LotOpen{kind, price, epochs, salt});
    send(who, LotSeal{lot_seal(kChain, node, kind, price, epochs, salt)});
}

void RulesWorld::seal_or_open_bid(const Job& job) {
    Person* who = by_node(job.buyer_node);
    if (who == nullptr) return;
    const std::uint64_t epoch = read_market_clock(state_).epoch;
    const Hash256 salt = derived("bid", job.id, job.buyer_node, epoch);
    const LotClass kind = class_of_lots(people_[1 + salt.bytes[0] % kMiners].node.public_key());
    const std::uint32_t lots = 1 + salt.bytes[1] % job.spec.slots;
    const Amount cap = job.spec.market.max_price;
    const Amount price =
        salt.bytes[2] % 8 == 0 ? cap : std::min(cap, Amount::of(salt.bytes[3] * std::uint64_t{4}).value());
    if (read_market_clock(state_).phase == MarketPhase::kOpening)
        return send(*who, BidOpen{job.id, kind, lots, price, salt});
    send(*who, BidSeal{job.id, bid_seal(kChain, job.id, kind, lots, price, salt)});
}

void RulesWorld::lease(const Job& job) {
    Person* buyer = by_node(job.buyer_node);
    const LotClass kind = class_of_lots(people_[1 + choose_(kMiners)].node.public_key());
    if (buyer != nullptr)
        send(*buyer, LeaseTake{job.id, kind, static_cast<std::uint32_t>(1 + choose_(2)), chance(2)});
}

/// Everybody at once, so that a world of few heights sees whole epochs.
void RulesWorld::trade() {
    std::vector<Job> jobs;
    for (const Hash256& id : list_active_jobs(state_))
        if (auto job = read_job(state_, id)) jobs.push_back(std::move(*job));
    const MarketPhase phase = read_market_clock(state_).phase;
    if (phase != MarketPhase::kNotice) {
        for (std::size_t i = 1; i <= kMiners; ++i)
            if (!chance(6)) seal_or_open_lot(people_[i]);
        for (const Job& job : jobs)
            if (!chance(6)) seal_or_open_bid(job);
    }
    if (phase != MarketPhase::kOpening && !jobs.empty()) lease(jobs[choose_(jobs.size())]);
    if (chance(4)) send(people_[1 + choose_(kMiners)], LotWithdraw{});
    if (chance(diligent_ ? 6 : 3)) pass_heights();
}

void RulesWorld::note_market(const Event& event) {
    if (event.kind == EventKind::kLeased) {
        const auto lease = read_lease(state_, event.job, event.node, event.number);
        if (lease) ++(lease->instant ? reached_.instant : reached_.leases);
    }
    if (event.kind == EventKind::kBidLost) ++reached_.outbid;
    if (event.kind == EventKind::kSealLost) ++reached_.lost_seals;
    if (event.kind == EventKind::kLotsLost) ++reached_.notices;
}

}  // namespace assay::fuzz
