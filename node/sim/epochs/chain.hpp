// SPDX-License-Identifier: Apache-2.0
// Gives the simulator of the market MarketChain, a ledger in memory with the real rules, signed transactions
// and the state's tree. It skips heights at which nothing is due.
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
                                            const contracts::Params& params,
                                            const contracts::MarketParams& market);

    [[nodiscard]] const contracts::StateView& state() const { return *block_changes_; }
    [[nodiscard]] std::uint64_t height() const { return block_.height; }
    [[nodiscard]] const std::string& chain_id() const { return block_.chain_id; }

    /// Signs the payload and gives it to the rules as bytes. The outcome says why when it is refused.
    contracts::ApplyOutcome send(const SimKey& key, const contracts::Payload& payload);
    /// Moves to `height` and carries out what is due up to there. Returns the milliseconds of processor time
    /// that this took, including the supply's invariants and the tree of the changes.
    double advance_to(std::uint64_t height);
    /// Sets the speed that earlier rounds would have measured, since the simulation has no rounds.
    void measure(const base::PublicKey& node, program::Profile profile, std::uint64_t speed);

    /// Milliseconds of processor time that the chain has taken so far: transactions with the check of their
    /// signatures, what was due, and the tree. Signing is not included; it is the sender's work.
    [[nodiscard]] double took_ms() const { return took_ms_; }
    /// Root of all records.
    [[nodiscard]] base::Hash256 root() const;
    /// Number of applied transactions.
    [[nodiscard]] std::uint64_t transactions() const { return applied_; }
    /// Whether the invariants held in every block, and hold for every record now.
    [[nodiscard]] base::Outcome<void> check() const;

private:
    MarketChain();
    /// Adds the changes since the last block to the state and its tree.
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
