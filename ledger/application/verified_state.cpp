// SPDX-License-Identifier: Apache-2.0
#include "ledger/application/verified_state.hpp"

namespace assay::ledger {

Outcome<VerifiedState> genesis_state(const StateMachine& machine, const Genesis& genesis) {
    ASSAY_TRY(machine.check_machine());
    VerifiedState made;
    ASSAY_TRY(machine.genesis(made.state, genesis));
    ASSAY_TRY(machine.check_invariants(made.state));
    made.tree = StateTree::build(made.state.all());
    made.tip = genesis.hash();
    return made;
}

Outcome<StoredState> load_state(KeyValueProvider& provider, const StateMachine& machine,
                                const Genesis& genesis) {
    const auto unusable = [](const std::string& why) {
        StoredState none;
        none.fault = why;
        return none;
    };
    // What is unusable is deleted in the end. A disk that is full or a process without a free descriptor says
    // nothing about what is stored.
    const auto unread = [&](const base::Error& why) -> Outcome<StoredState> {
        if (why.kind == base::ErrorKind::kVerification) return unusable(why.what);
        return base::failed(why);
    };
    ASSAY_TRY(machine.check_machine());
    auto store = provider.open();
    if (!store) return unread(store.error());
    StoredState stored;
    stored.index = std::make_unique<Index>(std::move(store).value());
    const auto head = stored.index->head();
    if (!head) return unread(head.error());
    if (!*head) {
        const auto empty = stored.index->empty();
        if (!empty) return unread(empty.error());
        return unusable(*empty ? "" : "it holds records and no head");
    }
    if ((*head)->schema != kIndexSchema) return unusable("it has another schema");
    if ((*head)->genesis != genesis.hash()) return unusable("it belongs to another genesis");
    VerifiedState& state = stored.state.emplace();
    if (const auto loaded = stored.index->load_state(state.state); !loaded) return unread(loaded.error());
    state.tree = StateTree::build(state.state.all());
    if (state.tree.root() != (*head)->state_root) return unusable("it holds a state with another root");
    // A sound state of a newer program is no damage: it is left as it is, and not made anew.
    ASSAY_TRY(machine.check_schema(state.state));
    if (const auto held = machine.check_invariants(state.state); !held) return unusable(held.error().what);
    state.height = (*head)->height;
    state.tip = (*head)->header;
    state.time_ms = (*head)->time_ms;
    return stored;
}

Outcome<std::unique_ptr<Index>> store_anew(KeyValueProvider& provider, const VerifiedState& state,
                                           const Genesis& genesis) {
    ASSAY_TRY(provider.destroy());
    return store_first(provider, state, genesis);
}

Outcome<std::unique_ptr<Index>> store_first(KeyValueProvider& provider, const VerifiedState& state,
                                            const Genesis& genesis) {
    ASSAY_ASSIGN(auto store, provider.open());
    auto index = std::make_unique<Index>(std::move(store));
    std::map<Bytes, std::optional<Bytes>> changes;
    for (const auto& [key, value] : state.state.all()) changes.emplace(key, value);
    ASSAY_TRY(index->commit(state.head(genesis.hash()), nullptr, changes, state.state.history()));
    return index;
}

}  // namespace assay::ledger
