// SPDX-License-Identifier: Apache-2.0
#include "node/roles/follower.hpp"

#include "ledger/block.hpp"
#include "ledger/chain.hpp"
#include "ledger/rules_machine.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

base::Outcome<Follower> Follower::create(const ledger::Genesis& genesis) {
    Follower follower;
    follower.genesis_ = genesis;
    follower.tip_ = genesis.hash();
    ASSAY_TRY(ledger::rules_machine().genesis(follower.state_, genesis.chain_id, genesis.rules));
    follower.tree_ = ledger::StateTree::build(follower.state_.all());
    return follower;
}

base::Outcome<contracts::Events> Follower::apply(base::ByteView encoded_block) {
    const auto decoded = base::decode<ledger::Block>(encoded_block);
    if (!decoded) {
        return fail(ErrorKind::kVerification, "block " + std::to_string(height_ + 1) + " does not decode: " +
                                                  std::string(base::to_text(decoded.error())));
    }
    const ledger::Block& block = *decoded;
    ASSAY_TRY(ledger::check_block(block, genesis_.chain_id, height_ + 1, tip_, genesis_.sequencer));
    ASSAY_ASSIGN(const ledger::BlockResults results,
                 ledger::replay_block(ledger::rules_machine(), state_, tree_, genesis_.chain_id, block));
    height_ = block.header.height;
    tip_ = block.header.hash();

    contracts::Events events;
    const auto collect = [&](const std::vector<base::Bytes>& encoded) {
        for (const base::Bytes& bytes : encoded) {
            if (auto event = base::decode<contracts::Event>(bytes); event.ok()) events.push_back(*event);
        }
    };
    collect(results.begin_events);
    for (const auto& transaction : results.transactions) collect(transaction.events);
    return events;
}

}  // namespace assay::node
