// SPDX-License-Identifier: Apache-2.0
#include "node/roles/follower.hpp"

#include <utility>

#include "ledger/application/execute.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/store/certificate.hpp"
#include "ledger/store/header_time.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

base::Outcome<Follower> Follower::create(const ledger::Genesis& genesis) {
    ASSAY_TRY(ledger::check_served(genesis.validators));
    Follower follower;
    follower.genesis_ = genesis;
    ASSAY_ASSIGN(follower.now_, ledger::genesis_state(ledger::rules_machine(), genesis));
    return follower;
}

base::Outcome<Follower> Follower::open(const ledger::Genesis& genesis, ledger::KeyValueProvider& store) {
    ASSAY_ASSIGN(ledger::StoredState stored, ledger::load_state(store, ledger::rules_machine(), genesis));
    if (stored.state) {
        Follower follower;
        follower.genesis_ = genesis;
        follower.now_ = std::move(*stored.state);
        follower.store_ = std::move(stored.index);
        follower.loaded_ = follower.now_.height;
        return follower;
    }
    ASSAY_ASSIGN(Follower follower, create(genesis));
    if (!stored.fault.empty()) {
        follower.notes_.push_back("this home's verified state cannot be used (" + stored.fault +
                                  "): every block is executed again, and the first one replaces it");
        follower.unusable_ = &store;
        return follower;
    }
    if (const auto begun = follower.begin_store(store); !begun) follower.give_up_store(begun.error());
    return follower;
}

base::Outcome<void> Follower::begin_store(ledger::KeyValueProvider& store) {
    ASSAY_ASSIGN(store_, ledger::store_anew(store, now_, genesis_));
    drop_history();
    return {};
}

void Follower::give_up_store(const base::Error& why) {
    store_.reset();
    notes_.push_back("the verified state is no longer kept on disk (" + why.what +
                     "): this process goes on in memory, and the next start begins at an earlier block");
}

void Follower::keep(const std::map<base::Bytes, std::optional<base::Bytes>>& changes) {
    if (auto* unusable = std::exchange(unusable_, nullptr)) {
        if (const auto begun = begin_store(*unusable); !begun) give_up_store(begun.error());
        return;
    }
    if (!store_) return;
    const auto kept = store_->commit(now_.head(genesis_.hash()), nullptr, changes, now_.state.history());
    if (!kept) return give_up_store(kept.error());
    drop_history();
}

std::optional<base::Bytes> Follower::history(base::ByteView key) const {
    const auto& here = now_.state.history();
    if (const auto found = here.find(base::to_bytes(key)); found != here.end()) return found->second;
    if (!store_) return std::nullopt;
    auto kept = store_->history(key);
    return kept ? *std::move(kept) : std::nullopt;
}

// Another follower of this thread may have checked and executed the very same block on the very same state.
base::Outcome<contracts::Events> Follower::apply(base::ByteView encoded_block) {
    auto* const memory = ledger::ExecutedBlocks::of_this_thread();
    if (memory == nullptr) {
        ASSAY_ASSIGN(const ledger::ExecutedBlock executed, execute(encoded_block));
        keep(executed.changes);
        return executed.events;
    }
    if (const auto known = memory->find(now_, encoded_block)) {
        known->apply_to(now_);
        keep(known->changes);
        return known->events;
    }
    ASSAY_ASSIGN(ledger::ExecutedBlock executed, execute(encoded_block));
    keep(executed.changes);
    contracts::Events events = executed.events;
    memory->remember(std::move(executed));
    return events;
}

base::Outcome<ledger::ExecutedBlock> Follower::execute(base::ByteView encoded_block) {
    const auto decoded = base::decode<ledger::Block>(encoded_block);
    if (!decoded) {
        return fail(ErrorKind::kVerification,
                    "block " + std::to_string(now_.height + 1) +
                        " does not decode: " + std::string(base::to_text(decoded.error())));
    }
    const ledger::Block& block = *decoded;
    auto fits = ledger::check_block(block, genesis_.chain_id, now_.height + 1, now_.tip, genesis_.validators);
    if (!fits) {
        base::Error error = fits.error();
        // Nothing was executed since the start: this ledger's past is not the one that this home verified.
        if (loaded_ > 0 && now_.height == loaded_ && block.header.parent != now_.tip)
            error.fix = "this home has verified another block " + std::to_string(loaded_) +
                        ": ask the ledger's operator which is right; to follow this ledger from its first "
                        "block, move the folder state of this home away and start again";
        return base::failed(std::move(error));
    }
    ASSAY_TRY(ledger::check_header_time(block.header, genesis_, now_.time_ms));
    ledger::ExecutedBlock made{.tip = now_.tip,
                               .state_root = now_.tree.root(),
                               .block = base::to_bytes(encoded_block),
                               .changes = {},
                               .history = {},
                               .tree = {},
                               .hash = block.header.hash(),
                               .time_ms = block.header.time_ms,
                               .events = {}};
    const auto replayed = ledger::replay_block(ledger::rules_machine(), now_.state, now_.tree,
                                               genesis_.chain_id, block, &made.changes, &made.history);
    if (!replayed) {
        base::Error error = replayed.error();
        if (now_.height == 0 && error.kind != ErrorKind::kPreflight)
            error.fix =
                "if this chain began under an older schema, it cannot be followed from its first block: "
                "put back a copy of the folder state of this home";
        return base::failed(std::move(error));
    }
    made.tree = now_.tree;
    now_.height = block.header.height;
    now_.tip = made.hash;
    now_.time_ms = made.time_ms;
    const auto collect = [&](const std::vector<base::Bytes>& encoded) {
        for (const base::Bytes& bytes : encoded) {
            if (auto event = base::decode<contracts::Event>(bytes); event.ok()) made.events.push_back(*event);
        }
    };
    collect(replayed->begin_events);
    for (const auto& transaction : replayed->transactions) collect(transaction.events);
    return made;
}

std::vector<std::string> Follower::take_notes() { return std::exchange(notes_, {}); }

}  // namespace assay::node
