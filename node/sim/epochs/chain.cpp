// SPDX-License-Identifier: Apache-2.0
#include "node/sim/epochs/chain.hpp"

#include <algorithm>
#include <ctime>

#include "contracts/rules/market/measure.hpp"

namespace assay::node::sim {

namespace {

constexpr std::uint64_t kNoExpiry = std::uint64_t{1} << 40U;

double processor_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

MarketChain::MarketChain()
    : state_(std::make_unique<contracts::MemoryState>()),
      block_changes_(std::make_unique<contracts::Overlay>(*state_)) {}

base::Outcome<MarketChain> MarketChain::begin(std::vector<std::pair<base::PublicKey, base::Amount>> balances,
                                              const contracts::Params& params,
                                              const contracts::MarketParams& market) {
    MarketChain chain;
    contracts::GenesisConfig config;
    config.chain_id = "devnet-market";
    config.params = params;
    config.market = market;
    config.balances = std::move(balances);
    std::sort(config.balances.begin(), config.balances.end());
    const base::SecretKey owner = base::SecretKey::from_seed(base::hash("assay/sim-market/v1", {}).view());
    const base::SecretKey node =
        base::SecretKey::from_seed(base::hash("assay/sim-market/v1", owner.public_key().view()).view());
    config.validators = {{owner.public_key(), node.public_key()}};
    if (const auto made = contracts::genesis(*chain.block_changes_, config); !made)
        return base::fail(base::ErrorKind::kFailure, "the genesis of the simulated market: " + made.error(),
                          "play fewer miners or jobs; with those of the defaults it is a bug to report");
    chain.end_block();
    chain.block_ = {config.chain_id, 1};
    chain.took_ms_ = 0;
    return chain;
}

contracts::ApplyOutcome MarketChain::send(const SimKey& key, const contracts::Payload& payload) {
    std::uint64_t& nonce = nonces_[key.public_key()];
    const contracts::TxBody body{key.public_key(), nonce, kNoExpiry, payload};
    const base::Bytes bytes = contracts::sign_transaction(body, key.open(), block_.chain_id);
    const double began = processor_ms();
    auto outcome = contracts::apply_transaction(*block_changes_, block_, bytes);
    took_ms_ += processor_ms() - began;
    if (outcome.applied) {
        ++nonce;
        ++applied_;
    }
    return outcome;
}

void MarketChain::end_block() {
    const double began = processor_ms();
    if (const auto held = contracts::check_invariants(*state_, *block_changes_); !held && !violation_)
        violation_ = held.error().what;
    tree_.update(block_changes_->changes());
    block_changes_->write_to(*state_);
    block_changes_ = std::make_unique<contracts::Overlay>(*state_);
    // Nobody reads the history of jobs that ended.
    state_->take_history();
    took_ms_ += processor_ms() - began;
}

double MarketChain::advance_to(std::uint64_t height) {
    end_block();
    const double before = took_ms_;
    const double began = processor_ms();
    block_.height = height;
    contracts::begin_block(*block_changes_, block_);
    took_ms_ += processor_ms() - began;
    end_block();
    return took_ms_ - before;
}

void MarketChain::measure(const base::PublicKey& node, program::Profile profile, std::uint64_t speed) {
    contracts::note_speed(*block_changes_, node, profile, base::Uint128{speed}, 1'000);
}

base::Hash256 MarketChain::root() const {
    ledger::StateTree whole = tree_;
    whole.update(block_changes_->changes());
    return whole.root();
}

base::Outcome<void> MarketChain::check() const {
    std::optional<std::string> broken = violation_;
    if (!broken) {
        if (const auto held = contracts::check_invariants(*block_changes_); !held) broken = held.error().what;
    }
    if (!broken) return {};
    return base::fail(base::ErrorKind::kFailure, "an invariant of the state: " + *broken,
                      "this is a fault of the rules: report it with scenario, size and seed");
}

}  // namespace assay::node::sim
