// SPDX-License-Identifier: Apache-2.0
// StateMachine is the interface of the rules that engines need. RulesMachine (rules_machine.hpp) implements
// it with contracts/rules; tests implement it with a counter. Every function is a pure function of its
// arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/rules/state/reasons.hpp"
#include "contracts/rules/state/state.hpp"
#include "ledger/store/block.hpp"
#include "ledger/store/genesis.hpp"

namespace assay::ledger {

/// The chain and height of a block: all that the rules may know about their surroundings.
struct Position {
    std::string chain_id;
    std::uint64_t height = 0;  ///< of the block being made; the first is 1
};

/// What a transaction states about itself, with its signature checked.
struct TransactionInfo {
    Hash256 id;
    PublicKey sender;  ///< the account whose nonce it uses
    std::uint64_t nonce = 0;
};

class StateMachine {
public:
    virtual ~StateMachine() = default;

    /// Checks that this process executes the rules as everyone else does. Called when a ledger or a stored
    /// state is opened. The error kPreflight names what differs and what to do.
    [[nodiscard]] virtual Outcome<void> check_machine() const { return {}; }
    /// Checks the part of it that may change while the process runs, for the calling thread. Called before
    /// and after a block's transactions, and before any result of them is voted for or stored.
    [[nodiscard]] virtual Outcome<void> check_thread() const { return {}; }

    /// Fills an empty state from the genesis file: chain id, validators, and the encoded configuration of the
    /// rules, which must agree with them.
    virtual Outcome<void> genesis(contracts::State& state, const Genesis& genesis) const = 0;

    /// Checks form and signature only. The error is the rule that refused it.
    virtual base::Result<TransactionInfo, contracts::Reason> inspect(const std::string& chain_id,
                                                                     ByteView transaction) const = 0;

    /// The cost of executing a transaction, in units, only from its bytes. Accepts any bytes.
    virtual std::uint64_t cost(ByteView transaction) const = 0;
    /// The units that the transactions of one block may cost together.
    virtual std::uint64_t block_limit() const = 0;

    /// The nonce that the next transaction of `sender` must carry. Fails with kUnknownSender when the state
    /// does not know the sender, so that no transaction of it could be applied.
    virtual base::Result<std::uint64_t, contracts::Reason> next_nonce(const contracts::StateView& state,
                                                                      const PublicKey& sender) const = 0;

    /// Does everything that happens only because of the height. Returns encoded events.
    virtual std::vector<Bytes> begin_block(contracts::State& state, const Position& position) const = 0;

    /// Applies one transaction; a refused one (code not 0) leaves the state as it was.
    virtual TransactionResult apply(contracts::State& state, const Position& position,
                                    ByteView transaction) const = 0;

    /// Checks that this program can go on from `state`, which another version may have written. Called once,
    /// when a stored state is opened, before anything else is read from it. The error names both versions.
    virtual Outcome<void> check_schema(const contracts::StateView& state) const = 0;

    /// Checks the invariants of the whole state. Called when a ledger or a stored state is opened, and by
    /// audits after every block. The error names the broken invariant.
    virtual Outcome<void> check_invariants(const contracts::StateView& state) const = 0;

    /// Checks the same for the state after `changes`, if it held for the state under them. Called for every
    /// block in production. The cost depends on what the changes touch, not on the size of the state.
    virtual Outcome<void> check_changes(const contracts::Overlay& changes) const = 0;

    /// The next height at which begin_block has something to do, if any: engines make empty blocks up to it.
    virtual std::optional<std::uint64_t> next_deadline(const contracts::StateView& state) const = 0;
};

}  // namespace assay::ledger
