// SPDX-License-Identifier: Apache-2.0
// Gives engines StateMachine, what they need of the rules and nothing else. RulesMachine
// (rules_machine.hpp) binds it to contracts/rules; tests bind it to a counter. Every function is a pure
// function of its arguments.
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

/// Where a block stands: all that rules may know of their surroundings.
struct Position {
    std::string chain_id;
    std::uint64_t height = 0;  ///< of the block being made; the first is 1
};

/// What a transaction says about itself, signature checked.
struct TransactionInfo {
    Hash256 id;
    PublicKey sender;  ///< the account whose nonce it uses
    std::uint64_t nonce = 0;
};

class StateMachine {
public:
    virtual ~StateMachine() = default;

    /// Whether this process can execute the rules as everybody does: asked when a ledger or a stored state is
    /// opened. kPreflight names what differs and what to do.
    [[nodiscard]] virtual Outcome<void> check_machine() const { return {}; }
    /// The part of it that may change while the process runs, of the calling thread: asked before a block's
    /// transactions and behind them, before anything of them is voted for or stored.
    [[nodiscard]] virtual Outcome<void> check_thread() const { return {}; }

    /// Fills an empty state from what the genesis file says: chain id, validators, and the encoded
    /// configuration of the rules, which must agree with them.
    virtual Outcome<void> genesis(contracts::State& state, const Genesis& genesis) const = 0;

    /// Checks form and signature only. The error is the rule that refused it.
    virtual base::Result<TransactionInfo, contracts::Reason> inspect(const std::string& chain_id,
                                                                     ByteView transaction) const = 0;

    /// What executing a transaction costs, in units, from its bytes alone; of any bytes.
    virtual std::uint64_t cost(ByteView transaction) const = 0;
    /// The units that the transactions of one block may cost together.
    virtual std::uint64_t block_limit() const = 0;

    /// The nonce that the next transaction of `sender` must carry. The error is kUnknownSender when the state
    /// knows no such sender: no transaction of it could be applied.
    virtual base::Result<std::uint64_t, contracts::Reason> next_nonce(const contracts::StateView& state,
                                                                      const PublicKey& sender) const = 0;

    /// Everything that happens because of the height alone. Returns encoded events.
    virtual std::vector<Bytes> begin_block(contracts::State& state, const Position& position) const = 0;

    /// Applies one transaction; a refused one (code not 0) leaves the state as it was.
    virtual TransactionResult apply(contracts::State& state, const Position& position,
                                    ByteView transaction) const = 0;

    /// Whether this program can go on from `state`, which another version may have written. Asked once, when
    /// a stored state is opened and before anything else is read of it. The error names both versions.
    virtual Outcome<void> check_schema(const contracts::StateView& state) const = 0;

    /// The whole state; checked when a ledger or a stored state is opened, and by audits after every block.
    /// The error names the broken invariant.
    virtual Outcome<void> check_invariants(const contracts::StateView& state) const = 0;

    /// The same of the state after `changes`, given that it held of the state under them; checked on every
    /// block in production. Costs what the changes touch, not what the state holds.
    virtual Outcome<void> check_changes(const contracts::Overlay& changes) const = 0;

    /// The next height at which begin_block has something to do, if any: engines make empty blocks up to it.
    virtual std::optional<std::uint64_t> next_deadline(const contracts::StateView& state) const = 0;
};

}  // namespace assay::ledger
