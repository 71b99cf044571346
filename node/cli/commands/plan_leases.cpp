// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/plan_leases.hpp"

#include <algorithm>

#include "contracts/rules/market/terms.hpp"
#include "node/cli/commands/plan_text.hpp"
#include "node/views/market_outlook.hpp"

namespace assay::node {

namespace {

/// Prices of what was sold and leased, once for each end of a clearing.
std::vector<double> prices_of(const contracts::ClassEpoch& cleared) {
    std::vector<double> prices;
    for (const auto& price : {cleared.lowest, cleared.highest})
        if (price) prices.push_back(static_cast<double>(price->units()));
    if (cleared.instant > 0) prices.push_back(static_cast<double>(cleared.base_price.units()));
    return prices;
}

PlannedClass planned(const program::JobSpec& spec, const std::vector<DeviceMemory>& memory,
                     const contracts::StateView& state, const ClassView& stand) {
    PlannedClass found{.stand = stand, .fits = {}, .clearings = 0, .prices = {}};
    for (const DeviceMemory& each : memory)
        if (stand.kind.memory >= each.memory_class) found.fits.push_back(each.device);
    std::vector<double> prices;
    for (const auto& [epoch, cleared] : contracts::list_class_epochs(state, stand.kind)) {
        const auto some = prices_of(cleared);
        found.clearings += some.empty() ? 0U : 1U;
        prices.insert(prices.end(), some.begin(), some.end());
    }
    if (!prices.empty()) found.prices = interval_of(std::move(prices));
    found.above_cap = stand.next_base_price > spec.market.max_price;
    return found;
}

std::string device_text(const std::vector<std::string>& devices) {
    std::string text;
    for (const std::string& device : devices) {
        if (!text.empty()) text += " and ";
        text += device == "cuda-host" ? "a card" : "a processor";
    }
    return text;
}

/// One row for each of: what the class is, what it costs, what it holds.
std::string class_text(const PlannedClass& one) {
    return class_words(one.stand.kind) + "; " +
           (one.fits.empty() ? "a step may not fit its memory" : "a step fits " + device_text(one.fits));
}

std::string price_text(const PlannedClass& one) {
    std::string text = "base price " + base::to_text(one.stand.next_base_price);
    if (one.above_cap) text += ", above the job's cap";
    if (one.prices) {
        text += "; sold for " + coins_text(one.prices->low) + " to " + coins_text(one.prices->high) +
                ", median " + coins_text(one.prices->median) + ", in " + std::to_string(one.clearings) +
                " epochs";
    } else {
        text += "; nothing was sold yet";
    }
    return text;
}

std::string count_text(const ClassView& stand) {
    return "lots: " + std::to_string(stand.standing) + " stand, " + std::to_string(stand.leased) +
           " leased, " + std::to_string(stand.left) + " left";
}

}  // namespace

std::optional<LeasePlan> lease_plan(const program::JobSpec& spec, const contracts::StateView* state,
                                    std::uint64_t height) {
    const program::MarketTerms& terms = spec.market.terms;
    if (!terms.engaged()) return std::nullopt;
    LeasePlan plan{.gang = terms.gang, .most = terms.most, .classes = {}, .payable = {}, .wait = {}};
    if (state == nullptr) return plan;
    contracts::JobTerms job;
    job.spec = spec;
    const auto memory = step_memory(spec);
    LotWish wish{.classes = {}, .lots = std::max(1U, terms.gang), .price = spec.market.max_price};
    for (const ClassView& stand : market_view(*state, height).classes) {
        if (!contracts::takes_class(job, stand.kind)) continue;
        plan.classes.push_back(planned(spec, memory, *state, stand));
        wish.classes.push_back(stand.kind);
    }
    for (const auto& [node, kind] : lots_on_offer(*state)) {
        const auto at =
            std::ranges::find(plan.classes, kind, [](const PlannedClass& one) { return one.stand.kind; });
        if (at != plan.classes.end() && !at->above_cap) ++plan.payable[kind];
    }
    plan.wait = wait_for(*state, wish);
    return plan;
}

std::vector<std::pair<std::string, std::string>> lease_fields(const LeasePlan& plan) {
    std::vector<std::pair<std::string, std::string>> fields = {
        {"machines", "leases " + std::to_string(plan.gang) + " to " + std::to_string(plan.most) +
                         " in the market, and works with no fewer"}};
    if (!plan.wait) {
        fields.emplace_back("classes of lots", "no ledger was asked: name a node with --node");
        return fields;
    }
    for (const PlannedClass& one : plan.classes) {
        fields.emplace_back(class_code(one.stand.kind), class_text(one));
        fields.emplace_back("", price_text(one));
        fields.emplace_back("", count_text(one.stand));
    }
    if (plan.classes.empty()) fields.emplace_back("classes of lots", "none on this ledger does for the job");
    if (largest_class(plan.payable) < plan.gang)
        fields.emplace_back("now", no_gang_text(plan.gang, plan.payable) + ", at a base price that it pays");
    fields.emplace_back("wait", plan.wait->text());
    return fields;
}

}  // namespace assay::node
