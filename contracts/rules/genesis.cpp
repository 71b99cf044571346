// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/apply.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

ValidatorSet validators_of(const GenesisConfig& config) {
    ValidatorSet set;
    for (const GenesisValidator& validator : config.validators)
        set.validators.push_back({validator.node, validator.power});
    return set;
}

Result<void, std::string> genesis(State& state, const GenesisConfig& config) {
    const auto wrong = [](std::string what) { return failed(std::move(what)); };
    if (config.chain_id.empty() || config.chain_id.size() > kMaxChainIdBytes) {
        return wrong("chain_id must have 1 to 64 bytes");
    }
    if (const auto bad = check_params(config.params)) return wrong("parameter out of range: " + *bad);
    if (const auto bad = check_market_params(config.market))
        return wrong("market parameter out of range: " + *bad);
    if (config.balances.size() > kMaxGenesisAccounts) return wrong("too many balances");
    const ValidatorSet validators = validators_of(config);
    if (const auto bad = check_validators(validators)) return wrong(*bad);
    for (const GenesisValidator& validator : config.validators) {
        if (validators.power_of(validator.owner) > 0) {
            return wrong("a validator's owner key and the validators' node keys must differ");
        }
    }
    Supply supply;
    for (std::size_t i = 0; i < config.balances.size(); ++i) {
        const auto& [owner, balance] = config.balances[i];
        if (i > 0 && !(config.balances[i - 1].first < owner)) return wrong("balances must ascend by key");
        if (validators.power_of(owner) > 0) return wrong("a node key cannot hold a balance");
        const auto minted = supply.minted.plus(balance);
        if (!minted) return wrong("the balances add up to more than the largest amount");
        supply.minted = *minted;
    }
    supply.balances = supply.minted;

    store(state, meta_key(), Meta{kSchemaVersion, config.chain_id, 0});
    set_current_params(state, config.params);
    store(state, market_params_key(), config.market);
    store(state, supply_key(), supply);
    store(state, validators_key(), validators);
    for (const GenesisValidator& validator : config.validators)
        store(state, node_key(validator.node), NodeKey{validator.owner, 0, false});
    for (const auto& [owner, balance] : config.balances)
        store(state, account_key(owner), Account{balance, 0});
    return {};
}

}  // namespace assay::contracts
