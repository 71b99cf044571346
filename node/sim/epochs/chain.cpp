// SPDX-License-Identifier: Apache-2.0
#include "node/sim/epochs/chain.hpp"

#include <algorithm>
#include <chrono>

#include "contracts/rules/market/measure.hpp"

namespace assay::node::sim {

namespace {

constexpr std::uint64_t kNoExpiry = std::uint64_t{1} << 40U;

}  // namespace

base::Outcome<MarketChain> MarketChain::begin(std::vector<std::pair<base::PublicKey, base::Amount>> balances,
                                              const contracts::MarketParams& market) {
    MarketChain chain;
    contracts::GenesisConfig config;
    config.chain_id = "devnet-market";
    config.market = market;
    config.balances = std::move(balances);
    std::sort(config.balances.begin(), config.balances.end());
    const base::SecretKey owner = base::SecretKey::from_seed(base::hash("assay/sim-market/v1", {}).view());
    const base::SecretKey node =
        base::SecretKey::from_seed(base::hash("assay/sim-market/v1", owner.public_key().view()).view());
    config.validators = {{owner.public_key(), node.public_key()}};
    if (const auto made = contracts::genesis(chain.state_, config); !made)
        return base::fail(base::ErrorKind::kFailure, "the genesis of the simulated market: " + made.error(),
                          "play fewer miners or jobs; with those of the defaults it is a bug to report");
    chain.block_ = {config.chain_id, 1};
    return chain;
}

contracts::ApplyOutcome MarketChain::send(const SimKey& key, const contracts::Payload& payload) {
    std::uint64_t& nonce = nonces_[key.public_key()];
    const contracts::TxBody body{key.public_key(), nonce, kNoExpiry, payload};
    auto outcome = contracts::apply_transaction(
        state_, block_, contracts::sign_transaction(body, key.open(), block_.chain_id));
    if (outcome.applied) {
        ++nonce;
        ++applied_;
    }
    return outcome;
}

double MarketChain::advance_to(std::uint64_t height) {
    const auto began = std::chrono::steady_clock::now();
    block_.height = height;
    contracts::begin_block(state_, block_);
    // Nobody reads the history of jobs that ended.
    state_.take_history();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

void MarketChain::measure(const base::PublicKey& node, program::Profile profile, std::uint64_t speed) {
    contracts::note_speed(state_, node, profile, base::Uint128{speed}, 1'000);
}

base::Outcome<void> MarketChain::check() const {
    const auto checked = contracts::check_invariants(state_);
    if (checked) return {};
    return base::fail(base::ErrorKind::kFailure, "an invariant of the state: " + checked.error().what,
                      "a bug of the rules: report it with the flags and the seed of this run");
}

}  // namespace assay::node::sim
