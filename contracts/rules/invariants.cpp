// SPDX-License-Identifier: Apache-2.0
// What must hold of every state, as predicates of one node key, of one job and of the money. The full walk
// asks them of everything there is; a block's check asks them of what its changes touched, which is enough as
// long as they held before.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "contracts/rules/bond_invariants.hpp"
#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/claim/window_ends.hpp"
#include "contracts/rules/claim_invariants.hpp"
#include "contracts/rules/conservation.hpp"
#include "contracts/rules/escrow.hpp"
#include "contracts/rules/game_invariants.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/market_invariants.hpp"
#include "contracts/rules/migration.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/state/work.hpp"
#include "contracts/rules/tables.hpp"
#include "contracts/rules/team_invariants.hpp"

namespace assay::contracts {

namespace {

InvariantResult check_terms(const StateView& state) {
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
InvariantResult check_key(const StateView& state, const PublicKey& key) {
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

/// A job has all of these records or none.
constexpr std::array kJobPieces = {Table::kJobTerms, Table::kJobProgress, Table::kBidding,
                                   Table::kBuyerEndpoint};

Bytes job_piece_key(Table table, const Hash256& id) { return KeyBuilder(table).add(id.view()).take(); }

template <class T>
bool in_their_places(const std::vector<T>& records, std::size_t expected) {
    for (std::size_t i = 0; i < records.size(); ++i)
        if (records[i].place != i) return false;
    return records.size() == expected;
}

/// Nobody is missing from the lists of a job.
InvariantResult check_lists(const StateView& state, const Job& job) {
    const auto bidding = read_bidding(state, job.id);
    const bool whole = in_their_places(job.roster, job.auction.winners + bidding->joined) &&
                       in_their_places(job.verifiers, bidding->verifiers) &&
                       in_their_places(job.beacon, bidding->members);
    return whole ? InvariantResult{} : broken("somebody is missing from job " + job.id.brief());
}

/// A member of the beacon has its whole link bond, one that withheld a link or whose job has ended has none,
/// and what was lost waits for the settlement of its round alone.
InvariantResult check_link_bonds(const StateView& state, const Job& job) {
    const auto whole = link_bond(params_of(state, job), job.spec, job.slot_work);
    for (const BeaconMember& member : job.beacon) {
        const bool none = member.dropped || job.phase == JobPhase::kEnded;
        if (!whole || member.bond != (none ? Amount{} : *whole))
            return broken("a link bond of job " + job.id.brief() + " is not what it must be");
    }
    if (job.round == 0) return {};
    for (const BeaconLink& link : list_beacon_links(state, job.id, job.round - 1))
        if (!link.held.is_zero()) return broken("job " + job.id.brief() + " kept a lost link bond");
    return {};
}

/// Of a job whose records leave or have left: nothing of it is open, and its progress, which leaves last, is
/// due to leave while it is there.
InvariantResult check_ended_job(const StateView& state, const Hash256& id, const EndedJob& ended) {
    if (consequence(ended.reason) != Consequence::kJobEnded)
        return broken("job " + id.brief() + " has left without a reason");
    if (state.get(active_job_key(id)))
        return broken("job " + id.brief() + " has left and is listed as active");
    if (has_claim_records(state, id)) return broken("job " + id.brief() + " has left with an open claim");
    if (saturating_sum(ended.spent, ended.refunded) < ended.budget)
        return broken("job " + id.brief() + " lost escrow");
    if (const auto progress = read_job_progress(state, id)) {
        const bool leaves = progress->phase == JobPhase::kEnded && progress->escrow.is_zero() &&
                            state.get(deadline_key({progress->due, DueKind::kLeaving, id}));
        return leaves ? InvariantResult{} : broken("job " + id.brief() + " leaves and is not due");
    }
    return {};
}

/// A record of a job stands beside the job's progress: none is left behind.
InvariantResult check_owner(const StateView& state, ByteView key) {
    if (key.size() < 33) return broken("a key is too short for its table");
    const Hash256 id = base::hash_from(key.subspan(1, 32));
    if (state.get(job_progress_key(id))) return {};
    return broken("a record of job " + id.brief() + " was left behind");
}

/// The same of all records of a job that has left.
InvariantResult check_nothing_left(const StateView& state, const Hash256& id) {
    if (!state.get(ended_job_key(id)) || state.get(job_progress_key(id))) return {};
    InvariantResult finding;
    for (const Table table : tables_of_job()) {
        const Bytes prefix = job_piece_key(table, id);
        state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
            finding = check_owner(state, key);
            return false;
        });
        ASSAY_TRY(finding);
    }
    return finding;
}

/// The same of every record of any job. One look-up for each job and table.
InvariantResult check_owners(const StateView& state) {
    InvariantResult finding;
    for (const Table table : tables_of_job()) {
        const Bytes prefix = table_prefix(table);
        Hash256 known;
        state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
            if (key.size() > 32 && base::hash_from(key.subspan(1, 32)) == known) return true;
            finding = check_owner(state, key);
            if (finding) known = base::hash_from(key.subspan(1, 32));
            return finding.ok();
        });
        ASSAY_TRY(finding);
    }
    return finding;
}

/// The height at which a job that has not left must be due, and as what; nothing while its end waits for the
/// windows of its claims.
std::optional<Deadline> expected_deadline(const StateView& state, const Job& job) {
    if (job.phase == JobPhase::kClosing) return std::nullopt;
    if (job.phase == JobPhase::kEnded) return Deadline{job.due, DueKind::kLeaving, job.id};
    const auto round = read_round_progress(state, job.id, job.round);
    const std::uint64_t last = job.phase == JobPhase::kRounds ? round->phase_deadline : job.phase_deadline;
    return Deadline{later(last, 1), DueKind::kJob, job.id};
}

/// An ended job owes nothing, a running one is listed and has its round, and the money of each adds up to its
/// budget, but for penalties that came in.
/// `claims` checks those of a job that is there.
template <class Claims>
InvariantResult check_job(const StateView& state, const Hash256& id, const Claims& claims) {
    if (const auto left = read_ended_job(state, id)) return check_ended_job(state, id, *left);
    const auto job = read_job(state, id);
    const bool listed = state.get(active_job_key(id)).has_value();
    if (!job) {
        for (const Table table : kJobPieces)
            if (state.get(job_piece_key(table, id))) return broken("job " + id.brief() + " is not whole");
        if (has_claim_records(state, id)) return broken("a claim is of no job");
        return listed ? broken("an active job has no record") : InvariantResult{};
    }
    ASSAY_TRY(check_lists(state, *job));
    if (!has_phase(*job, job->phase)) return broken("job " + id.brief() + " is in a phase of other jobs");
    ASSAY_TRY(claims(*job));
    const bool ended = job->phase == JobPhase::kEnded;
    if (is_over(job->phase) != (consequence(job->end_reason) == Consequence::kJobEnded)) {
        return broken("job " + id.brief() + " has ended without a reason, or not ended with one");
    }
    if (is_over(job->phase) && ended == has_open_claim(state, id))
        return broken("job " + id.brief() + " does not end with its last claim");
    ASSAY_TRY(check_link_bonds(state, *job));
    ASSAY_TRY(check_member(state, *job));
    if (ended && !job->escrow.is_zero()) return broken("job " + id.brief() + " kept escrow");
    if (ended && listed) return broken("job " + id.brief() + " has ended and is listed as active");
    if (!ended && !listed) return broken("job " + id.brief() + " is not listed as active");
    const Amount accounted =
        saturating_sum(saturating_sum(escrow_of(state, *job), job->spent), job->refunded);
    if (accounted < job->whole_budget()) return broken("job " + id.brief() + " lost escrow");
    const auto round = read_round_progress(state, id, job->round);
    if (job->phase == JobPhase::kRounds && !round)
        return broken("job " + id.brief() + " has no running round");
    const auto due = expected_deadline(state, *job);
    if (job->due != (due ? due->height : 0)) return broken("job " + id.brief() + " is due at another height");
    if (due && !state.get(deadline_key(*due)))
        return broken("job " + id.brief() + " is not among the deadlines");
    return {};
}

/// Whether a claim or a game is due by this deadline; nothing of one that stands for the job itself.
std::optional<bool> has_entries(const StateView& state, const Deadline& deadline) {
    if (deadline.kind == DueKind::kWindows) return has_window_end(state, deadline.subject, deadline.height);
    if (deadline.kind != DueKind::kGames) return std::nullopt;
    const DueInGames due = list_due_in_games(state, deadline.subject, deadline.height);
    return !due.accused.empty() || !due.games.empty();
}

/// A deadline that is gone left nothing that was due by it.
InvariantResult check_gone_deadline(const StateView& state, ByteView key) {
    const auto deadline = deadline_of(key);
    if (!deadline || !has_entries(state, *deadline).value_or(false)) return {};
    return broken("a claim or a game of job " + deadline->subject.brief() + " is not among the deadlines");
}

/// An entry of the index names a job that is due then, or of which a claim is.
InvariantResult check_deadline(const StateView& state, ByteView key) {
    const auto deadline = deadline_of(key);
    if (!deadline) return broken("a deadline is of no kind");
    const auto nobodys = [] { return broken("a deadline is nobody's"); };
    if (deadline->kind == DueKind::kMarket)
        return is_market_due(state, *deadline) ? InvariantResult{} : nobodys();
    const auto job = read_job_progress(state, deadline->subject);
    if (!job) return nobodys();
    // That each of these is due then: check_claims.
    if (const auto waits = has_entries(state, *deadline)) return *waits ? InvariantResult{} : nobodys();
    const bool leaves = deadline->kind == DueKind::kLeaving;
    if (job->due != deadline->height || leaves != (job->phase == JobPhase::kEnded)) return nobodys();
    return {};
}

InvariantResult check_active_jobs(const StateView& state, std::int64_t listed) {
    const std::uint32_t counted = read_meta(state).active_jobs;
    if (counted != listed) return broken("the active jobs are not as many as counted");
    if (counted > kMaxActiveJobs) return broken("too many active jobs");
    return {};
}

/// Whose predicates may have changed.
struct Touched {
    bool terms = false;
    bool counts = false;  ///< of active jobs
    std::set<PublicKey> keys, stakes;
    std::set<Hash256> jobs, active;
    std::map<Hash256, TouchedClaims> claims;  ///< by job
    std::vector<Bytes> deadlines;             ///< that are there now
    std::vector<Bytes> gone_deadlines;
    std::vector<Bytes> queues;      ///< entries of games that are played or wait
    std::map<Hash256, Bytes> kept;  ///< job -> a record that leaves with it and is there now
};

/// Every table says what its records decide. Those that decide nothing here hold money, which check_changes
/// counts, or what is read by nobody but audits; of those that leave with a job, the job must be there.
InvariantResult touch(Touched& touched, ByteView key, bool present) {
    if (key.empty()) return broken("an empty key");
    const auto table = static_cast<Table>(key.front());
    const bool named = key.size() >= 33;
    const Hash256 name = named ? base::hash_from(key.subspan(1, 32)) : Hash256{};
    const auto need_name = [&](auto record) -> InvariantResult {
        if (!named) return broken("a key is too short for its table");
        record();
        return {};
    };
    if (leaves_with_job(table))
        ASSAY_TRY(need_name([&] {
            if (present) touched.kept.emplace(name, base::to_bytes(key));
        }));
    switch (table) {
        case Table::kParamSet:
            if (!present) return broken("a parameter set is gone that jobs may name");
            touched.terms = true;
            return {};
        case Table::kDeadline:
            (present ? touched.deadlines : touched.gone_deadlines).push_back(base::to_bytes(key));
            if (const auto deadline = deadline_of(key)) touched.jobs.insert(deadline->subject);
            return {};
        case Table::kMeta: touched.counts = true; [[fallthrough]];
        case Table::kParams: touched.terms = true; return {};
        case Table::kAccount:
        case Table::kNodeKey:
        case Table::kMiner:
        case Table::kStanding:
        case Table::kVerifier: return need_name([&] { touched.keys.insert(PublicKey{name.bytes}); });
        case Table::kStake: return need_name([&] { touched.stakes.insert(PublicKey{name.bytes}); });
        case Table::kHistory: return broken("a row of the history stands in the state");
        case Table::kActiveJob:
            touched.counts = true;
            return need_name([&] {
                touched.active.insert(name);
                touched.jobs.insert(name);
            });
        case Table::kEndedJob:
            if (!present) return broken("the record of a job that has left is gone");
            [[fallthrough]];
        case Table::kJobTerms:
        case Table::kJobProgress:
        case Table::kBidding:
        case Table::kBuyerEndpoint:
        case Table::kRoster:
        case Table::kPanel:
        case Table::kBeaconMember:
        case Table::kJobAdditions:
        case Table::kJudges: return need_name([&] { touched.jobs.insert(name); });
        case Table::kRound:
        case Table::kSlotRound:
        case Table::kMergePosting:
        case Table::kRoundPrices:
        case Table::kClaim:
        case Table::kClaimOf:
        case Table::kWindowEnd:
        case Table::kGameAbout:
        case Table::kDueInGames:
        case Table::kGame:
        case Table::kGamePieces:
            ASSAY_TRY(need_name([&] { touched.jobs.insert(name); }));
            return touch_claims(key, present, touched.claims[name]);
        case Table::kPlayedGames:
        case Table::kQueuedGame:
        case Table::kQueueHead: touched.queues.push_back(base::to_bytes(key)); return {};
        case Table::kTeamMember:
        case Table::kSupply:
        case Table::kValidators:
        case Table::kUnbonding:
        case Table::kAsk:
        case Table::kReveal:
        case Table::kAudit:
        case Table::kSettlement:
        case Table::kRevealPlace:
        case Table::kAuditPlace:
        case Table::kMergePlace:
        case Table::kHandedOn:
        case Table::kShownAge:
        case Table::kServe:
        case Table::kStorage:
        case Table::kBeaconLink:
        case Table::kDroppedAt:
        case Table::kSealCost: return {};
        // That of the market: check_market.
        case Table::kMarketClock:
        case Table::kMarketParams:
        case Table::kLotAsk:
        case Table::kLotBid:
        case Table::kLease:
        case Table::kLot:
        case Table::kLotLeft:
        case Table::kClassBook:
        case Table::kClassEpoch:
        case Table::kTenant:
        case Table::kMachine:
        case Table::kLotWait: return {};
    }
    return broken("a key of no table");
}

/// The keys behind a prefix byte, as check_key and check_job take them.
template <class Check>
InvariantResult each_name(const StateView& state, Table table, const Check& check) {
    InvariantResult finding;
    const Bytes prefix = table_prefix(table);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        ASSAY_CHECK(key.size() == 33);
        finding = check(base::hash_from(key.subspan(1)), value);
        return finding.ok();
    });
    return finding;
}

/// The entry that a job had is gone, or still right.
InvariantResult check_old_deadline(const StateView& before, const StateView& now, const Hash256& id) {
    const auto job = read_job_progress(before, id);
    if (!job || job->due == 0) return {};
    const DueKind kind = job->phase == JobPhase::kEnded ? DueKind::kLeaving : DueKind::kJob;
    const Bytes key = deadline_key({job->due, kind, id});
    return now.get(key) ? check_deadline(now, key) : InvariantResult{};
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
    std::set<Hash256> jobs;
    std::int64_t active = 0;
    const auto note_job = [&](const Hash256& job, ByteView) -> InvariantResult {
        jobs.insert(job);
        return {};
    };
    for (const Table table : kJobPieces) ASSAY_TRY(each_name(state, table, note_job));
    ASSAY_TRY(each_name(state, Table::kEndedJob, note_job));
    ASSAY_TRY(each_name(state, Table::kActiveJob, [&](const Hash256& job, ByteView key) {
        ++active;
        return note_job(job, key);
    }));
    for (const Table table : kClaimTables) {
        for (const auto& [key, value] : state.scan(table_prefix(table))) {
            TouchedClaims named;
            if (key.size() < 33) return broken("a key is too short for its table");
            ASSAY_TRY(touch_claims(key, true, named));
            jobs.insert(base::hash_from(ByteView(key).subspan(1, 32)));
        }
    }
    for (const Hash256& job : jobs)
        ASSAY_TRY(check_job(state, job, [&](const Job& whole) { return check_claims(state, whole); }));
    ASSAY_TRY(check_queues(state));
    ASSAY_TRY(check_owners(state));
    for (const auto& [key, value] : state.scan(table_prefix(Table::kDeadline)))
        ASSAY_TRY(check_deadline(state, key));
    ASSAY_TRY(check_active_jobs(state, active));
    ASSAY_TRY(check_market(state));
    Bonds bonds;
    ASSAY_TRY(each_name(state, Table::kStake, [&](const Hash256& name, ByteView stake) -> InvariantResult {
        count_stake(bonds, PublicKey{name.bytes}, stored<Stake>(stake), kAdd);
        return {};
    }));
    for (const Hash256& job : jobs) count_locked_by_job(bonds, state, job, kAdd);
    for (const Table table : {Table::kClaim, Table::kGame})
        for (const auto& [key, value] : state.scan(table_prefix(table)))
            count_locked_by(bonds, key, value, kAdd);
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
    for (const Hash256& job : touched.jobs) {
        ASSAY_TRY(check_job(changes, job, [&](const Job& whole) {
            return check_claims(before, changes, whole, touched.claims[job]);
        }));
        ASSAY_TRY(check_nothing_left(changes, job));
    }
    ASSAY_TRY(check_queues(before, changes, touched.queues));
    ASSAY_TRY(check_market(before, changes, touched.jobs));
    for (const auto& [job, key] : touched.kept) ASSAY_TRY(check_owner(changes, key));
    for (const Bytes& key : touched.deadlines) ASSAY_TRY(check_deadline(changes, key));
    for (const Bytes& key : touched.gone_deadlines) ASSAY_TRY(check_gone_deadline(changes, key));
    for (const auto& [job, claims] : touched.claims)
        for (const Bytes& key : claims.deadlines)
            if (changes.get(key)) ASSAY_TRY(check_deadline(changes, key));
    for (const Hash256& job : touched.jobs) ASSAY_TRY(check_old_deadline(before, changes, job));
    if (touched.counts) {
        std::int64_t active = read_meta(before).active_jobs;
        for (const Hash256& job : touched.active) {
            const Bytes key = active_job_key(job);
            active += static_cast<int>(changes.get(key).has_value()) -
                      static_cast<int>(before.get(key).has_value());
        }
        ASSAY_TRY(check_active_jobs(changes, active));
    }
    Bonds bonds;
    for (const PublicKey& node : touched.stakes) {
        count_stake(bonds, node, read_stake(before, node), kSubtract);
        count_stake(bonds, node, read_stake(changes, node), kAdd);
    }
    for (const Hash256& job : touched.jobs) {
        count_locked_by_job(bonds, before, job, kSubtract);
        count_locked_by_job(bonds, changes, job, kAdd);
    }
    for (const auto& [key, value] : changes.changes()) {
        count_locked_by(bonds, key, before.get(key), kSubtract);
        count_locked_by(bonds, key, value, kAdd);
    }
    return check_bonds(bonds);
}

}  // namespace assay::contracts
