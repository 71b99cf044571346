// SPDX-License-Identifier: Apache-2.0
// What the random ledger has reached, told from its events and its state.
#include <algorithm>

#include "contracts/dispute/witness.hpp"
#include "contracts/program/program.hpp"
#include "contracts/rules/round/machine.hpp"
#include "tests/fuzz/rules_world.hpp"

namespace assay::fuzz {

using namespace contracts;

namespace {

constexpr std::uint32_t kClipOne = 1U << 16;

}  // namespace

std::vector<Reached::Count> Reached::counts() const {
    return {{"merges", merges},
            {"redraws", redraws},
            {"windows", windows},
            {"replays", replays},
            {"slots left out", left_out},
            {"slots not stored", unstored},
            {"links withheld", withheld_links},
            {"games lost by claimants", lost_games},
            {"games won by claimants", won_games},
            {"games of accusers", accusations},
            {"accusations dropped", dropped_accusations},
            {"slots cleared", cleared_slots},
            {"merges lost", merge_games, false},
            {"calls of who attested a merge", merge_calls},
            {"calls behind a bond", bonded_calls},
            {"games of who merged otherwise", merge_accusations, false},
            {"starts of jobs that lease", leased_starts},
            {"waits of jobs that lease", preempted},
            {"jobs that lease and went on", resumed},
            {"confirmers drawn", confirmers},
            {"confirmers with the truth", true_confirmations},
            {"confirmers with a lie", false_confirmations},
            {"confirmers that opened nothing", closed_confirmations, false},
            {"confirmers that sealed nothing", unsealed_confirmations, false},
            {"merges with odd clips", odd_clips},
            {"merges with odd clips refused", refused_clips},
            {"games about a clip", clip_games, false},
            {"witnesses judged", witnesses},
            {"witnesses at the limit", long_witnesses},
            {"leases cleared", leases},
            {"leases at once", instant},
            {"bids lost", outbid},
            {"seals not opened", lost_seals},
            {"notices of fewer lots", notices}};
}

void RulesWorld::note_windows(const Job& job) {
    for (const std::uint32_t round : list_open_rounds(state_, job.id))
        if (round < job.round) reached_.windows += list_claims(state_, job.id, round).size();
}

/// Opened audits of a slot that was judged, whose verifiers had to replay it, or left it out.
void RulesWorld::count_replays(const Event& event) {
    const auto slot = read_slot(state_, event.job, event.round, event.slot);
    if (slot)
        for (const SlotAudit& audit : audits_of(state_, event.job, event.round, *slot))
            reached_.left_out += audit.left_out ? 1U : 0U;
    for (const AuditPosting& posting : list_audits(state_, event.job, event.round)) {
        for (const SlotClaim& claim : posting.claims)
            if (claim.slot == event.slot && claim.replayed) ++reached_.replays;
    }
}

/// What the verifiers that were drawn to confirm a slot did, once it has its verdict.
void RulesWorld::count_confirmations(const Event& event) {
    const auto job = read_job(state_, event.job);
    const auto slot = read_slot(state_, event.job, event.round, event.slot);
    if (!job || !slot || slot->confirmers == 0) return;
    const TraceRecord claimed = trace_of(*job, event.slot, slot->miner);
    for (const AuditPosting& posting : list_audits(state_, event.job, event.round)) {
        if (posting.stage != Stage::kConfirm) continue;
        const auto drawn = assigned_slots(state_, event.job, event.round, Stage::kConfirm, posting.verifier);
        const auto own = std::find_if(drawn.begin(), drawn.end(),
                                      [&](const AssignedSlot& one) { return one.slot == event.slot; });
        if (own == drawn.end()) continue;
        if (!posting.opened) {
            ++(posting.sealed ? reached_.closed_confirmations : reached_.unsealed_confirmations);
            continue;
        }
        for (const SlotClaim& claim : posting.claims) {
            if (claim.slot != event.slot) continue;
            const auto units = claimed_units(own->units, claim.replayed);
            bool agrees = claim.roots.size() == units.size();
            for (std::size_t i = 0; agrees && i < units.size(); ++i)
                agrees = claim.roots[i] == program::unit_root(claimed, job->spec, units[i]);
            ++(agrees ? reached_.true_confirmations : reached_.false_confirmations);
        }
    }
}

void RulesWorld::note_clips(const MergeClaim& claim, bool taken) {
    const auto odd = [](std::uint32_t clip) { return clip != kClipOne && clip != 1; };
    if (!std::any_of(claim.clips.begin(), claim.clips.end(), odd)) return;
    ++(taken ? reached_.odd_clips : reached_.refused_clips);
}

void RulesWorld::note(const Events& events) {
    for (const Event& event : events) {
        note_market(event);
        if (event.kind == EventKind::kDisputeEnded && event.reason != Reason::kNone) {
            const auto game = read_game(state_, event.job, static_cast<std::uint32_t>(event.number));
            if (game) ++(game->claimant_lost ? reached_.lost_games : reached_.won_games);
            const bool at_once = game && game->accuses && game->opened_at == game->ended_at;
            if (at_once && game->moves == 0 && game->end == GameEnd::kSilent) ++reached_.dropped_accusations;
            if (game) note_lost_game(event.job, *game);
            if (game && game->end == GameEnd::kJudged) {
                ++reached_.witnesses;
                if (game->finding.witness_bytes + 1'024 > dispute::kMaxWitnessBytes)
                    ++reached_.long_witnesses;
            }
        }
        if (event.kind == EventKind::kDisputeOpened) {
            const auto game = read_game(state_, event.job, static_cast<std::uint32_t>(event.number));
            if (game) note_opened_game(*game);
        }
        if (event.kind == EventKind::kVerdict) reached_.verdicts.insert(event.reason);
        if (event.kind == EventKind::kJobEnded) reached_.ends.insert(event.reason);
        if (event.kind == EventKind::kMerged) ++reached_.merges;
        if (event.kind == EventKind::kVerdict && event.reason == Reason::kNotStored) ++reached_.unstored;
        if (event.kind == EventKind::kVerdict) count_replays(event);
        if (event.kind == EventKind::kVerdict) count_confirmations(event);
        if (event.kind == EventKind::kRedrawn)
            ++(static_cast<Stage>(event.number) == Stage::kConfirm ? reached_.confirmers : reached_.redraws);
        if (event.kind == EventKind::kLost && event.reason == Reason::kLinkWithheld)
            ++reached_.withheld_links;
    }
}

void RulesWorld::note_opened_game(const Game& game) {
    if (game.accuses) ++reached_.accusations;
    if (game.accuses && game.kind == ClaimKind::kMerge) ++reached_.merge_accusations;
    if (game.unit == dispute::UnitKind::kClip) ++reached_.clip_games;
    if (game.called && game.kind == ClaimKind::kMerge) ++reached_.merge_calls;
    if (game.called && !game.bond.is_zero()) ++reached_.bonded_calls;
}

void RulesWorld::note_lost_game(const Hash256& job, const Game& game) {
    if (game.kind == ClaimKind::kMerge) {
        if (game.claimant_lost && !game.called) ++reached_.merge_games;
        return;
    }
    const auto slot = read_slot(state_, job, game.round, game.claim);
    if (slot && slot->cleared && game.accuses && !game.claimant_lost) ++reached_.cleared_slots;
}

}  // namespace assay::fuzz
