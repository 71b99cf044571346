// SPDX-License-Identifier: Apache-2.0
// What a block does to the state. Making, judging and replaying a block all use this code.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/rules/state/state.hpp"
#include "ledger/application/machine.hpp"
#include "ledger/store/block.hpp"
#include "ledger/store/state_tree.hpp"

namespace assay::ledger {

/// Why the rules do not allow a block.
enum class BlockFault : std::uint8_t {
    kWrongHeight = 1,         ///< it does not follow the last block
    kRefusedTransaction = 2,  ///< it holds a transaction that the rules refuse (decision 10)
    kOverLimit = 3,           ///< its transactions together cost more than a block may hold
};
/// "wrong_height", "refused_transaction", "over_limit".
std::string_view to_text(BlockFault fault);

struct Rejection {
    BlockFault fault = BlockFault::kWrongHeight;
    std::string what;  ///< about "the block", without its height
};

/// Executes a block on `overlay`: checks the transactions' cost, runs begin_block and each transaction, and
/// checks the invariants of what they changed. REQUIRES that the invariants held under the overlay. A
/// rejected block leaves the overlay in an unspecified state. The error kVerification names a broken
/// invariant; then the program is wrong, not the block.
Outcome<base::Result<BlockResults, Rejection>> execute_block(const StateMachine& machine,
                                                             contracts::Overlay& overlay,
                                                             const Position& position,
                                                             const std::vector<Bytes>& transactions);

/// Nobody pays for a refused candidate, but finding out that it is refused costs as much as executing it. So
/// a proposal executes candidates, refused ones included, that together cost at most this many times what a
/// block may hold. Even when the refused ones cost as much as a whole block, work for a whole block is left.
inline constexpr std::uint64_t kProposalWork = 2;

/// The limits of an engine for a block, besides the rules' own limit.
struct ProposalLimits {
    std::size_t bytes = std::numeric_limits<std::size_t>::max();  ///< of its transactions
};

/// The transactions of an allowed block, with what they do.
struct Prepared {
    std::vector<Bytes> transactions;
    BlockResults results;                    ///< of `transactions`
    std::vector<TransactionResult> refused;  ///< candidates that were refused; not in the block
    /// How many candidates from the first on are in either list; the rest found no room.
    std::size_t decided = 0;
    std::uint64_t work = 0;  ///< units that the decided ones cost, at least one each
};

/// Takes candidates in their order, leaves out those that the rules refuse, and stops at the first for which
/// the block has no room or the proposal no work left (kProposalWork). Changes `overlay` as execute_block
/// does on Prepared::transactions; the same errors.
Outcome<Prepared> prepare_block(const StateMachine& machine, contracts::Overlay& overlay,
                                const Position& position, const std::vector<Bytes>& candidates,
                                const ProposalLimits& limits = {});

/// Executes a stored block again, and checks that the rules allow it, its results root and its state root.
/// Changes `state` and `tree`, or neither on an error. Fills `changes` and `history`, if not null, with what
/// the block changed and what it handed over. REQUIRES that check_block passed.
Outcome<BlockResults> replay_block(const StateMachine& machine, contracts::MemoryState& state,
                                   StateTree& tree, const std::string& chain_id, const Block& block,
                                   std::map<Bytes, std::optional<Bytes>>* changes = nullptr,
                                   contracts::History* history = nullptr);

/// The error for a block that was decided on although the rules reject it.
base::Failed<base::Error> rejected(std::uint64_t height, const Rejection& rejection);

/// Fails with kVerification when executing a block gave other roots than its header has.
Outcome<void> check_roots(const Header& header, const Hash256& results_root, const Hash256& state_root);

}  // namespace assay::ledger
