// SPDX-License-Identifier: Apache-2.0
// Gives the simulator of the market a ledger in memory: the real rules, signed transactions, the state's
// tree, heights that are jumped over where nothing is due.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/rules/apply.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/store/state_tree.hpp"
#include "node/sim/epochs/sim_key.hpp"

namespace assay::node::sim {

class MarketChain {
public:
    /// kFailure when the rules refuse the genesis.
    static base::Outcome<MarketChain> begin(std::vector<std::pair<base::PublicKey, base::Amount>> balances,
                                            const contracts::MarketParams& market);

    [[nodiscard]] const contracts::StateView& state() const { return *block_changes_; }
    [[nodiscard]] std::uint64_t height() const { return block_.height; }
    [[nodiscard]] const std::string& chain_id() const { return block_.chain_id; }

    /// Signs, and hands it to the rules as bytes. Says why where it is refused.
    contracts::ApplyOutcome send(const SimKey& key, const contracts::Payload& payload);
    /// Stands at `height`, and carries out what is due up to there. Returns the milliseconds of the processor
    /// that this took, with the invariants of the supply and the tree of what it changed.
    double advance_to(std::uint64_t height);
    /// The speed that rounds before the simulation would have shown: there are no rounds in it.
    void measure(const base::PublicKey& node, program::Profile profile, std::uint64_t speed);

    /// Milliseconds of the processor that the chain has taken so far: transactions with the check of their
    /// signatures, what was due, and the tree. Signing belongs to who sends.
    [[nodiscard]] double took_ms() const { return took_ms_; }
    /// Of all records.
    [[nodiscard]] base::Hash256 root() const;
    /// That were applied.
    [[nodiscard]] std::uint64_t transactions() const { return applied_; }
    /// Whether the invariants held in every block, and hold for every record now.
    [[nodiscard]] base::Outcome<void> check() const;

private:
    MarketChain();
    /// What was changed since the last block becomes a part of the state and of its tree.
    void end_block();

    std::unique_ptr<contracts::MemoryState> state_;  ///< behind a pointer: the overlay refers to it
    std::unique_ptr<contracts::Overlay> block_changes_;
    ledger::StateTree tree_;
    contracts::BlockContext block_;
    double took_ms_ = 0;
    std::optional<std::string> violation_;  ///< the first
    std::map<base::PublicKey, std::uint64_t> nonces_;
    std::uint64_t applied_ = 0;
};

}  // namespace assay::node::sim
