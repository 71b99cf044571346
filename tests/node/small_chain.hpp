// SPDX-License-Identifier: Apache-2.0
// A chain with the real rules and people whose keys follow from their names. For tests of what stands on it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/store/genesis.hpp"

namespace assay::test {

inline constexpr const char* kChainId = "small-chain";

inline base::SecretKey key_of(const std::string& name) {
    return base::SecretKey::from_seed(base::hash("test/seed", base::as_bytes(name)).view());
}

inline base::Amount tokens(std::uint64_t count) {
    return base::Amount::of(count * base::kUnitsPerToken).value();
}

/// "alice" and "bob" own 1000 tokens each; "sequencer" makes the blocks.
inline ledger::Genesis small_genesis(const std::string& chain_id = kChainId) {
    contracts::GenesisConfig config;
    config.chain_id = chain_id;
    for (const char* name : {"alice", "bob"}) {
        config.balances.emplace_back(key_of(name).public_key(), tokens(1000));
    }
    std::sort(config.balances.begin(), config.balances.end());
    config.validators = {{key_of("sequencer-owner").public_key(), key_of("sequencer").public_key()}};
    return {
        .chain_id = chain_id, .validators = contracts::validators_of(config), .rules = base::encode(config)};
}

inline base::Bytes signed_by(const base::SecretKey& key, std::uint64_t nonce, contracts::Payload payload,
                             const std::string& chain_id = kChainId) {
    const contracts::TxBody body{
        .sender = key.public_key(), .nonce = nonce, .expiry = 1'000'000, .payload = std::move(payload)};
    return contracts::sign_transaction(body, key, chain_id);
}

/// Alice sends Bob some tokens.
inline base::Bytes transfer(std::uint64_t nonce, std::uint64_t count = 1) {
    return signed_by(key_of("alice"), nonce,
                     contracts::Transfer{.to = key_of("bob").public_key(), .amount = tokens(count)});
}

}  // namespace assay::test
