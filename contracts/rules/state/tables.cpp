// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/tables.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

Bytes table_prefix(Table table) { return KeyBuilder(table).take(); }
bool is_of_history(ByteView key) {
    return !key.empty() && key.front() == static_cast<std::uint8_t>(Table::kHistory);
}
Bytes meta_key() { return table_prefix(Table::kMeta); }
Bytes params_key() { return table_prefix(Table::kParams); }
Bytes param_set_key(const Hash256& set) { return KeyBuilder(Table::kParamSet).add(set.view()).take(); }
Bytes supply_key() { return table_prefix(Table::kSupply); }
Bytes validators_key() { return table_prefix(Table::kValidators); }

Meta read_meta(const StateView& state) { return required(load<Meta>(state, meta_key())); }
Params read_current_params(const StateView& state) {
    return required(read_param_set(state, required(load<Hash256>(state, params_key()))));
}
std::optional<Params> read_param_set(const StateView& state, const Hash256& set) {
    return load<Params>(state, param_set_key(set));
}
Supply read_supply(const StateView& state) { return required(load<Supply>(state, supply_key())); }
ValidatorSet read_validators(const StateView& state) {
    return required(load<ValidatorSet>(state, validators_key()));
}

void set_current_params(State& state, const Params& params) {
    const Hash256 set = params_hash(params);
    store(state, param_set_key(set), params);
    store(state, params_key(), set);
}

}  // namespace assay::contracts
