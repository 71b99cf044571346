// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/apply.hpp"
#include "contracts/rules/identity/endpoint.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

Result<void, std::string> genesis(State& state, const GenesisConfig& config) {
    const auto wrong = [](std::string what) { return failed(std::move(what)); };
    if (config.chain_id.empty() || config.chain_id.size() > kMaxChainIdBytes) {
        return wrong("chain_id must have 1 to 64 bytes");
    }
    if (const auto bad = check_params(config.params)) return wrong("parameter out of range: " + *bad);
    if (config.balances.size() > kMaxGenesisAccounts) return wrong("too many balances");
    if (!is_endpoint(config.sequencer_endpoint)) return wrong("sequencer_endpoint must be host:port");
    if (config.sequencer_owner == config.sequencer_node) {
        return wrong("the sequencer's owner key and node key must differ");
    }
    Supply supply;
    for (std::size_t i = 0; i < config.balances.size(); ++i) {
        const auto& [owner, balance] = config.balances[i];
        if (i > 0 && !(config.balances[i - 1].first < owner)) return wrong("balances must ascend by key");
        if (owner == config.sequencer_node) return wrong("a node key cannot hold a balance");
        const auto minted = supply.minted.plus(balance);
        if (!minted) return wrong("the balances add up to more than the largest amount");
        supply.minted = *minted;
    }
    supply.balances = supply.minted;

    store(state, meta_key(), Meta{kSchemaVersion, config.chain_id, 0});
    set_current_params(state, config.params);
    store(state, supply_key(), supply);
    store(state, sequencer_key(),
          Sequencer{config.sequencer_owner, config.sequencer_node, config.sequencer_endpoint});
    store(state, node_key(config.sequencer_node), NodeKey{config.sequencer_owner, 0, false});
    for (const auto& [owner, balance] : config.balances)
        store(state, account_key(owner), Account{balance, 0});
    return {};
}

}  // namespace assay::contracts
