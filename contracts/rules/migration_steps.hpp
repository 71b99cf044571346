// SPDX-License-Identifier: Apache-2.0
// Gives migration.hpp one function for each step of a migration, and the layouts in between. Internal to
// the rules.
#pragma once

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

// The layouts of schema 2, as tests/vectors/state_schema_2.txt holds them: what step 1 writes and step 2
// reads. Each names, in the old order, the fields of today's record that it fills. Records that are not here
// have the layout that they had.

struct MetaOfSchema2 {
    Meta now;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.now.schema, self.now.chain_id, self.now.unbondings);
    }
};

struct RosterEntryOfSchema2 {
    RosterEntry now;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& e = self.now;
        visit(e.node, e.owner, e.ask, e.missed, e.dropped, e.dropped_for, e.dropped_round, e.speeds);
    }
};

struct EnlistedOfSchema2 {
    EnlistedVerifier now;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& e = self.now;
        visit(e.node, e.owner, e.locked, e.bond, e.missed, e.dropped);
    }
};

struct BeaconMemberOfSchema2 {
    BeaconMember now;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& m = self.now;
        visit(m.node, m.role, m.tip, m.behind, m.withheld, m.dropped);
    }
};

/// One record held the whole job, under the key of today's terms.
struct JobOfSchema2 {
    Job job;
    std::vector<RosterEntryOfSchema2> roster;
    std::vector<EnlistedOfSchema2> verifiers;
    std::vector<BeaconMemberOfSchema2> beacon;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& j = self.job;
        visit(j.id, j.spec, j.params, j.buyer, j.buyer_node, j.buyer_endpoint, j.submitted_at, j.deadline,
              j.phase, j.phase_deadline, j.cancel_asked, j.end_reason, j.ended_at, j.slot_work, j.escrow,
              j.spent, j.refunded, j.auction, self.roster, self.verifiers, self.beacon, j.round,
              j.rounds_done, j.last_beacon, j.base_root, j.base_blob);
    }
};

struct BeaconLinkOfSchema2 {
    BeaconLink now;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.now.node, self.now.opened, self.now.link);
    }
};

struct MergePostingOfSchema2 {
    MergePosting now;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& p = self.now;
        visit(p.verifier, p.stage, p.sealed, p.opened, p.seal, p.claim);
    }
};

/// One record held the whole round but its slots, under the key of today's progress.
struct RoundOfSchema2 {
    Round round;
    std::vector<BeaconLinkOfSchema2> links;
    std::vector<MergePostingOfSchema2> merges;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        auto& r = self.round;
        visit(r.job, r.number, r.phase, r.phase_deadline, r.started_at, r.settled_at, r.base_root,
              r.base_blob, r.judges, self.links, r.link_missing, r.beacon, self.merges, r.merged, r.result,
              r.merged_slots, r.train_loss, r.train_steps, r.lines);
    }
};

/// One table's records, each read in its old layout and handed to `change`, which writes what is to be.
template <class Old, class Change>
void rewrite(State& state, Table table, Change change) {
    for (const auto& [key, value] : state.scan(table_prefix(table))) {
        Old old = stored<Old>(value);
        change(key, old);
    }
}

void from_1_to_2(State& state);
void from_2_to_3(State& state);
void from_3_to_4(State& state);

}  // namespace assay::contracts
