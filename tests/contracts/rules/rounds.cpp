// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/rules/rounds.hpp"

#include <algorithm>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/dispute/transactions.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

template <class Manner>
Manner manner_of(const std::map<std::string, Manner>& manners, const std::string& name) {
    const auto found = manners.find(name);
    return found == manners.end() ? Manner::kHonest : found->second;
}

Hash256 salt_of(const Person& who, const std::string& use) { return bytes_of(who.name + " salt " + use); }

RoundPhase phase_of(const Env& env, const Hash256& job) { return env.round(job).phase; }

bool is_at(const Env& env, const Hash256& job, std::uint32_t round, RoundPhase phase) {
    const Job record = env.job(job);
    return record.phase == JobPhase::kRounds && record.round == round && phase_of(env, job) == phase;
}

/// Lets the phase's deadline pass when it did not close by itself.
void end_phase(Env& env, const Hash256& job, std::uint32_t round, RoundPhase phase) {
    if (!is_at(env, job, round, phase)) return;
    env.advance_to(env.round(job).phase_deadline + 1);
    REQUIRE_FALSE(is_at(env, job, round, phase));
}

/// The trace with what the ledger lets the slot go on with: not every round before was accepted.
TraceRecord going_on(const Env& env, const Hash256& id, std::uint32_t slot, TraceRecord trace) {
    const Job job = env.job(id);
    if (!trace.carried) return trace;
    trace.carried->in = carried_in(env.state(), id, job.round, slot).root;
    const Hash256 before = trace.boundaries.front();
    const Hash256 first = first_boundary(job.spec, {job.round, job.base_root, trace.carried->in});
    std::replace(trace.boundaries.begin(), trace.boundaries.end(), before, first);
    return trace;
}

/// What the slot's miner claims in this play.
TraceRecord claim_in(Env& env, const Job& job, const SlotRound& slot, const Play& play) {
    const auto given = play.traces.find(slot.slot);
    if (given != play.traces.end()) return given->second;
    const MinerManner manner = manner_of(play.miners, env.by_node(slot.miner).name);
    return going_on(env, job.id, slot.slot, claimed_trace(job, job.round, slot.slot, manner));
}

std::vector<SlotClaim> claims_of(Env& env, const Job& job, Person& who, const Play& play, Stage stage) {
    const VerifierManner manner = manner_of(play.verifiers, who.name);
    std::vector<SlotClaim> claims;
    for (const AssignedSlot& slot : assigned_slots(env.state(), job.id, job.round, stage, who.node_key())) {
        const SlotRound record = *read_slot(env.state(), job.id, job.round, slot.slot);
        const bool served = slot.served && manner != VerifierManner::kUnserved &&
                            manner != VerifierManner::kUnservedLeavesOut;
        SlotClaim claim{slot.slot, slot.needs_start && !served, {}};
        const TraceRecord trace = manner == VerifierManner::kColludes ? claim_in(env, job, record, play)
                                                                      : true_trace(job, job.round, slot.slot);
        for (const std::uint32_t unit : claimed_units(slot.units, claim.replayed)) {
            Hash256 root = program::unit_root(trace, job.spec, unit);
            if (manner == VerifierManner::kLies) root = bytes_of("lie of " + who.name);
            if (manner == VerifierManner::kAccuses) root = bytes_of("common lie");
            claim.roots.push_back(root);
        }
        claims.push_back(claim);
    }
    const bool leaves_out =
        manner == VerifierManner::kLeavesOut || manner == VerifierManner::kUnservedLeavesOut;
    if (leaves_out && claims.size() > 1) claims.erase(claims.begin());
    return claims;
}

}  // namespace

TraceRecord true_trace(const Job& job, std::uint32_t round, std::uint32_t slot) {
    const std::string name = "trace " + std::to_string(round) + " " + std::to_string(slot) + " ";
    TraceRecord trace;
    for (std::uint32_t i = 0; i <= program::RoundPlan(job.spec).segments(); ++i) {
        trace.boundaries.push_back(bytes_of(name + "boundary " + std::to_string(i)));
    }
    for (std::uint32_t i = 0; i < job.spec.train.inner_steps; ++i)
        trace.fingerprints.push_back({i + round, slot});
    trace.update = bytes_of(name + "update");
    if (program::carries_state(job.spec)) {
        // As if every round before had been accepted.
        const std::string before = "trace " + std::to_string(round - 1) + " " + std::to_string(slot) + " ";
        const std::uint64_t age = std::uint64_t{round} * job.spec.train.inner_steps;
        trace.carried = {round == 0 ? Hash256() : carried_named(before + "carried", age),
                         carried_named(name + "carried", age + job.spec.train.inner_steps)};
    }
    const Hash256 carried = trace.carried ? trace.carried->in : Hash256();
    trace.boundaries.front() = first_boundary(job.spec, {round, job.base_root, carried});
    if (job.spec.seed == kDivergingSeed && slot == 0) {
        trace.fingerprints.resize(3);
        trace.divergence = program::Divergence{3, 5};
        trace.update = {};
        if (trace.carried) trace.carried->out = {};
    }
    return trace;
}

TraceRecord claimed_trace(const Job& job, std::uint32_t round, std::uint32_t slot, MinerManner manner) {
    TraceRecord trace = true_trace(job, round, slot);
    if (manner == MinerManner::kCheats) trace.boundaries[1] = bytes_of("plausible");
    if (manner == MinerManner::kBadFinalise) trace.update = bytes_of("bad update");
    if (manner == MinerManner::kFeignsDivergence) {
        trace.boundaries.assign(trace.boundaries.size(), trace.boundaries.front());
        trace.fingerprints.clear();
        trace.divergence = program::Divergence{0, 0};
        trace.update = {};
    }
    return trace;
}

MergeClaim merge_of(const Job& job, std::uint32_t round, const std::vector<std::uint32_t>& slots) {
    MergeClaim claim;
    claim.slots = storage_bits(job.spec.slots, slots);
    if (job.spec.has_norm_bound()) claim.clips.assign(slots.size(), 1U << 16);
    claim.base_root =
        base_named(job.id.hex() + " base " + std::to_string(round + 1) + base::to_hex(claim.slots));
    claim.base_blob = bytes_of("blob " + std::to_string(round + 1));
    claim.held_out_loss = 100 - round;
    return claim;
}

MergeClaim true_merge(const StateView& state, const Job& job, std::uint32_t round) {
    return merge_of(job, round, merge_slots(state, job.id, round));
}

Hash256 slot_salt() { return bytes_of("slot salt"); }

Hash256 seal_of(const Env& env, const Job& job, const SlotRound& slot, const TraceRecord& trace) {
    CommitStatement statement;
    statement.job = job.id;
    statement.round = job.round;
    statement.slot = slot.slot;
    statement.miner = slot.miner;
    statement.base_root = job.base_root;
    statement.trace_root = program::trace_root(trace, job.spec, slot_salt());
    statement.salt = commit_salt(slot_salt());
    return commit_seal(env.chain(), statement);
}

void play_commits(Env& env, const Hash256& id, const Play& play) {
    const Job job = env.job(id);
    for (const SlotRound& slot : list_slots(env.whole(), id, job.round)) {
        if (!slot.assigned) continue;
        Person& who = env.by_node(slot.miner);
        if (manner_of(play.miners, who.name) == MinerManner::kAbsent) continue;
        const TraceRecord trace = claim_in(env, job, slot, play);
        env.send(who, RoundCommit{id, job.round, slot.slot, seal_of(env, job, slot, trace)});
    }
}

void open_links(Env& env, const Hash256& id, const std::vector<std::string>& withheld) {
    const Job job = env.job(id);
    for (const BeaconLink& link : env.round(id).links) {
        Person& who = env.by_node(link.node);
        const bool silent = std::find(withheld.begin(), withheld.end(), who.name) != withheld.end();
        if (silent || link.opened || link.withheld) continue;
        env.send(who, link_of(who, job, link.index));
    }
}

BeaconOpen link_of(const Person& who, const Job& job, std::uint32_t index) {
    return {job.id, job.round, chain_link(who.secret, job.spec.rounds, index), index};
}

void play_links(Env& env, const Hash256& id, const Play& play) {
    const std::uint32_t number = env.job(id).round;
    while (is_at(env, id, number, RoundPhase::kBeacon)) {
        open_links(env, id, play.withhold_links);
        if (is_at(env, id, number, RoundPhase::kBeacon)) env.advance_to(env.round(id).phase_deadline + 1);
    }
}

RoundServe serve_of(const Env& env, const Hash256& id, std::uint32_t number, const TraceRecord& trace) {
    const Job job = env.job(id);
    const SlotRound slot = *read_slot(env.state(), id, job.round, number);
    RoundServe serve;
    serve.job = id;
    serve.round = job.round;
    serve.slot = number;
    serve.trace_root = program::trace_root(trace, job.spec, slot_salt());
    serve.salt = commit_salt(slot_salt());
    auto units = slot.drawn_units;
    if (trace.divergence) {
        serve.diverged_unit = program::RoundPlan(job.spec).unit_of(trace.divergence->step);
        units = with_divergence(units, *serve.diverged_unit);
    }
    for (const program::UnitRun& run : program::runs_of(units)) {
        if (run.from_base()) continue;
        const program::LeafName leaf = program::start_leaf(job.spec, run.first);
        serve.starts.push_back(
            {program::open_leaf(trace, job.spec, slot_salt(), leaf.kind, leaf.place), bytes_of("head")});
    }
    return serve;
}

RoundReveal reveal_of(const Env& env, const Hash256& id, std::uint32_t number, const TraceRecord& trace) {
    RoundReveal reveal;
    reveal.job = id;
    reveal.round = env.job(id).round;
    reveal.slot = number;
    reveal.trace = trace;
    reveal.salt = slot_salt();
    if (!trace.divergence) reveal.update_blob = bytes_of("update blob");
    if (!trace.divergence && trace.carried) reveal.carried_blob = bytes_of("carried blob");
    reveal.start = shown_start(env.job(id).base_root, trace.carried ? trace.carried->in : Hash256());
    return reveal;
}

void play_serves(Env& env, const Hash256& id, const Play& play) {
    const Job job = env.job(id);
    if (!is_at(env, id, job.round, RoundPhase::kServe)) return;
    for (const SlotRound& slot : list_slots(env.whole(), id, job.round)) {
        if (!slot.committed) continue;
        Person& who = env.by_node(slot.miner);
        const MinerManner manner = manner_of(play.miners, who.name);
        if (manner == MinerManner::kSilent || manner == MinerManner::kWithholds) continue;
        env.send(who, serve_of(env, id, slot.slot, claim_in(env, job, slot, play)));
    }
    end_phase(env, id, job.round, RoundPhase::kServe);
}

void play_reveals(Env& env, const Hash256& id, const Play& play) {
    const Job job = env.job(id);
    if (!is_at(env, id, job.round, RoundPhase::kReveal)) return;
    for (const SlotRound& slot : list_slots(env.whole(), id, job.round)) {
        if (!slot.committed) continue;
        Person& who = env.by_node(slot.miner);
        if (manner_of(play.miners, who.name) == MinerManner::kSilent) continue;
        env.send(who, reveal_of(env, id, slot.slot, claim_in(env, job, slot, play)));
    }
    end_phase(env, id, job.round, RoundPhase::kReveal);
}

void play_storage(Env& env, const Hash256& id, const Play& play) {
    const Job job = env.job(id);
    for (const EnlistedVerifier& verifier : job.verifiers) {
        // A majority for every slot ends the phase: nobody else is waited for.
        if (!is_at(env, id, job.round, RoundPhase::kStore)) return;
        Person& who = env.by_node(verifier.node);
        const HolderManner manner = manner_of(play.holders, who.name);
        auto held = storable_slots(env.state(), id, job.round, verifier.node);
        if (!held || manner == HolderManner::kAbsent) continue;
        if (manner == HolderManner::kEmpty) held->clear();
        std::erase_if(*held, [&](std::uint32_t slot) {
            return std::find(play.lost_updates.begin(), play.lost_updates.end(), slot) !=
                   play.lost_updates.end();
        });
        env.send(who, StorageBitmap{id, job.round, storage_bits(job.spec.slots, *held)});
    }
    end_phase(env, id, job.round, RoundPhase::kStore);
}

void play_verdicts(Env& env, const Hash256& id, const Play& play) {
    play_serves(env, id, play);
    play_panel(env, id, play);
    play_redraws(env, id, play);
    play_reveals(env, id, play);
    play_storage(env, id, play);
}

void play_seals(Env& env, const Hash256& id, const Play& play, Stage stage) {
    const Job job = env.job(id);
    if (!is_at(env, id, job.round, sealing_phase(stage))) return;
    for (const EnlistedVerifier& verifier : job.verifiers) {
        Person& who = env.by_node(verifier.node);
        const auto claims = claims_of(env, job, who, play, stage);
        if (claims.empty() || manner_of(play.verifiers, who.name) == VerifierManner::kAbsent) continue;
        const bool unserved = manner_of(play.verifiers, who.name) == VerifierManner::kUnservedLeavesOut;
        env.send(who, audit_seal_of(env, job, who, stage, claims, salt_of(who, "audit"), unserved));
    }
    end_phase(env, id, job.round, sealing_phase(stage));
}

void play_openings(Env& env, const Hash256& id, const Play& play, RoundPhase phase) {
    const Job job = env.job(id);
    if (!is_at(env, id, job.round, phase)) return;
    for (const AuditPosting& posting : list_audits(env.state(), id, job.round)) {
        Person& who = env.by_node(posting.verifier);
        const bool opens = manner_of(play.verifiers, who.name) != VerifierManner::kSealsOnly;
        if (!opens || !posting.sealed || posting.opened || opening_phase(posting.stage) != phase) continue;
        env.send(who, AuditOpen{id, job.round, posting.stage, claims_of(env, job, who, play, posting.stage),
                                salt_of(who, "audit")});
    }
    end_phase(env, id, job.round, phase);
}

void play_panel(Env& env, const Hash256& id, const Play& play) {
    play_seals(env, id, play, Stage::kPanel);
    play_seals(env, id, play, Stage::kConfirm);
    play_openings(env, id, play, RoundPhase::kAuditOpen);
}

void play_redraws(Env& env, const Hash256& id, const Play& play) {
    play_seals(env, id, play, Stage::kRedraw);
    play_openings(env, id, play, RoundPhase::kRedrawOpen);
}

AuditSeal audit_seal_of(const Env& env, const Job& job, const Person& who, Stage stage,
                        const std::vector<SlotClaim>& claims, const Hash256& salt, bool unserved) {
    std::vector<std::uint32_t> replayed;
    for (const AssignedSlot& slot : assigned_slots(env.state(), job.id, job.round, stage, who.node_key())) {
        const auto claim = std::find_if(claims.begin(), claims.end(),
                                        [&](const SlotClaim& one) { return one.slot == slot.slot; });
        if (claim == claims.end() ? slot.needs_start && (unserved || !slot.served) : claim->replayed)
            replayed.push_back(slot.slot);
    }
    return {job.id, job.round, stage,
            audit_seal(env.chain(), job.id, job.round, stage, who.node_key(), claims, salt),
            storage_bits(job.spec.slots, replayed)};
}

void play_merges(Env& env, const Hash256& id, const Play& play) {
    const Job job = env.job(id);
    if (!is_at(env, id, job.round, RoundPhase::kMergeSeal)) return;
    std::map<std::string, MergeClaim> sealed;
    const Round round = env.round(id);
    for (const MergePosting& posting : round.merges) {
        Person& who = env.by_node(posting.verifier);
        const MergeManner manner = manner_of(play.mergers, who.name);
        const bool revoked = read_node_key(env.state(), posting.verifier)->revoked;
        if (manner == MergeManner::kAbsent || revoked) continue;
        auto slots = merge_slots(env.state(), id, job.round);
        if (manner == MergeManner::kCensors && slots.size() > 1) slots.erase(slots.begin());
        MergeClaim claim = merge_of(job, job.round, slots);
        if (manner == MergeManner::kLies) claim.base_root = base_named("wrong base of " + who.name);
        if (manner == MergeManner::kConspires) claim.base_root = base_named("wrong base of them all");
        if (manner == MergeManner::kDiverged) claim = {.slots = claim.slots};
        const Hash256 salt = salt_of(who, "merge");
        env.send(who, MergeSeal{id, job.round,
                                merge_seal(env.chain(), id, job.round, who.node_key(), claim, salt)});
        if (manner != MergeManner::kSealsOnly) sealed[who.name] = claim;
    }
    end_phase(env, id, job.round, RoundPhase::kMergeSeal);
    for (const auto& [name, claim] : sealed) {
        Person& who = env.person(name);
        env.send(who, MergeOpen{id, job.round, claim, salt_of(who, "merge")});
    }
    end_phase(env, id, job.round, RoundPhase::kMergeOpen);
}

bool is_running(const Env& env, const Hash256& id) {
    const JobPhase phase = env.job(id).phase;
    return phase == JobPhase::kRounds || phase == JobPhase::kRefill;
}

void play_round(Env& env, const Hash256& id, const Play& play) {
    if (env.job(id).phase == JobPhase::kRefill) return env.let_deadline_pass();
    const std::uint32_t round = env.job(id).round;
    REQUIRE(is_at(env, id, round, RoundPhase::kCommit));
    env.next_block();
    play_commits(env, id, play);
    end_phase(env, id, round, RoundPhase::kCommit);
    play_links(env, id, play);
    end_phase(env, id, round, RoundPhase::kBeacon);
    play_verdicts(env, id, play);
    play_merges(env, id, play);
    REQUIRE(read_round(env.whole(), id, round)->phase == RoundPhase::kSettled);
}

void play_job(Env& env, const Hash256& id, const Play& play, int limit) {
    while (is_running(env, id)) {
        REQUIRE(limit-- > 0);
        play_round(env, id, play);
    }
    while (env.job(id).phase == JobPhase::kClosing) env.let_deadline_pass();
}

void play_accusations(Env& env, const Hash256& job, std::uint32_t round, const Play& play) {
    const program::RoundPlan plan(env.job(job).spec);
    for (const auto& [name, claim] : list_claims(env.state(), job)) {
        if (name.round != round || name.kind != ClaimKind::kSlot || claim.dead) continue;
        for (const Accusation& accusation : claim.accusations) {
            Person& accuser = env.by_node(accusation.verifier);
            const auto manner = play.verifiers.find(accuser.name);
            const bool honest = manner == play.verifiers.end() || manner->second == VerifierManner::kHonest ||
                                manner->second == VerifierManner::kUnserved;
            const auto now = read_claim(env.state(), name);
            if (!honest || !now || now->dead) continue;
            const bool finalise = plan.is_finalise(accusation.unit);
            const std::uint32_t number = static_cast<std::uint32_t>(list_games(env.state(), job).size());
            env.send(accuser, DisputeOpen{job, round, ClaimKind::kSlot, name.number,
                                          finalise ? dispute::UnitKind::kUpdate : dispute::UnitKind::kSegment,
                                          finalise ? 0 : accusation.unit});
            if (number % 2 == 0) env.send(env.by_node(claim.node), DisputeConcede{job, number});
        }
    }
}

void let_windows_pass(Env& env, const Hash256& job, std::uint32_t round) {
    const auto is_open = [&] {
        const auto claims = list_claims(env.state(), job);
        return std::any_of(claims.begin(), claims.end(),
                           [&](const auto& claim) { return claim.first.round == round; });
    };
    const JobPhase phase = env.job(job).phase;
    const std::uint32_t running = env.job(job).round;
    while (is_open()) env.next_block();
    REQUIRE((env.job(job).phase != phase || env.job(job).round == running));
}

SettlementLine line_of(Env& env, const Hash256& job, std::uint32_t round, LineKind kind,
                       const std::string& name) {
    for (const SettlementLine& line : list_settlement(env.whole(), job, round)) {
        if (line.kind == kind && line.node == env.person(name).node_key()) return line;
    }
    FAIL("no such settlement line for " << name);
    std::abort();
}

std::uint32_t slot_of(Env& env, const Hash256& job, const std::string& name) {
    for (const SlotRound& slot : list_slots(env.whole(), job, env.job(job).round)) {
        if (slot.assigned && slot.miner == env.person(name).node_key()) return slot.slot;
    }
    FAIL(name << " holds no slot");
    std::abort();
}

}  // namespace assay::contracts::test
