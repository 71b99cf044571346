// SPDX-License-Identifier: Apache-2.0
#include "node/sim/epochs/full_epoch.hpp"

#include <vector>

#include "contracts/rules/market/seals.hpp"
#include "contracts/rules/market/tables.hpp"
#include "node/sim/epochs/chances.hpp"
#include "node/sim/epochs/entries.hpp"

namespace assay::node::sim {

namespace {

constexpr std::uint8_t kLeastSpeed = 10;
constexpr std::uint8_t kMemory = 4;

base::Amount amount(std::uint64_t units) { return base::Amount::of(units).value(); }

SimKey key_of(std::string_view what, std::size_t number) {
    return SimKey(base::Hasher("assay/sim-epoch/v1").add(base::as_bytes(what)).add_u64(number).finish());
}

contracts::LotClass class_of(std::size_t place) {
    contracts::LotClass kind;
    kind.profile = program::Profile::kI16;
    kind.speed = static_cast<std::uint8_t>(kLeastSpeed + place);
    kind.memory = kMemory;
    return kind;
}

/// A job with the class that it bids in.
struct Bidder {
    SimJob job;
    contracts::LotClass kind;
    base::Hash256 id = {};
};

class OneEpoch {
public:
    explicit OneEpoch(const FullEpochPlan& plan) {
        for (std::size_t place = 0; place < plan.classes; ++place)
            add_class(class_of(place), random_class(plan.family, plan.size, plan.first_seed + place));
        const auto groups = [](std::size_t count, std::size_t size) { return (count + size - 1) / size; };
        for (std::size_t i = 0; i < groups(people_.machines.size(), kMachinesOfAnOwner); ++i)
            people_.owners.push_back({key_of("owner", i), false});
        for (std::size_t i = 0; i < groups(bidders_.size(), kJobsOfATenant); ++i)
            people_.tenants.push_back({key_of("tenant", i), key_of("tenant's node", i)});
    }

    base::Outcome<FullEpoch> run() {
        ASSAY_ASSIGN(MarketChain chain, begin_chain(people_));
        ASSAY_TRY(enter(chain));
        const double began = chain.took_ms();
        const std::uint64_t sent = chain.transactions();
        FullEpoch epoch;
        ASSAY_TRY(seal(chain));
        const contracts::MarketClock clock = contracts::read_market_clock(chain.state());
        chain.advance_to(clock.open_at);
        ASSAY_TRY(open(chain));
        epoch.clearing_ms = chain.advance_to(clock.clear_at);
        chain.advance_to(clock.end);
        epoch.epoch_ms = chain.took_ms() - began;
        epoch.transactions = chain.transactions() - sent;
        ASSAY_TRY(chain.check());
        for (const auto& [node, lot] : contracts::list_lots(chain.state(), clock.epoch + 1))
            epoch.leased += lot.job.is_zero() ? 0U : 1U;
        return epoch;
    }

private:
    void add_class(const contracts::LotClass& kind, const contracts::ClassMarket& market) {
        for (const contracts::ClassAsk& ask : market.asks) {
            const std::size_t place = people_.machines.size();
            people_.machines.push_back({.node = key_of("machine", place),
                                        .owner = place / kMachinesOfAnOwner,
                                        .kind = kind,
                                        .speed = std::uint64_t{1} << (kind.speed - 1U),
                                        .cost = ask.price.units()});
        }
        for (const contracts::ClassBid& bid : market.bids) {
            SimJob job;
            job.tenant = bidders_.size() / kJobsOfATenant;
            job.lots = bid.lots;
            job.value = bid.price.units();
            job.speed = kind.speed;
            job.memory = kind.memory;
            bidders_.push_back({.job = job, .kind = kind});
        }
    }
    base::Outcome<void> enter(MarketChain& chain) {
        for (const SimMachine& machine : people_.machines)
            ASSAY_TRY(register_machine(chain, people_.owners[machine.owner].key, machine));
        for (const SimTenant& tenant : people_.tenants) ASSAY_TRY(register_tenant(chain, tenant));
        for (std::size_t i = 0; i < bidders_.size(); ++i) {
            const SimJob& job = bidders_[i].job;
            ASSAY_ASSIGN(
                bidders_[i].id,
                submit_job(chain, people_.tenants[job.tenant],
                           {.number = i, .lots = job.lots, .speed = job.speed, .memory = job.memory}));
        }
        return {};
    }
    base::Outcome<void> seal(MarketChain& chain) {
        for (const SimMachine& machine : people_.machines) {
            const base::Hash256 seal =
                contracts::lot_seal(chain.chain_id(), machine.node.public_key(), machine.kind,
                                    amount(machine.cost), 1, salt_of(machine.node, 0));
            ASSAY_TRY(must_apply(chain.send(machine.node, contracts::LotSeal{seal}), "a sealed lot"));
        }
        for (std::size_t i = 0; i < bidders_.size(); ++i) {
            const Bidder& bidder = bidders_[i];
            const SimKey& node = people_.tenants[bidder.job.tenant].node;
            const base::Hash256 seal =
                contracts::bid_seal(chain.chain_id(), bidder.id, bidder.kind, bidder.job.lots,
                                    amount(bidder.job.value), salt_of(node, i));
            ASSAY_TRY(must_apply(chain.send(node, contracts::BidSeal{bidder.id, seal}), "a sealed bid"));
        }
        return {};
    }
    base::Outcome<void> open(MarketChain& chain) {
        for (const SimMachine& machine : people_.machines) {
            const contracts::LotOpen lot{machine.kind, amount(machine.cost), 1, salt_of(machine.node, 0)};
            ASSAY_TRY(must_apply(chain.send(machine.node, lot), "an opened lot"));
        }
        for (std::size_t i = 0; i < bidders_.size(); ++i) {
            const Bidder& bidder = bidders_[i];
            const SimKey& node = people_.tenants[bidder.job.tenant].node;
            const contracts::BidOpen bid{bidder.id, bidder.kind, bidder.job.lots, amount(bidder.job.value),
                                         salt_of(node, i)};
            ASSAY_TRY(must_apply(chain.send(node, bid), "an opened bid"));
        }
        return {};
    }

    MarketPeople people_;  ///< its jobs stand in bidders_
    std::vector<Bidder> bidders_;
};

}  // namespace

base::Outcome<FullEpoch> measure_full_epoch(const FullEpochPlan& plan) { return OneEpoch(plan).run(); }

}  // namespace assay::node::sim
