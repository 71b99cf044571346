// SPDX-License-Identifier: Apache-2.0
// Executing a block: the same code when it is proposed, when the index is rebuilt, and in an audit.
#include "ledger/chain.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

Outcome<Execution> execute(const StateMachine& machine, contracts::Overlay& overlay, const Position& position,
                           const std::vector<Bytes>& transactions, Refused refused) {
    Execution out;
    out.results.height = position.height;
    out.results.begin_events = machine.begin_block(overlay, position);
    for (const Bytes& transaction : transactions) {
        TransactionResult result = machine.apply(overlay, position, transaction);
        if (result.code != 0 && refused == Refused::kForbid) {
            // Nobody pays for it, so a sequencer that may write one down may fill every disk with them.
            return fail(
                ErrorKind::kVerification,
                "block " + std::to_string(position.height) + ": transaction " +
                    std::to_string(out.included.size()) + " is one that the rules refuse (" + result.reason +
                    "): refused transactions enter no block",
                "its sequencer breaks the rules: keep the block as evidence and follow it no further");
        }
        if (result.code != 0) {
            out.refused.push_back(std::move(result));
            continue;
        }
        out.included.push_back(transaction);
        out.results.transactions.push_back(std::move(result));
    }
    if (const auto held = machine.check_changes(overlay); !held) {
        return fail(ErrorKind::kVerification,
                    "block " + std::to_string(position.height) + ": " + held.error().what,
                    "keep the ledger directory as it is and report this: the node must not go on");
    }
    return out;
}

Outcome<BlockResults> replay_block(const StateMachine& machine, contracts::MemoryState& state,
                                   StateTree& tree, const std::string& chain_id, const Block& block,
                                   std::map<Bytes, std::optional<Bytes>>* changes) {
    const Header& header = block.header;
    const auto wrong = [&](const std::string& what) {
        return fail(
            ErrorKind::kVerification, "block " + std::to_string(header.height) + ": " + what,
            "check that this program is the version that made the ledger; else restore it from a backup");
    };
    contracts::Overlay overlay(state);
    ASSAY_ASSIGN(Execution executed, execute(machine, overlay, Position{chain_id, header.height},
                                             block.transactions, Refused::kForbid));
    if (results_root(executed.results) != header.results_root)
        return wrong("executing it again gives other results than its header commits to");
    tree.update(overlay.changes(), state);
    if (tree.root() != header.state_root)
        return wrong("executing it again gives another state than its header commits to");
    if (changes != nullptr) *changes = overlay.changes();
    overlay.write_to(state);
    return std::move(executed.results);
}

}  // namespace assay::ledger
