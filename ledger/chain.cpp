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
    if (usable) acknowledged = chain->height_;
    ASSAY_ASSIGN(chain->log_,
                 BlockLog::open(disk, layout.log, chain->genesis_.hash(), acknowledged, options.log));
    if (!chain->log_->note().empty()) chain->notes_.push_back(chain->log_->note());

    if (usable && chain->height_ > 0) {
        ASSAY_ASSIGN(const Block block, chain->log_->read(chain->height_));
        usable = block.header.hash() == chain->tip_ && block.header.state_root == chain->tree_.root();
        if (!usable) chain->notes_.emplace_back("the index does not agree with the block log");
    }
    if (!usable) ASSAY_TRY(chain->rebuild_index(provider));
    ASSAY_TRY(chain->replay());
    return chain;
}

// True when the index opened, belongs to this genesis and its state has the root that it claims. Then state_,
// tree_, height_ and tip_ are set from it.
Outcome<bool> Chain::load_index(KeyValueProvider& provider) {
    const auto unusable = [&](const std::string& why) -> Outcome<bool> {
        notes_.push_back(why);
        index_.reset();
        return false;
    };
    auto store = provider.open();
    if (!store) {
        if (store.error().kind == ErrorKind::kUsage) return base::failed(store.error());
        return unusable(store.error().what);
    }
    index_ = std::make_unique<Index>(std::move(store).value());
    const auto head = index_->head();
    if (!head) return unusable(head.error().what);
    if (!*head) {
        index_.reset();
        return false;  // a new ledger, or an index that somebody deleted
    }
    if ((*head)->schema != kIndexSchema) return unusable("the index has another schema");
    if ((*head)->genesis != genesis_.hash()) return unusable("the index belongs to another genesis");
    if (const auto loaded = index_->load_state(state_); !loaded) return unusable(loaded.error().what);
    tree_ = StateTree::build(state_.all());
    if (tree_.root() != (*head)->state_root) return unusable("the index holds a state with another root");
    height_ = (*head)->height;
    tip_ = (*head)->header;
    return true;
}

Outcome<void> Chain::rebuild_index(KeyValueProvider& provider) {
    index_.reset();
    ASSAY_TRY(provider.destroy());
    ASSAY_ASSIGN(auto store, provider.open());
    index_ = std::make_unique<Index>(std::move(store));
    if (log_->height() > 0)
        notes_.push_back("the index is rebuilt from " + std::to_string(log_->height()) + " blocks");

    contracts::MemoryState fresh;
    ASSAY_TRY(machine_.genesis(fresh, genesis_.chain_id, genesis_.rules));
    ASSAY_TRY(machine_.check_invariants(fresh));
    state_ = std::move(fresh);
    tree_ = StateTree::build(state_.all());
    height_ = 0;
    tip_ = genesis_.hash();
    std::map<Bytes, std::optional<Bytes>> changes;
    for (const auto& [key, value] : state_.all()) changes.emplace(key, value);
    return index_->commit(IndexHead{kIndexSchema, tip_, 0, tip_, tree_.root()}, nullptr, changes);
}

// Executes the blocks that the index does not know yet.
Outcome<void> Chain::replay() {
    while (height_ < log_->height()) {
        ASSAY_ASSIGN(const Block block, log_->read(height_ + 1));
        ASSAY_TRY(check_block(block, genesis_.chain_id, height_ + 1, tip_, genesis_.sequencer));
        std::map<Bytes, std::optional<Bytes>> changes;
        ASSAY_ASSIGN(const BlockResults results,
                     replay_block(machine_, state_, tree_, genesis_.chain_id, block, &changes));
        const Hash256 hash = block.header.hash();
        ASSAY_TRY(index_->commit(
            IndexHead{kIndexSchema, genesis_.hash(), block.header.height, hash, block.header.state_root},
            &results, changes));
        height_ = block.header.height;
        tip_ = hash;
    }
    return {};
}

Outcome<Block> Chain::block(std::uint64_t height) const {
    if (height == 0 || height > height_)
        return fail(ErrorKind::kNotFound, "there is no block " + std::to_string(height));
    return log_->read(height);
}

Outcome<BlockResults> Chain::results(std::uint64_t height) const {
    if (height == 0 || height > height_)
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
    const Position position{genesis_.chain_id, height_ + 1};
    contracts::Overlay overlay(state_);
    auto executed = execute(machine_, overlay, position, candidates, Refused::kLeaveOut);
    if (!executed) return stop(executed.error());
    Appended out;
    out.refused = std::move(executed->refused);
    if (executed->included.empty() && empty == EmptyBlock::kSkip) return out;

    StateTree::Undo undo = tree_.update(overlay.changes(), state_);
    Block block;
    block.header = Header{kBlockVersion,
                          chain_hash(genesis_.chain_id),
                          position.height,
                          tip_,
                          transactions_root(executed->included),
                          results_root(executed->results),
                          tree_.root(),
                          time_ms,
                          key.public_key()};
    block.signature = sign_header(block.header, genesis_.chain_id, key);
    block.transactions = std::move(executed->included);
    if (auto logged = log_->append(block); !logged) {
        tree_.revert(undo);
        if (log_->stopped()) return stop(logged.error());
        return base::failed(logged.error());
    }
    if (auto done = commit(block.header, executed->results, overlay); !done) return stop(done.error());
    out.block = Committed{block.header, tip_, std::move(executed->results)};
    return out;
}

// The block is durable: state and index follow.
Outcome<void> Chain::commit(const Header& header, const BlockResults& results,
                            const contracts::Overlay& overlay) {
    const Hash256 hash = header.hash();
    ASSAY_TRY(index_->commit(IndexHead{kIndexSchema, genesis_.hash(), header.height, hash, header.state_root},
                             &results, overlay.changes()));
    overlay.write_to(state_);
    height_ = header.height;
    tip_ = hash;
    return {};
}

}  // namespace assay::ledger
