// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/supply.hpp"

#include "contracts/rules/state/store.hpp"
#include "contracts/rules/state/tables.hpp"

namespace assay::contracts {

Amount sum(Amount first, Amount second) {
    const auto result = first.plus(second);
    ASSAY_CHECK(result.has_value());
    return *result;
}

Amount difference(Amount first, Amount second) {
    const auto result = first.minus(second);
    ASSAY_CHECK(result.has_value());
    return *result;
}

Amount saturating_sum(Amount first, Amount second) {
    return first.plus(second).value_or(Amount::of(base::kAmountMax).value());
}

Amount smaller(Amount first, Amount second) { return first < second ? first : second; }

void move_total(State& state, Bucket from, Bucket to, Amount amount) {
    if (amount.is_zero() || from == to) return;
    Supply supply = read_supply(state);
    supply.*from = difference(supply.*from, amount);
    supply.*to = sum(supply.*to, amount);
    store(state, supply_key(), supply);
}

}  // namespace assay::contracts
