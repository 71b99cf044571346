// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/prices.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

Bytes round_prices_key(const Hash256& job, std::uint32_t round) {
    return KeyBuilder(Table::kRoundPrices).add(job.view()).add_number(round, 4).take();
}

std::optional<RoundPrices> read_round_prices(const StateView& state, const Hash256& job,
                                             std::uint32_t round) {
    return load<RoundPrices>(state, round_prices_key(job, round));
}

RoundPrices prices_of_round(const StateView& state, const Job& job, std::uint32_t round) {
    if (job.leases())
        if (auto dealt = read_round_prices(state, job.id, round)) return std::move(*dealt);
    const Amount price = price_at_most(job);
    return {price, std::vector<Amount>(job.spec.slots, price)};
}

Amount price_of_slot(const StateView& state, const Job& job, std::uint32_t round, std::uint32_t slot) {
    if (!job.leases()) return job.auction.clearing_price;
    return prices_of_round(state, job, round).slots.at(slot);
}

Amount price_of_round(const StateView& state, const Job& job, std::uint32_t round) {
    if (!job.leases()) return job.auction.clearing_price;
    return prices_of_round(state, job, round).highest;
}

Amount price_at_most(const Job& job) {
    return job.leases() ? job.spec.market.max_price : job.auction.clearing_price;
}

}  // namespace assay::contracts
