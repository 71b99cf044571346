// SPDX-License-Identifier: Apache-2.0
#include "ledger/application/execute.hpp"

#include <algorithm>

namespace assay::ledger {

using base::ErrorKind;
using base::fail;
using contracts::Reason;

namespace {

Outcome<void> check_changes(const StateMachine& machine, const contracts::Overlay& overlay,
                            std::uint64_t height) {
    const auto held = machine.check_changes(overlay);
    if (held) return {};
    return fail(ErrorKind::kVerification, "block " + std::to_string(height) + ": " + held.error().what,
                "keep the ledger directory as it is and report this: the node must not go on");
}

// Fits, or would fit an empty block, or no block at all.
enum class Room : std::uint8_t { kFits, kLater, kNever };

/// What a proposal has taken of what a block may hold, and what making it has cost.
class Budget {
public:
    Budget(std::uint64_t units, std::size_t bytes) : units_(units), bytes_(bytes) {
        for (std::uint64_t i = 0; i < kProposalWork; ++i)
            work_left_ += std::min(units, std::numeric_limits<std::uint64_t>::max() - work_left_);
    }

    /// Takes what there is room for.
    Room take(std::uint64_t units, std::size_t bytes) {
        // What no block holds is not executed, and still read and named.
        const bool never = units > units_ || bytes > bytes_;
        const std::uint64_t work = std::max<std::uint64_t>(std::min(units, units_), 1);
        if (work > work_left_) return Room::kLater;
        if (!never && (units > units_ - used_units_ || bytes > bytes_ - used_bytes_)) return Room::kLater;
        work_left_ -= work;
        work_ += work;
        if (never) return Room::kNever;
        used_units_ += units;
        used_bytes_ += bytes;
        return Room::kFits;
    }
    /// The block holds it after all not; the work that found that out is done.
    void give_back(std::uint64_t units, std::size_t bytes) {
        used_units_ -= units;
        used_bytes_ -= bytes;
    }
    [[nodiscard]] bool holds_units(std::uint64_t units) const { return units <= units_; }
    [[nodiscard]] std::uint64_t work() const { return work_; }

private:
    std::uint64_t units_, used_units_ = 0;
    std::size_t bytes_, used_bytes_ = 0;
    std::uint64_t work_ = 0, work_left_ = 0;
};

TransactionResult too_much(const StateMachine& machine, const std::string& chain_id, const Bytes& transaction,
                           Reason reason) {
    const auto info = machine.inspect(chain_id, transaction);
    return {info ? info->id : base::hash("assay/malformed", transaction),
            static_cast<std::uint16_t>(reason),
            std::string(contracts::to_text(reason)),
            {}};
}

std::optional<Rejection> check_cost(const StateMachine& machine, const std::vector<Bytes>& transactions) {
    const std::uint64_t limit = machine.block_limit();
    std::uint64_t cost = 0;
    for (std::size_t i = 0; i < transactions.size(); ++i) {
        const std::uint64_t units = machine.cost(transactions[i]);
        if (units > limit - cost) {
            return Rejection{BlockFault::kOverLimit, "its transactions up to the one at " +
                                                         std::to_string(i) + " cost more than the " +
                                                         std::to_string(limit) +
                                                         " units that a block may hold"};
        }
        cost += units;
    }
    return std::nullopt;
}

}  // namespace

std::string_view to_text(BlockFault fault) {
    switch (fault) {
        case BlockFault::kWrongHeight: return "wrong_height";
        case BlockFault::kRefusedTransaction: return "refused_transaction";
        case BlockFault::kOverLimit: return "over_limit";
    }
    return "unknown";
}

Outcome<base::Result<BlockResults, Rejection>> execute_block(const StateMachine& machine,
                                                             contracts::Overlay& overlay,
                                                             const Position& position,
                                                             const std::vector<Bytes>& transactions) {
    using Ran = base::Result<BlockResults, Rejection>;
    // Before anything is executed: a block that is too dear costs its judges nothing.
    if (auto over = check_cost(machine, transactions)) return Ran(base::failed(*std::move(over)));
    ASSAY_TRY(machine.check_thread());
    BlockResults results{position.height, machine.begin_block(overlay, position), {}};
    for (const Bytes& transaction : transactions) {
        TransactionResult result = machine.apply(overlay, position, transaction);
        if (result.code != 0) {
            ASSAY_TRY(machine.check_thread());  // it accuses the proposer of nothing that was this machine's
            // Nobody pays for it, so a proposer that may write one down may fill every disk with them.
            return Ran(base::failed(Rejection{BlockFault::kRefusedTransaction,
                                              "transaction " + std::to_string(results.transactions.size()) +
                                                  " is one that the rules refuse (" + result.reason +
                                                  "): refused transactions enter no block"}));
        }
        results.transactions.push_back(std::move(result));
    }
    ASSAY_TRY(machine.check_thread());
    ASSAY_TRY(check_changes(machine, overlay, position.height));
    return Ran(std::move(results));
}

Outcome<Prepared> prepare_block(const StateMachine& machine, contracts::Overlay& overlay,
                                const Position& position, const std::vector<Bytes>& candidates,
                                const ProposalLimits& limits) {
    ASSAY_TRY(machine.check_thread());
    Prepared out;
    out.results = {position.height, machine.begin_block(overlay, position), {}};
    Budget budget(machine.block_limit(), limits.bytes);
    for (const Bytes& candidate : candidates) {
        const std::uint64_t units = machine.cost(candidate);
        const Room room = budget.take(units, candidate.size());
        if (room == Room::kLater) break;
        ++out.decided;
        if (room == Room::kNever) {
            const Reason reason = budget.holds_units(units) ? Reason::kTooLarge : Reason::kTooCostly;
            out.refused.push_back(too_much(machine, position.chain_id, candidate, reason));
            continue;
        }
        TransactionResult result = machine.apply(overlay, position, candidate);
        if (result.code != 0) {
            budget.give_back(units, candidate.size());
            out.refused.push_back(std::move(result));
            continue;
        }
        out.transactions.push_back(candidate);
        out.results.transactions.push_back(std::move(result));
    }
    out.work = budget.work();
    ASSAY_TRY(machine.check_thread());
    ASSAY_TRY(check_changes(machine, overlay, position.height));
    return out;
}

base::Failed<base::Error> rejected(std::uint64_t height, const Rejection& rejection) {
    return fail(ErrorKind::kVerification, "block " + std::to_string(height) + ": " + rejection.what,
                "its proposer breaks the rules: keep the block as evidence and follow it no further");
}

Outcome<void> check_roots(const Header& header, const Hash256& results_root, const Hash256& state_root) {
    const auto wrong = [&](const std::string& what) {
        return fail(
            ErrorKind::kVerification, "block " + std::to_string(header.height) + ": " + what,
            "check that this program is the version that made the ledger; else restore it from a backup");
    };
    if (results_root != header.results_root)
        return wrong("executing it again gives other results than its header commits to");
    if (state_root != header.state_root)
        return wrong("executing it again gives another state than its header commits to");
    return {};
}

Outcome<BlockResults> replay_block(const StateMachine& machine, contracts::MemoryState& state,
                                   StateTree& tree, const std::string& chain_id, const Block& block,
                                   std::map<Bytes, std::optional<Bytes>>* changes,
                                   contracts::History* history) {
    const Header& header = block.header;
    contracts::Overlay overlay(state);
    ASSAY_ASSIGN(auto executed,
                 execute_block(machine, overlay, Position{chain_id, header.height}, block.transactions));
    if (!executed) return rejected(header.height, executed.error());
    const StateTree::Undo undo = tree.update(overlay.changes());
    if (const auto fits = check_roots(header, results_root(*executed), tree.root()); !fits) {
        tree.revert(undo);
        return base::failed(fits.error());
    }
    if (changes != nullptr) *changes = overlay.changes();
    if (history != nullptr) *history = overlay.history();
    overlay.write_to(state);
    return *std::move(executed);
}

}  // namespace assay::ledger
