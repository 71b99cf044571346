// SPDX-License-Identifier: Apache-2.0
// Gives the ledger its way into the rules: genesis, the beginning of a block, a transaction, and the
// checks on the result. A transaction goes through three phases: its bytes alone, then against the state
// read-only, then it mutates an overlay. Only an overlay that conserves money is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contracts/rules/market/params.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/state.hpp"
#include "contracts/rules/state/validators.hpp"
#include "contracts/rules/state/work.hpp"
#include "contracts/rules/transactions.hpp"

namespace assay::contracts {

/// Who makes blocks from the first one on. Its node key is registered, and its owner decides about its stake.
struct GenesisValidator {
    PublicKey owner;
    PublicKey node;
    std::uint64_t power = 1;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.owner, self.node, self.power);
    }
};

struct GenesisConfig {
    std::string chain_id;  ///< 1 to kMaxChainIdBytes bytes
    Params params;
    std::vector<std::pair<PublicKey, Amount>> balances;  ///< minted; keys ascending
    std::vector<GenesisValidator> validators;            ///< node keys ascending
    MarketParams market;
    /// The market's parameters are written only where they are not the defaults, so that genesis files from
    /// before the market mean what they meant.
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.chain_id, self.params, self.balances, self.validators);
        if constexpr (std::is_const_v<Self>) {
            if (self.market != MarketParams{}) visit(self.market);
        } else if (!visit.error() && !visit.rest().empty()) {
            visit(self.market);
            if (self.market == MarketParams{}) visit.refuse(base::DecodeError::kBadEnum);
        }
    }
};

/// The set that the state keeps and that the genesis file must name as well.
ValidatorSet validators_of(const GenesisConfig& config);

/// Fills an empty state. The error names what is wrong with `config`; the state is then untouched.
Result<void, std::string> genesis(State& state, const GenesisConfig& config);

struct DecodedTx {
    Hash256 id;
    TxBody body;
};

/// Bytes only: sizes, canonical form, list lengths, signature. Costs no look at the state.
Result<DecodedTx, Reason> check_static(std::string_view chain_id, ByteView signed_tx_bytes);

/// Read-only: key, nonce, expiry, funds, phase. `block.height` is the height it would be applied at.
Result<void, Reason> check_against(const StateView& state, const BlockContext& block, const DecodedTx& tx);

/// Carries it out. REQUIRES that both checks passed on this very state.
Events apply(State& state, const BlockContext& block, const DecodedTx& tx);

struct ApplyOutcome {
    bool applied = false;
    Reason reason = Reason::kNone;  ///< why not, when not applied: then the state is untouched
    Hash256 id;                     ///< zero when the bytes are no transaction
    Events events;
};

/// The three phases, an overlay, and the conservation check; written to `state` only when all passed.
ApplyOutcome apply_transaction(State& state, const BlockContext& block, ByteView signed_tx_bytes);

/// What the height itself causes: deadlines, matured withdrawals; before all that, the migration of a state
/// of an older schema (migration.hpp). Call once per block, before its transactions. But for a migration,
/// it reads what is due at this height, and no job whose deadline lies elsewhere.
Events begin_block(State& state, const BlockContext& block);

/// A rule of the state that does not hold: our bug or damage, never a user's doing. The ledger halts.
struct Violation {
    std::string what;
};
/// The whole state: money, references, phases, bounds. Reads every record that holds money and every job.
Result<void, Violation> check_invariants(const StateView& state);
/// The same after `changes` to a state of which it held: reads what the changes touched and no more, however
/// long the history. Stricter in one thing: nothing is minted and nothing burned comes back.
Result<void, Violation> check_invariants(const StateView& before, const Overlay& changes);

/// The height whose begin_block next has something to do; nothing when no deadline is pending. An engine
/// makes (possibly empty) blocks while this is set.
std::optional<std::uint64_t> next_deadline(const StateView& state);

}  // namespace assay::contracts
