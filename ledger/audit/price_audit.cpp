// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/price_audit.hpp"

#include <algorithm>
#include <map>

#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/round/prices.hpp"

namespace assay::ledger {

using contracts::Amount;
using contracts::Job;
using contracts::SlotRound;

PricesFound find_prices(const contracts::StateView& state, const Job& job, std::uint32_t round) {
    const auto dealt = contracts::read_round_prices(state, job.id, round);
    if (dealt) return {dealt->highest, dealt->slots};
    const Amount price = job.auction.clearing_price;
    return {price, std::vector<Amount>(job.spec.slots, price)};
}

namespace {

// The lease by which the miner was dealt its slots; nothing: its epoch is over, and the state has forgotten
// it.
const contracts::Lease* lease_of(const std::vector<contracts::Lease>& leases, const SlotRound& slot,
                                 std::uint64_t height) {
    const auto found = std::find_if(leases.begin(), leases.end(), [&](const contracts::Lease& lease) {
        return lease.node == slot.miner && lease.from <= height && height < lease.until;
    });
    return found == leases.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> audit_prices(const contracts::StateView& state, const Job& job,
                                      const contracts::Round& round) {
    const bool leases_machines = job.spec.market.terms.gang > 0;
    const auto dealt = contracts::read_round_prices(state, job.id, round.number);
    std::vector<std::string> wrong;
    if (dealt.has_value() != leases_machines) wrong.emplace_back("prices: they are not of this kind of job");
    if (!dealt || !leases_machines) return wrong;
    const auto slots = contracts::list_slots(state, job.id, round.number);
    if (dealt->slots.size() != slots.size()) {
        wrong.emplace_back("prices: they are not as many as the slots");
        return wrong;
    }
    const auto leases = contracts::list_leases(state, job.id);
    std::map<base::PublicKey, Amount> of_miner;
    Amount highest;
    for (const SlotRound& slot : slots) {
        const Amount price = dealt->slots[slot.slot];
        const std::string place = "prices: slot " + std::to_string(slot.slot);
        highest = std::max(highest, price);
        if (price > job.spec.market.max_price) wrong.push_back(place + " costs more than the job's cap");
        if (!slot.assigned) {
            if (!price.is_zero()) wrong.push_back(place + " has a price, and nobody holds it");
            continue;
        }
        if (of_miner.try_emplace(slot.miner, price).first->second != price)
            wrong.push_back(place + " has another price than another slot of its miner");
        const contracts::Lease* lease = lease_of(leases, slot, round.started_at);
        if (lease != nullptr && (lease->price != price || lease->owner != slot.owner))
            wrong.push_back(place + " is not dealt as its miner's lot was leased");
    }
    if (dealt->highest != highest) wrong.emplace_back("prices: the round's is not the highest of its slots");
    return wrong;
}

}  // namespace assay::ledger
