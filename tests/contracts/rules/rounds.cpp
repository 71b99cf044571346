// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/rules/rounds.hpp"

#include <algorithm>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
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

std::vector<UnitClaim> claims_of(const Env& env, const Job& job, Person& who, VerifierManner manner,
                                 Stage stage) {
    std::vector<UnitClaim> claims;
    for (const AssignedUnit& unit : assigned_units(env.state(), job.id, job.round, stage, who.node_key())) {
        UnitClaim claim{unit.slot, unit.unit, false,
                        program::unit_root(true_trace(job, job.round, unit.slot), job.spec, unit.unit)};
        if (manner == VerifierManner::kLies) claim.root = bytes_of("lie of " + who.name);
        if (manner == VerifierManner::kAccuses) claim.root = bytes_of("common lie");
        if (manner == VerifierManner::kRubberStamp) {
            const auto reveal = read_reveal(env.state(), job.id, job.round, unit.slot);
            claim.root = program::unit_root(reveal->trace, job.spec, unit.unit);
        }
        if (manner == VerifierManner::kUnserved) claim = {unit.slot, unit.unit, true, {}};
        claims.push_back(claim);
    }
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
        trace.carried = {round == 0 ? Hash256() : bytes_of(before + "carried"), bytes_of(name + "carried")};
    }
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

MergeClaim true_merge(const Job& job, std::uint32_t round) {
    return {bytes_of(job.id.hex() + " base " + std::to_string(round + 1)),
            bytes_of("blob " + std::to_string(round + 1)), 100 - round};
}

Hash256 seal_of(const Env& env, const Job& job, const SlotRound& slot, const TraceRecord& trace) {
    CommitStatement statement;
    statement.job = job.id;
    statement.round = job.round;
    statement.slot = slot.slot;
    statement.miner = slot.miner;
    statement.base_root = job.base_root;
    statement.segments = program::RoundPlan(job.spec).segments();
    statement.trace_root = program::trace_root(trace);
    statement.update_root = trace.update;
    statement.salt = bytes_of("slot salt");
    statement.carried = trace.carried;
    return commit_seal(env.chain(), statement);
}

/// The trace with what the ledger lets the slot go on with: not every round before was accepted.
static TraceRecord going_on(const Env& env, const Hash256& id, std::uint32_t slot, TraceRecord trace) {
    if (trace.carried) trace.carried->in = carried_in(env.state(), id, env.job(id).round, slot).root;
    return trace;
}

void play_commits(Env& env, const Hash256& id, const Play& play) {
    const Job job = env.job(id);
    for (const SlotRound& slot : list_slots(env.whole(), id, job.round)) {
        if (!slot.assigned) continue;
        Person& who = env.by_node(slot.miner);
        const MinerManner manner = manner_of(play.miners, who.name);
        if (manner == MinerManner::kAbsent) continue;
        const TraceRecord trace =
            going_on(env, id, slot.slot, claimed_trace(job, job.round, slot.slot, manner));
        env.send(who, RoundCommit{id, job.round, slot.slot, seal_of(env, job, slot, trace)});
    }
}

void play_links(Env& env, const Hash256& id, const Play& play) {
    const Job job = env.job(id);
    const Round round = env.round(id);
    for (const BeaconLink& link : round.links) {
        Person& who = env.by_node(link.node);
        const auto& withheld = play.withhold_links;
        if (std::find(withheld.begin(), withheld.end(), who.name) != withheld.end()) continue;
        env.send(who, BeaconOpen{id, job.round, chain_link(who.secret, job.spec.rounds, job.round)});
    }
}

void play_reveals(Env& env, const Hash256& id, const Play& play) {
    const Job job = env.job(id);
    for (const SlotRound& slot : list_slots(env.whole(), id, job.round)) {
        if (!slot.committed) continue;
        Person& who = env.by_node(slot.miner);
        const MinerManner manner = manner_of(play.miners, who.name);
        if (manner == MinerManner::kSilent) continue;
        RoundReveal reveal;
        reveal.job = id;
        reveal.round = job.round;
        reveal.slot = slot.slot;
        reveal.trace = going_on(env, id, slot.slot, claimed_trace(job, job.round, slot.slot, manner));
        reveal.boundary_blobs.resize(program::RoundPlan(job.spec).segments(), bytes_of("blob"));
        reveal.update_blob = bytes_of("update blob");
        reveal.salt = bytes_of("slot salt");
        env.send(who, reveal);
    }
}

void play_audits(Env& env, const Hash256& id, const Play& play, Stage stage) {
    const Job job = env.job(id);
    const auto sealing = stage == Stage::kPair ? RoundPhase::kAuditSeal : RoundPhase::kThirdSeal;
    const auto opening = stage == Stage::kPair ? RoundPhase::kAuditOpen : RoundPhase::kThirdOpen;
    if (!is_at(env, id, job.round, sealing)) return;
    std::map<std::string, std::vector<UnitClaim>> sealed;
    for (const EnlistedVerifier& verifier : job.verifiers) {
        Person& who = env.by_node(verifier.node);
        const VerifierManner manner = manner_of(play.verifiers, who.name);
        const auto claims = claims_of(env, job, who, manner, stage);
        if (claims.empty() || manner == VerifierManner::kAbsent) continue;
        const Hash256 salt = salt_of(who, "audit");
        env.send(who, AuditSeal{id, job.round, stage,
                                audit_seal(env.chain(), id, job.round, stage, who.node_key(), claims, salt)});
        if (manner != VerifierManner::kSealsOnly) sealed[who.name] = claims;
    }
    end_phase(env, id, job.round, sealing);
    for (const auto& [name, claims] : sealed) {
        Person& who = env.person(name);
        env.send(who, AuditOpen{id, job.round, stage, claims, salt_of(who, "audit")});
    }
    end_phase(env, id, job.round, opening);
}

void play_merges(Env& env, const Hash256& id, const Play& play, Stage stage) {
    const Job job = env.job(id);
    const auto sealing = stage == Stage::kPair ? RoundPhase::kMergeSeal : RoundPhase::kMergeThirdSeal;
    const auto opening = stage == Stage::kPair ? RoundPhase::kMergeOpen : RoundPhase::kMergeThirdOpen;
    if (!is_at(env, id, job.round, sealing)) return;
    std::map<std::string, MergeClaim> sealed;
    const Round round = env.round(id);
    for (const MergePosting& posting : round.merges) {
        if (posting.stage != stage) continue;
        Person& who = env.by_node(posting.verifier);
        const MergeManner manner = manner_of(play.mergers, who.name);
        if (manner == MergeManner::kAbsent) continue;
        MergeClaim claim = true_merge(job, job.round);
        if (manner == MergeManner::kLies) claim.base_root = bytes_of("wrong base of " + who.name);
        if (manner == MergeManner::kDiverged) claim = {};
        const Hash256 salt = salt_of(who, "merge");
        env.send(who, MergeSeal{id, job.round, stage,
                                merge_seal(env.chain(), id, job.round, stage, who.node_key(), claim, salt)});
        if (manner != MergeManner::kSealsOnly) sealed[who.name] = claim;
    }
    end_phase(env, id, job.round, sealing);
    for (const auto& [name, claim] : sealed) {
        Person& who = env.person(name);
        env.send(who, MergeOpen{id, job.round, stage, claim, salt_of(who, "merge")});
    }
    end_phase(env, id, job.round, opening);
}

void play_round(Env& env, const Hash256& id, const Play& play) {
    const std::uint32_t round = env.job(id).round;
    REQUIRE(is_at(env, id, round, RoundPhase::kCommit));
    env.next_block();
    play_commits(env, id, play);
    end_phase(env, id, round, RoundPhase::kCommit);
    play_links(env, id, play);
    end_phase(env, id, round, RoundPhase::kBeacon);
    if (is_at(env, id, round, RoundPhase::kReveal)) play_reveals(env, id, play);
    end_phase(env, id, round, RoundPhase::kReveal);
    play_audits(env, id, play, Stage::kPair);
    play_audits(env, id, play, Stage::kThird);
    play_merges(env, id, play, Stage::kPair);
    if (is_at(env, id, round, RoundPhase::kMergeThirdSeal)) play_merges(env, id, play, Stage::kThird);
    REQUIRE(read_round(env.whole(), id, round)->phase == RoundPhase::kSettled);
}

void play_job(Env& env, const Hash256& id, const Play& play, int limit) {
    while (env.job(id).phase == JobPhase::kRounds) {
        REQUIRE(limit-- > 0);
        play_round(env, id, play);
    }
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
