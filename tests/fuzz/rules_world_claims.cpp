// SPDX-License-Identifier: Apache-2.0
// What the parties of the random ledger say about a round's work: each as its key has it.
#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "tests/contracts/rules/states.hpp"
#include "tests/fuzz/rules_world.hpp"

namespace assay::fuzz {

using namespace contracts;

TraceRecord RulesWorld::trace_of(const Job& job, std::uint32_t slot, const PublicKey& miner) {
    const std::uint64_t place = job.round * 256ULL + slot;
    TraceRecord trace;
    for (std::uint32_t i = 0; i <= program::RoundPlan(job.spec).segments(); ++i)
        trace.boundaries.push_back(derived("boundary", job.id, PublicKey{}, place * 64 + i));
    for (std::uint32_t i = 0; i < job.spec.train.inner_steps; ++i)
        trace.fingerprints.push_back({0x3f800000U + i * 12'345U, slot});
    trace.update = derived("update", job.id, PublicKey{}, place);
    if (job.spec.inner_state == program::InnerState::kCarried) {
        const Hash256 out =
            contracts::test::carried_named(derived("carried", job.id, PublicKey{}, place).hex(), place);
        trace.carried = program::Carried{carried_in(state_, job.id, job.round, slot).root, out};
    }
    const Hash256 carried = trace.carried ? trace.carried->in : Hash256();
    trace.boundaries.front() = contracts::test::first_boundary(job.spec, {job.round, job.base_root, carried});
    // What this miner does in this slot.
    const std::uint8_t manner = derived("manner", job.id, miner, place).bytes[0];
    if (manner < 16) trace.boundaries.back() = derived("cheat", job.id, miner, place);
    if (manner >= 56 && manner < 60) trace.boundaries.front() = derived("bad start", job.id, miner, place);
    if (manner >= 16 && manner < 24) trace.update = derived("bad update", job.id, miner, place);
    if (manner >= 24 && manner < 40) {
        trace.fingerprints.clear();
        std::fill(trace.boundaries.begin(), trace.boundaries.end(), trace.boundaries.front());
        trace.divergence = program::Divergence{0, 0};
        trace.update = {};
        if (trace.carried) trace.carried->out = {};
    }
    if (manner >= 48 && manner < 56 && trace.carried)
        trace.carried->out = derived("bad carried", job.id, miner, place);
    if (manner >= 40 && manner < 48) trace.fingerprints.back().loss = 0x7fc00123U;
    return trace;
}

std::vector<SlotClaim> RulesWorld::claims_of(const Job& job, Stage stage, const PublicKey& verifier) {
    std::vector<SlotClaim> claims;
    const PublicKey nobody;
    // In every second job, in some worlds in three of four, all say that they were not served.
    const bool nobody_served = derived("nobody served", job.id, nobody).bytes[0] < (diligent_ ? 192 : 128);
    for (const AssignedSlot& assigned : assigned_slots(state_, job.id, job.round, stage, verifier)) {
        const auto slot = read_slot(state_, job.id, job.round, assigned.slot);
        const std::uint8_t manner =
            derived("claim", job.id, verifier, job.round * 256ULL + assigned.slot).bytes[0];
        const TraceRecord said = trace_of(job, assigned.slot, slot ? slot->miner : nobody);
        const bool unserved = nobody_served || !assigned.served || (manner >= 60 && manner < 160);
        SlotClaim claim{assigned.slot, assigned.needs_start && unserved, {}};
        for (const std::uint32_t unit : claimed_units(assigned.units, claim.replayed)) {
            Hash256 root = program::unit_root(said, job.spec, unit);
            if (manner < 40) root = derived("truth", job.id, nobody, assigned.slot * 64ULL + unit);
            if (manner >= 40 && manner < 60) root = derived("lie", job.id, verifier, unit);
            claim.roots.push_back(root);
        }
        claims.push_back(std::move(claim));
    }
    return claims;
}

PublicKey RulesWorld::auditor(const Job& job, Stage stage, bool opens) {
    std::vector<PublicKey> awaited;
    for (const AuditPosting& posting : list_audits(state_, job.id, job.round)) {
        const bool waits = opens ? posting.sealed && !posting.opened : !posting.sealed;
        // Some never seal, and some never open, whatever it costs.
        const std::uint8_t manner =
            derived(opens ? "opens" : "seals", job.id, posting.verifier, job.round).bytes[0];
        if (posting.stage == stage && waits && manner >= 32) awaited.push_back(posting.verifier);
    }
    if (awaited.empty() || chance(6)) return job.verifiers[choose_(job.verifiers.size())].node;
    return awaited[choose_(awaited.size())];
}

// Every fourth verifier seals one slot less than it could.
void RulesWorld::leave_out(const Job& job, const PublicKey& verifier, std::vector<SlotClaim>& claims) {
    const std::uint8_t draw = derived("leaves out", job.id, verifier, job.round).bytes[0];
    if (draw < 64 && claims.size() > 1)  // one of its first two
        claims.erase(claims.begin() + draw % 2);
}

void RulesWorld::seal_audit(const Job& job, Stage stage, const PublicKey& verifier) {
    Person* who = by_node(verifier);
    if (who == nullptr) return;
    auto claims = claims_of(job, stage, verifier);
    const Hash256 salt = derived("audit", job.id, verifier, job.round);
    std::vector<std::uint32_t> replayed;
    for (const SlotClaim& claim : claims)
        if (claim.replayed) replayed.push_back(claim.slot);
    leave_out(job, verifier, claims);
    AuditSeal tx{job.id, job.round, stage,
                 audit_seal(block_.chain_id, job.id, job.round, stage, verifier, claims, salt),
                 storage_bits(job.spec.slots, replayed)};
    if (chance(12)) tx.replayed.push_back(static_cast<std::uint8_t>(choose_(256)));
    // Where it is taken, it is a seal that cannot be opened.
    if (chance(12)) tx.replayed.assign(1, static_cast<std::uint8_t>(choose_(256)));
    send(*who, std::move(tx));
}

void RulesWorld::open_audit(const Job& job, Stage stage, const PublicKey& verifier) {
    Person* who = by_node(verifier);
    if (who == nullptr) return;
    auto claims = claims_of(job, stage, verifier);
    leave_out(job, verifier, claims);
    if (!claims.empty() && chance(12)) claims.push_back(claims.front());
    if (!claims.empty() && chance(12)) claims.back().roots.resize(choose_(300));
    if (!claims.empty() && chance(12)) claims.back().replayed = !claims.back().replayed;
    if (!claims.empty() && chance(12)) claims.pop_back();
    send(*who, AuditOpen{job.id, job.round, stage, std::move(claims),
                         derived("audit", job.id, verifier, job.round)});
}

/// Whoever merges as most do scales as they do; here and there by something at the edge of what a clip may
/// be, or beyond it, or not of every slot.
std::vector<std::uint32_t> RulesWorld::clips_of(const Job& job, const PublicKey& who, std::size_t slots) {
    constexpr std::array<std::uint32_t, 10> kClips = {65'536, 65'536, 1,      65'535,     65'537,
                                                      0,      2,      32'768, 0x80000000, UINT32_MAX};
    std::vector<std::uint32_t> clips;
    for (std::size_t i = 0; i < slots; ++i) {
        const Hash256 drawn = derived("clip", job.id, who, job.round * 256ULL + i);
        const std::uint8_t manner = drawn.bytes[0];
        std::uint32_t clip = kClips.front();
        if (manner < 64) clip = kClips.at(drawn.bytes[1] % kClips.size());
        if (manner >= 64 && manner < 160) clip = 1U + drawn.bytes[1] * 256U + drawn.bytes[2];
        clips.push_back(clip);
    }
    const std::uint8_t count = derived("clips", job.id, who, job.round).bytes[0];
    if (count < 8) clips.push_back(1);
    if (count >= 8 && count < 16 && !clips.empty()) clips.pop_back();
    return clips;
}

MergeClaim RulesWorld::merge_of(const Job& job, const PublicKey& verifier) {
    const std::uint8_t manner = derived("merge", job.id, verifier, job.round).bytes[0];
    auto slots = merge_slots(state_, job.id, job.round);
    if (manner >= 40 && manner < 56 && slots.size() > 1) slots.erase(slots.begin());
    if (manner >= 56 && manner < 60) slots.push_back(job.spec.slots - 1);
    MergeClaim claim;
    claim.slots = storage_bits(job.spec.slots, slots);
    if (manner < 12) return claim;
    const PublicKey who = manner < 24 ? verifier : PublicKey{};
    if (job.spec.has_norm_bound()) claim.clips = clips_of(job, who, slots.size());
    claim.base_root = contracts::test::base_named(derived("base", job.id, who, job.round).hex());
    claim.base_blob = derived("base blob", job.id, who, job.round);
    claim.held_out_loss = manner < 20 ? 1U : 2U;
    return claim;
}

void RulesWorld::reveal(const Job& job, const SlotRound& slot) {
    Person* who = by_node(slot.miner);
    if (who == nullptr) return pass_heights();
    RoundReveal tx;
    tx.job = job.id;
    tx.round = job.round;
    tx.slot = slot.slot;
    tx.trace = trace_of(job, slot.slot, slot.miner);
    tx.salt = derived("salt", job.id, slot.miner, job.round);
    tx.start =
        contracts::test::shown_start(job.base_root, tx.trace.carried ? tx.trace.carried->in : Hash256());
    if (chance(12)) tx.start.parameters = some_hash();
    if (chance(12)) tx.start.siblings.resize(choose_(6));
    if (chance(12)) tx.start.carried.emplace();
    const bool ended = tx.trace.divergence.has_value();
    if (ended == chance(12)) tx.update_blob = derived("update blob", job.id, slot.miner, job.round);
    if ((!ended && tx.trace.carried) != chance(12)) tx.carried_blob = derived("head", job.id, slot.miner);
    if (chance(12)) tx.trace.fingerprints.resize(choose_(20));
    if (chance(12)) tx.trace.boundaries.resize(choose_(300));
    send(*who, std::move(tx));
}

}  // namespace assay::fuzz
