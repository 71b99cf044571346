// SPDX-License-Identifier: Apache-2.0
#include "ledger/application/application.hpp"

#include <utility>

namespace assay::ledger {

using base::ErrorKind;
using base::fail;
using contracts::Reason;

Outcome<std::unique_ptr<Application>> Application::open(KeyValueProvider& store, const StateMachine& machine,
                                                        const Genesis& genesis) {
    std::unique_ptr<Application> application(new Application(store, machine, genesis));
    ASSAY_ASSIGN(StoredState stored, load_state(store, machine, genesis));
    if (!stored.fault.empty()) {
        application->notes_.push_back("the index cannot be used: " + stored.fault);
        application->stored_ = Stored::kUnusable;
    }
    if (stored.state) {
        application->stored_ = Stored::kState;
        application->index_ = std::move(stored.index);
        application->now_ = std::move(*stored.state);
        application->app_hash_ = application->now_.tree.root();
    }
    return application;
}

Outcome<void> Application::discard() {
    index_.reset();
    candidate_.reset();
    pending_.reset();
    ASSAY_TRY(store_.destroy());
    stored_ = Stored::kNothing;
    return {};
}

Outcome<void> Application::begin() {
    if (stored_ != Stored::kNothing) {
        return fail(ErrorKind::kUsage, "a state is stored already, and beginning anew deletes nothing",
                    "discard it first, once its blocks are seen to make it again");
    }
    ASSAY_ASSIGN(now_, genesis_state(machine_, genesis_));
    app_hash_ = now_.tree.root();
    ASSAY_ASSIGN(index_, store_first(store_, now_, genesis_));
    stored_ = Stored::kState;
    return {};
}

Outcome<base::Result<Admission, Reason>> Application::check(ByteView transaction) const {
    using Checked = base::Result<Admission, Reason>;
    const auto info = machine_.inspect(genesis_.chain_id, transaction);
    if (!info) return Checked(base::failed(info.error()));
    if (machine_.cost(transaction) > machine_.block_limit()) return Checked(base::failed(Reason::kTooCostly));
    Admission admission{*info, 0, {}};
    ASSAY_ASSIGN(admission.place, index_->find(info->id));
    if (admission.place) return Checked(std::move(admission));
    // Keys cost nothing: only a sender that the state knows may take room where transactions wait.
    const auto nonce = machine_.next_nonce(now_.state, info->sender);
    if (!nonce) return Checked(base::failed(nonce.error()));
    if (info->nonce < *nonce) return Checked(base::failed(Reason::kNonceUsed));
    admission.next_nonce = *nonce;
    return Checked(std::move(admission));
}

Outcome<Prepared> Application::prepare(const std::vector<Bytes>& candidates, const ProposalLimits& limits) {
    candidate_.reset();
    contracts::Overlay overlay(now_.state);
    ASSAY_ASSIGN(Prepared prepared, prepare_block(machine_, overlay, next_position(), candidates, limits));
    candidate_ = Candidate{prepared.results.height, transactions_root(prepared.transactions),
                           prepared.results, overlay.changes(), overlay.history()};
    return prepared;
}

Outcome<BlockJudgement> Application::process(const ProposedBlock& block) { return run(block); }

Outcome<BlockJudgement> Application::run(const ProposedBlock& block) {
    const Position position = next_position();
    if (block.height != position.height) {
        return BlockJudgement(base::failed(
            Rejection{BlockFault::kWrongHeight, "its height is " + std::to_string(block.height) +
                                                    ", the next one is " + std::to_string(position.height)}));
    }
    const Hash256 root = transactions_root(block.transactions);
    if (candidate_ && candidate_->height == block.height && candidate_->transactions == root)
        return BlockJudgement();
    contracts::Overlay overlay(now_.state);
    ASSAY_ASSIGN(auto executed, execute_block(machine_, overlay, position, block.transactions));
    if (!executed) return BlockJudgement(base::failed(executed.error()));
    candidate_ = Candidate{block.height, root, *std::move(executed), overlay.changes(), overlay.history()};
    return BlockJudgement();
}

void Application::drop_pending() {
    if (pending_) now_.tree.revert(pending_->undo);
    pending_.reset();
}

Outcome<Executed> Application::execute(const ProposedBlock& block) {
    if (stopped_) {
        return fail(ErrorKind::kFailure, "the ledger stopped after an earlier failure",
                    "start the node again: it keeps every acknowledged block");
    }
    drop_pending();
    ASSAY_ASSIGN(const BlockJudgement judged, run(block));
    if (!judged) return rejected(block.height, judged.error());
    StateTree::Undo undo = now_.tree.update(candidate_->changes);
    pending_ = Pending{*std::exchange(candidate_, std::nullopt), now_.tree.root(), std::move(undo)};
    const BlockResults& results = pending_->block.results;
    return Executed{results, results_root(results), pending_->app_hash};
}

Outcome<void> Application::commit(const Hash256& block, std::uint64_t time_ms) {
    if (stopped_ || !pending_) {
        return fail(ErrorKind::kFailure,
                    stopped_ ? "the ledger stopped after an earlier failure" : "there is no executed block",
                    "start the node again: it keeps every acknowledged block");
    }
    const Candidate& made = pending_->block;
    const IndexHead head{kIndexSchema, genesis_.hash(), made.height, block, pending_->app_hash, time_ms};
    if (auto stored = index_->commit(head, &made.results, made.changes, made.history); !stored) {
        stopped_ = true;
        return base::failed(stored.error());
    }
    for (const auto& [key, value] : made.changes) {
        if (value) {
            now_.state.put(key, *value);
        } else {
            now_.state.erase(key);
        }
    }
    now_.height = made.height;
    now_.tip = block;
    now_.time_ms = time_ms;
    app_hash_ = pending_->app_hash;
    pending_.reset();
    candidate_.reset();
    return {};
}

Outcome<QueryAnswer> Application::prove(ByteView key) {
    // The tree may stand for a block that is executed and not committed: the answer is about what is.
    StateTree committed = now_.tree;
    if (pending_) committed.revert(pending_->undo);
    return QueryAnswer{now_.height, app_hash_, now_.state.get(key), committed.prove(key)};
}

Outcome<QueryAnswer> Application::query(const Query& query) {
    if (query.height != 0 && query.height != now_.height) {
        return fail(ErrorKind::kNotFound,
                    "the state of block " + std::to_string(query.height) +
                        " is not kept, only that of block " + std::to_string(now_.height),
                    "ask without a height");
    }
    QueryAnswer answer{now_.height, app_hash_, {}, {}};
    if (query.path == "state") return prove(query.data);
    if (query.path == "range") {
        const auto range = base::decode<RangeQuery>(query.data);
        if (!range) return fail(ErrorKind::kUsage, "a range is a prefix, a first key and a limit");
        answer.value = base::encode(read_range(now_.state, *range));
        return answer;
    }
    if (query.path == "transaction") {
        if (query.data.size() != sizeof(Hash256::bytes))
            return fail(ErrorKind::kUsage, "a transaction's id has 32 bytes");
        ASSAY_ASSIGN(const auto place, find(base::hash_from(query.data)));
        if (place) answer.value = base::encode(*place);
        return answer;
    }
    if (query.path == "results") {
        const auto height = base::decode<std::uint64_t>(query.data);
        if (!height) return fail(ErrorKind::kUsage, "a height has 8 bytes");
        ASSAY_ASSIGN(const auto results, this->results(*height));
        if (results) answer.value = base::encode(*results);
        return answer;
    }
    if (query.path == "history") {
        ASSAY_ASSIGN(answer.value, history(query.data));
        return answer;
    }
    return fail(ErrorKind::kNotFound, "there is nothing to ask under '" + query.path + "'",
                "ask for state, range, transaction, results or history");
}

}  // namespace assay::ledger
