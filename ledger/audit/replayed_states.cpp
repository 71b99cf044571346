// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/replayed_states.hpp"

#include "ledger/application/execute.hpp"
#include "ledger/application/verified_state.hpp"

namespace assay::ledger {

Outcome<void> visit_states(const StateMachine& machine, const Genesis& genesis, const BlockReader& read,
                           std::uint64_t last, const StateVisitor& visit) {
    ASSAY_TRY(machine.check_machine());
    ASSAY_ASSIGN(VerifiedState now, genesis_state(machine, genesis));
    while (now.height < last) {
        const Position position{genesis.chain_id, now.height + 1};
        ASSAY_ASSIGN(const Block block, read(position.height));
        ASSAY_TRY(check_block(block, genesis.chain_id, position.height, now.tip, genesis.validators));
        ASSAY_TRY(visit(now.state, position));
        ASSAY_TRY(replay_block(machine, now.state, now.tree, genesis.chain_id, block));
        now.height = position.height;
        now.tip = block.header.hash();
    }
    return visit(now.state, {genesis.chain_id, now.height + 1});
}

}  // namespace assay::ledger
