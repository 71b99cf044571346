// SPDX-License-Identifier: Apache-2.0
#include "ledger/chain.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

Outcome<std::unique_ptr<Chain>> Chain::open(Disk& disk, KeyValueProvider& provider,
                                            const StateMachine& machine, const std::string& home,
                                            const ChainOptions& options) {
    const Layout layout(home);
    std::unique_ptr<Chain> chain(new Chain(machine));
    ASSAY_ASSIGN(chain->genesis_, read_genesis(disk, layout.genesis));

    // The index first: it alone knows what was acknowledged, which tells a torn tail from damage.
    ASSAY_ASSIGN(bool usable, chain->load_index(provider));
    std::optional<std::uint64_t> acknowledged;
    if (usable) acknowledged = chain->now_.height;
    ASSAY_ASSIGN(chain->log_,
                 BlockLog::open(disk, layout.log, chain->genesis_.hash(), acknowledged, options.log));
    if (!chain->log_->note().empty()) chain->notes_.push_back(chain->log_->note());

    if (usable && chain->now_.height > 0) {
        ASSAY_ASSIGN(const Block block, chain->log_->read(chain->now_.height));
        usable = block.header.hash() == chain->now_.tip && block.header.state_root == chain->now_.tree.root();
        if (!usable) chain->notes_.emplace_back("the index does not agree with the block log");
    }
    if (!usable) ASSAY_TRY(chain->rebuild_index(provider));
    ASSAY_TRY(chain->replay());
    return chain;
}

// True when there is an index that can be believed. Then now_ is what it holds.
Outcome<bool> Chain::load_index(KeyValueProvider& provider) {
    ASSAY_ASSIGN(StoredState stored, load_state(provider, machine_, genesis_));
    if (!stored.fault.empty()) notes_.push_back("the index cannot be used: " + stored.fault);
    if (!stored.state) return false;
    index_ = std::move(stored.index);
    now_ = std::move(*stored.state);
    return true;
}

Outcome<void> Chain::rebuild_index(KeyValueProvider& provider) {
    index_.reset();
    if (log_->height() > 0)
        notes_.push_back("the index is rebuilt from " + std::to_string(log_->height()) + " blocks");
    ASSAY_ASSIGN(now_, genesis_state(machine_, genesis_));
    ASSAY_ASSIGN(index_, store_anew(provider, now_, genesis_));
    return {};
}

// Executes the blocks that the index does not know yet.
Outcome<void> Chain::replay() {
    while (now_.height < log_->height()) {
        ASSAY_ASSIGN(const Block block, log_->read(now_.height + 1));
        ASSAY_TRY(check_block(block, genesis_.chain_id, now_.height + 1, now_.tip, genesis_.sequencer));
        std::map<Bytes, std::optional<Bytes>> changes;
        ASSAY_ASSIGN(const BlockResults results,
                     replay_block(machine_, now_.state, now_.tree, genesis_.chain_id, block, &changes));
        now_.height = block.header.height;
        now_.tip = block.header.hash();
        ASSAY_TRY(index_->commit(now_.head(genesis_.hash()), &results, changes));
    }
    return {};
}

Outcome<Block> Chain::block(std::uint64_t height) const {
    if (height == 0 || height > now_.height)
        return fail(ErrorKind::kNotFound, "there is no block " + std::to_string(height));
    return log_->read(height);
}

Outcome<BlockResults> Chain::results(std::uint64_t height) const {
    if (height == 0 || height > now_.height)
        return fail(ErrorKind::kNotFound, "there is no block " + std::to_string(height));
    ASSAY_ASSIGN(auto found, index_->results(height));
    if (!found) {
        return fail(ErrorKind::kVerification,
                    "index: the results of block " + std::to_string(height) + " are missing",
                    "delete the index directory and start the node again");
    }
    return *std::move(found);
}

Outcome<std::optional<TransactionPlace>> Chain::find(const Hash256& transaction) const {
    return index_->find(transaction);
}

base::Failed<base::Error> Chain::stop(const base::Error& cause) {
    stopped_ = true;
    return base::failed(cause);
}

Outcome<Appended> Chain::append(const std::vector<Bytes>& candidates, EmptyBlock empty, std::uint64_t time_ms,
                                const base::SecretKey& key) {
    if (stopped_) {
        return fail(ErrorKind::kFailure, "the ledger stopped after an earlier failure",
                    "start the node again: it keeps every acknowledged block");
    }
    ASSAY_CHECK(key.public_key() == genesis_.sequencer);
    const Position position{genesis_.chain_id, now_.height + 1};
    contracts::Overlay overlay(now_.state);
    auto executed = execute(machine_, overlay, position, candidates, Refused::kLeaveOut);
    if (!executed) return stop(executed.error());
    Appended out;
    out.refused = std::move(executed->refused);
    if (executed->included.empty() && empty == EmptyBlock::kSkip) return out;

    StateTree::Undo undo = now_.tree.update(overlay.changes(), now_.state);
    Block block;
    block.header = Header{kBlockVersion,
                          chain_hash(genesis_.chain_id),
                          position.height,
                          now_.tip,
                          transactions_root(executed->included),
                          results_root(executed->results),
                          now_.tree.root(),
                          time_ms,
                          key.public_key()};
    block.signature = sign_header(block.header, genesis_.chain_id, key);
    block.transactions = std::move(executed->included);
    if (auto logged = log_->append(block); !logged) {
        now_.tree.revert(undo);
        if (log_->stopped()) return stop(logged.error());
        return base::failed(logged.error());
    }
    if (auto done = commit(block.header, executed->results, overlay); !done) return stop(done.error());
    out.block = Committed{block.header, now_.tip, std::move(executed->results)};
    return out;
}

// The block is durable: state and index follow.
Outcome<void> Chain::commit(const Header& header, const BlockResults& results,
                            const contracts::Overlay& overlay) {
    const Hash256 hash = header.hash();
    ASSAY_TRY(index_->commit(IndexHead{kIndexSchema, genesis_.hash(), header.height, hash, header.state_root},
                             &results, overlay.changes()));
    overlay.write_to(now_.state);
    now_.height = header.height;
    now_.tip = hash;
    return {};
}

}  // namespace assay::ledger
