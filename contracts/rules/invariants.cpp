// SPDX-License-Identifier: Apache-2.0
// What must hold of every state, as predicates of one node key, of one job and of the money. The full walk
// asks them of everything there is; a block's check asks them of what its changes touched, which is enough as
// long as they held before.
#include <map>
#include <set>

#include "contracts/base/wide.hpp"
#include "contracts/rules/conservation.hpp"
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

namespace {

using Finding = Result<void, Violation>;

Finding broken(std::string what) { return failed(Violation{std::move(what)}); }

Finding check_terms(const StateView& state) {
    if (schema_of(state) != kSchemaVersion) return broken("the schema version is not this program's");
    for (const auto& [key, value] : state.scan(table_prefix(Table::kParamSet))) {
        const auto params = stored<Params>(value);
        if (key != param_set_key(params_hash(params))) return broken("parameters have another set's name");
        if (check_params(params)) return broken("a parameter is out of its range");
    }
    const auto current = load<Hash256>(state, params_key());
    if (!current || !read_param_set(state, *current)) return broken("there are no current parameters");
    return {};
}

/// Keys hold one role of sender: an owner or a node, never both. Who works has a node key of the same owner.
Finding check_key(const StateView& state, const PublicKey& key) {
    const auto node = read_node_key(state, key);
    if (node && state.get(account_key(key))) return broken("node key " + key.brief() + " is an account too");
    const auto miner = read_miner(state, key);
    if (miner && (!node || node->owner != miner->owner))
        return broken("miner " + key.brief() + " has no node key");
    const auto verifier = read_verifier(state, key);
    if (verifier && (!node || node->owner != verifier->owner))
        return broken("verifier " + key.brief() + " has no node key");
    return {};
}

/// An ended job owes nothing, a running one is listed and has its round, and the money of each adds up to its
/// budget, but for penalties that came in.
Finding check_job(const StateView& state, const Hash256& id) {
    const auto job = read_job(state, id);
    const bool listed = state.get(active_job_key(id)).has_value();
    if (!job) return listed ? broken("an active job has no record") : Finding{};
    const bool ended = job->phase == JobPhase::kEnded;
    if (ended != (consequence(job->end_reason) == Consequence::kJobEnded)) {
        return broken("job " + id.brief() + " has ended without a reason, or not ended with one");
    }
    if (!read_param_set(state, job->params)) return broken("job " + id.brief() + " has no parameters");
    if (ended && !job->escrow.is_zero()) return broken("job " + id.brief() + " kept escrow");
    if (ended && listed) return broken("job " + id.brief() + " has ended and is listed as active");
    if (!ended && !listed) return broken("job " + id.brief() + " is not listed as active");
    const Amount accounted = saturating_sum(saturating_sum(job->escrow, job->spent), job->refunded);
    if (accounted < job->spec.market.budget) return broken("job " + id.brief() + " lost escrow");
    if (job->phase == JobPhase::kRounds && !read_round(state, id, job->round)) {
        return broken("job " + id.brief() + " has no running round");
    }
    return {};
}

Finding check_active_jobs(const StateView& state) {
    if (list_active_jobs(state).size() > kMaxActiveJobs) return broken("too many active jobs");
    return {};
}

/// Node key -> bonded stake less what is locked by running slots and enlistments; all zero when it holds. Of
/// two states: what the change from one to the other adds to it.
using Bonds = std::map<PublicKey, base::Int128>;
constexpr int kAdd = 1;
constexpr int kSubtract = -1;

void count_stake(Bonds& bonds, const PublicKey& node, const Stake& stake, int sign) {
    bonds[node] += base::Int128{sign} * base::Int128{stake.bonded.units()};
}

void count_locked(Bonds& bonds, const StateView& state, const Hash256& id, int sign) {
    const auto job = read_job(state, id);
    if (!job || !state.get(active_job_key(id))) return;
    const auto lock = [&](const PublicKey& node, Amount bond) {
        bonds[node] -= base::Int128{sign} * base::Int128{bond.units()};
    };
    for (const EnlistedVerifier& verifier : job->verifiers) lock(verifier.node, verifier.bond);
    if (job->phase != JobPhase::kRounds) return;
    for (const SlotRound& slot : list_slots(state, id, job->round))
        if (slot.assigned) lock(slot.miner, slot.bond);
}

Finding check_bonds(const Bonds& bonds) {
    for (const auto& [node, difference] : bonds) {
        if (difference > 0) return broken("bonded stake of " + node.brief() + " is locked by nothing");
        if (difference < 0) return broken("a bond of " + node.brief() + " has no stake behind it");
    }
    return {};
}

/// Whose predicates may have changed.
struct Touched {
    bool terms = false;
    bool more_jobs = false;
    std::set<PublicKey> keys, stakes;
    std::set<Hash256> jobs;
};

/// Every table says what its records decide. Those that decide nothing here hold money, which check_changes
/// counts, or what is read by nobody but audits.
Finding touch(Touched& touched, ByteView key, bool present) {
    if (key.empty()) return broken("an empty key");
    const auto table = static_cast<Table>(key.front());
    const bool named = key.size() >= 33;
    const Hash256 name = named ? base::hash_from(key.subspan(1, 32)) : Hash256{};
    const auto need_name = [&](auto record) -> Finding {
        if (!named) return broken("a key is too short for its table");
        record();
        return {};
    };
    switch (table) {
        case Table::kParamSet:
            if (!present) return broken("a parameter set is gone that jobs may name");
            [[fallthrough]];
        case Table::kMeta:
        case Table::kParams: touched.terms = true; return {};
        case Table::kAccount:
        case Table::kNodeKey:
        case Table::kMiner:
        case Table::kStanding:
        case Table::kVerifier: return need_name([&] { touched.keys.insert(PublicKey{name.bytes}); });
        case Table::kStake: return need_name([&] { touched.stakes.insert(PublicKey{name.bytes}); });
        case Table::kActiveJob:
            touched.more_jobs = touched.more_jobs || present;
            return need_name([&] { touched.jobs.insert(name); });
        case Table::kJob:
        case Table::kRound:
        case Table::kSlotRound: return need_name([&] { touched.jobs.insert(name); });
        case Table::kSupply:
        case Table::kSequencer:
        case Table::kUnbonding:
        case Table::kAsk:
        case Table::kReveal:
        case Table::kAudit:
        case Table::kSettlement: return {};
    }
    return broken("a key of no table");
}

/// The keys behind a prefix byte, as check_key and check_job take them.
template <class Check>
Finding each_name(const StateView& state, Table table, const Check& check) {
    Finding finding;
    const Bytes prefix = table_prefix(table);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        ASSAY_CHECK(key.size() == 33);
        finding = check(base::hash_from(key.subspan(1)), value);
        return finding.ok();
    });
    return finding;
}

}  // namespace

Result<void, Violation> check_invariants(const StateView& state) {
    if (schema_of(state) != kSchemaVersion && check_schema(state)) {
        Overlay migrated(state);  // what it will be once a block begins on it
        migrate(migrated);
        return check_invariants(migrated);
    }
    ASSAY_TRY(check_terms(state));
    ASSAY_TRY(check_supply(state));
    for (const Table table : {Table::kNodeKey, Table::kMiner, Table::kVerifier}) {
        ASSAY_TRY(each_name(state, table, [&](const Hash256& name, ByteView) {
            return check_key(state, PublicKey{name.bytes});
        }));
    }
    for (const Table table : {Table::kJob, Table::kActiveJob}) {
        ASSAY_TRY(
            each_name(state, table, [&](const Hash256& job, ByteView) { return check_job(state, job); }));
    }
    ASSAY_TRY(check_active_jobs(state));
    Bonds bonds;
    ASSAY_TRY(each_name(state, Table::kStake, [&](const Hash256& name, ByteView stake) -> Finding {
        count_stake(bonds, PublicKey{name.bytes}, stored<Stake>(stake), kAdd);
        return {};
    }));
    for (const Hash256& job : list_active_jobs(state)) count_locked(bonds, state, job, kAdd);
    return check_bonds(bonds);
}

Result<void, Violation> check_invariants(const StateView& before, const Overlay& changes) {
    // A migration rewrites everything, from records that only it can read: all of it is looked at.
    if (schema_of(before) != kSchemaVersion) return check_invariants(changes);
    ASSAY_TRY(check_changes(before, changes));
    Touched touched;
    for (const auto& [key, value] : changes.changes()) ASSAY_TRY(touch(touched, key, value.has_value()));
    if (touched.terms) ASSAY_TRY(check_terms(changes));
    for (const PublicKey& key : touched.keys) ASSAY_TRY(check_key(changes, key));
    for (const Hash256& job : touched.jobs) ASSAY_TRY(check_job(changes, job));
    if (touched.more_jobs) ASSAY_TRY(check_active_jobs(changes));
    Bonds bonds;
    for (const PublicKey& node : touched.stakes) {
        count_stake(bonds, node, read_stake(before, node), kSubtract);
        count_stake(bonds, node, read_stake(changes, node), kAdd);
    }
    for (const Hash256& job : touched.jobs) {
        count_locked(bonds, before, job, kSubtract);
        count_locked(bonds, changes, job, kAdd);
    }
    return check_bonds(bonds);
}

}  // namespace assay::contracts
