// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/tenants.hpp"

#include <algorithm>
#include <vector>

#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

constexpr std::uint64_t kPerLot = 1'000;

}  // namespace

std::map<PublicKey, std::uint64_t> entitlements(const TenantShares& shares, std::uint64_t sold) {
    std::vector<std::pair<std::uint64_t, PublicKey>> by_wish;
    for (const auto& [owner, share] : shares) by_wish.emplace_back(share.wanted, owner);
    std::sort(by_wish.begin(), by_wish.end());
    std::map<PublicKey, std::uint64_t> entitled;
    std::uint64_t left = sold * kPerLot;
    std::uint64_t others = by_wish.size();
    for (const auto& [wanted, owner] : by_wish) {
        const std::uint64_t share = std::min(wanted * kPerLot, left / others--);
        entitled[owner] = share;
        left -= share;
    }
    return entitled;
}

void count_shares(State& state, const LotClass& kind, const TenantShares& shares) {
    std::uint64_t sold = 0;
    for (const auto& [owner, share] : shares) sold += share.got;
    for (const auto& [owner, entitled] : entitlements(shares, sold)) {
        TenantCount count = read_tenant(state, owner, kind);
        count.entitled = saturating_sum(count.entitled, entitled);
        count.received = saturating_sum(count.received, shares.at(owner).got * kPerLot);
        if (count.entitled != 0 || count.received != 0) store(state, tenant_key(owner, kind), count);
    }
}

void count_received(State& state, const PublicKey& owner, const LotClass& kind, std::uint64_t lots) {
    TenantCount count = read_tenant(state, owner, kind);
    count.received = saturating_sum(count.received, lots * kPerLot);
    store(state, tenant_key(owner, kind), count);
}

void halve_tenants(State& state) {
    for (const auto& [key, value] : state.scan(table_prefix(Table::kTenant))) {
        auto count = stored<TenantCount>(value);
        count.entitled /= 2;
        count.received /= 2;
        if (count.entitled == 0 && count.received == 0) {
            state.erase(key);
        } else {
            store(state, key, count);
        }
    }
}

}  // namespace assay::contracts
