// SPDX-License-Identifier: Apache-2.0
// The entry points of the rules, for the ledger: genesis, the beginning of a block, a transaction, and the
// checks on the resulting state. A transaction passes three phases. The first reads only its bytes, the
// second reads the state, the third changes an overlay. The overlay is written only if it conserves money.
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

/// A validator from the first block on. Genesis registers its node key; its owner decides about its stake.
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
    /// The market's parameters are encoded only when they differ from the defaults, so that genesis files
    /// from before the market keep their meaning.
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

/// The validator set of `config`. The state keeps this set, and the genesis file must name the same one.
ValidatorSet validators_of(const GenesisConfig& config);

/// Fills an empty state. The error says what is wrong with `config`; the state is then untouched.
Result<void, std::string> genesis(State& state, const GenesisConfig& config);

struct DecodedTx {
    Hash256 id;
    TxBody body;
};

/// Checks the bytes only: sizes, canonical form, list lengths, signature. Does not read the state.
Result<DecodedTx, Reason> check_static(std::string_view chain_id, ByteView signed_tx_bytes);

/// Checks key, nonce, expiry, funds and phase against the state, read-only. `block.height` is the height at
/// which the transaction would be applied.
Result<void, Reason> check_against(const StateView& state, const BlockContext& block, const DecodedTx& tx);

/// Carries the transaction out. REQUIRES that both checks passed on this very state.
Events apply(State& state, const BlockContext& block, const DecodedTx& tx);

struct ApplyOutcome {
    bool applied = false;
    Reason reason = Reason::kNone;  ///< why not, when not applied: then the state is untouched
    Hash256 id;                     ///< zero when the bytes are no transaction
    Events events;
};

/// Runs the three phases on an overlay, then the conservation check. Writes to `state` only if all passed.
ApplyOutcome apply_transaction(State& state, const BlockContext& block, ByteView signed_tx_bytes);

/// Carries out what the height itself causes: deadlines and matured withdrawals. Before these it migrates a
/// state of an older schema (migration.hpp). Call it once per block, before the block's transactions. Except
/// for a migration, it reads only what is due at this height, and no job whose deadline is at another height.
Events begin_block(State& state, const BlockContext& block);

/// A broken invariant of the state. The cause is our bug or damage, never a user's action. The ledger halts.
struct Violation {
    std::string what;
};
/// Checks the whole state: money, references, phases, bounds. Reads every record that holds money and every
/// job.
Result<void, Violation> check_invariants(const StateView& state);
/// Checks a state after `changes`, if its invariants held before. Reads only what the changes touched,
/// however long the history is. It is stricter in one point: nothing may be minted, and no burned money may
/// come back.
Result<void, Violation> check_invariants(const StateView& before, const Overlay& changes);

/// The next height at which begin_block has something to do; nothing when no deadline is pending. While it is
/// set, an engine makes blocks, possibly empty ones.
std::optional<std::uint64_t> next_deadline(const StateView& state);

}  // namespace assay::contracts
