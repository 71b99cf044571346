// SPDX-License-Identifier: Apache-2.0
// Gives the simulator of the market a ledger in memory: the real rules, signed transactions, heights that are
// jumped over where nothing is due.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/rules/apply.hpp"
#include "contracts/rules/tables.hpp"
#include "node/sim/epochs/sim_key.hpp"

namespace assay::node::sim {

class MarketChain {
public:
    /// kFailure when the rules refuse the genesis.
    static base::Outcome<MarketChain> begin(std::vector<std::pair<base::PublicKey, base::Amount>> balances,
                                            const contracts::MarketParams& market);

    [[nodiscard]] const contracts::StateView& state() const { return state_; }
    [[nodiscard]] std::uint64_t height() const { return block_.height; }
    [[nodiscard]] const std::string& chain_id() const { return block_.chain_id; }

    /// Signs, and hands it to the rules as bytes. Says why where it is refused.
    contracts::ApplyOutcome send(const SimKey& key, const contracts::Payload& payload);
    /// Stands at `height`, and carries out what is due up to there. Returns the milliseconds that this took.
    double advance_to(std::uint64_t height);
    /// The speed that rounds before the simulation would have shown: there are no rounds in it.
    void measure(const base::PublicKey& node, program::Profile profile, std::uint64_t speed);

    /// That were applied.
    [[nodiscard]] std::uint64_t transactions() const { return applied_; }
    /// Whether the invariants hold that every record of the state is held to.
    [[nodiscard]] base::Outcome<void> check() const;

private:
    contracts::MemoryState state_;
    contracts::BlockContext block_;
    std::map<base::PublicKey, std::uint64_t> nonces_;
    std::uint64_t applied_ = 0;
};

}  // namespace assay::node::sim
