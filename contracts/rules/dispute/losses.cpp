// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/dispute/losses.hpp"

#include <algorithm>
#include <utility>

#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/claim/window_ends.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/standing.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/merge.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

using base::Rounding;

void give_bonded(Work& work, const PublicKey& loser, const PublicKey& owner, Amount amount) {
    if (amount.is_zero()) return;
    take_bonded(work.state, loser, amount, &Supply::balances);
    pay_balance(work.state, owner, amount, &Supply::balances);
}

/// Takes bonded stake of the loser: to the winner's owner at most its cost, to the buyer what is left of
/// `returned`, the rest burned.
void split(Work& work, const Job& job, Game& game, const PublicKey& loser, const PublicKey& winner_owner,
           Amount lost, Amount returned) {
    game.lost = lost;
    game.to_winner = smaller(game.cost, returned);
    game.to_buyer = difference(returned, game.to_winner);
    const Amount burned = difference(lost, returned);
    if (!burned.is_zero()) take_bonded(work.state, loser, burned, &Supply::burned);
    give_bonded(work, loser, winner_owner, game.to_winner);
    give_bonded(work, loser, job.buyer, game.to_buyer);
}

Amount returned_part(const Params& params, Amount lost) {
    return lost.times(params.forfeit_buyer_ppm, kPartsPerMillion, Rounding::kDown).value();
}

void disgrace(Work& work, Job& job, const Game& game) {
    Miner miner = *read_miner(work.state, game.claimant);
    miner.forfeited = saturating_sum(miner.forfeited, game.lost);
    store(work.state, miner_key(game.claimant), miner);
    lose_standing(work.state, game.claimant);
    // Who concedes goes on with the job, as a newcomer.
    if (game.end == GameEnd::kConceded) return;
    if (!is_over(job.phase)) drop(work, job, roster_entry(job, game.claimant), reason_of(game), game.round);
}

void note_penalty(State& state, const PublicKey& verifier, Amount lost) {
    Verifier record = *read_verifier(state, verifier);
    record.penalised = saturating_sum(record.penalised, lost);
    store(state, verifier_key(verifier), record);
}

/// The name of a verifier's merge in a round whose merge is under way.
std::optional<ClaimId> running_merge(const StateView& state, const Job& job, const PublicKey& verifier) {
    const auto posting = read_merge_posting(state, job.id, job.round, verifier);
    if (!posting) return std::nullopt;
    const ClaimId id{job.id, job.round, ClaimKind::kMerge, posting->place};
    const auto claim = read_claim(state, id);
    return claim && !end_of_window(state, id, *claim) ? std::optional(id) : std::nullopt;
}

/// All that a verifier has locked for the job: while a round is merged a part of it is its merge's bond.
Amount locked_by(const StateView& state, const Job& job, const EnlistedVerifier& verifier) {
    const auto merge = running_merge(state, job, verifier.node);
    return merge ? sum(verifier.bond, required(read_claim(state, *merge)).bond) : verifier.bond;
}

/// After a loss so much is left: as much of it as the rule says stays behind its merge.
void leave_locked(Work& work, const Job& job, EnlistedVerifier& verifier, Amount left) {
    verifier.bond = left;
    const auto merge = running_merge(work.state, job, verifier.node);
    if (!merge) return;
    Claim claim = required(read_claim(work.state, *merge));
    const auto slots = list_slots(work.state, job.id, merge->round);
    claim.bond = merge_bond(params_of(work.state, job), slots, verifier);
    verifier.bond = difference(left, claim.bond);
    store(work.state, claim_key(*merge), claim);
}

/// All that is left of its bond for the job.
void lose_enlistment(Work& work, Job& job, Game& game) {
    EnlistedVerifier& verifier = enlisted_verifier(job, game.claimant);
    const Amount lost = locked_by(work.state, job, verifier);
    const Amount returned = returned_part(params_of(work.state, job), lost);
    split(work, job, game, game.claimant, game.challenger_owner, lost, returned);
    leave_locked(work, job, verifier, Amount{});
    verifier.dropped = true;
    note_penalty(work.state, game.claimant, lost);
}

/// What an accuser is not paid is the buyer's again.
void return_fee(Job& job, Amount fee) {
    job.escrow = sum(job.escrow, fee);
    job.spent = difference(job.spent, fee);
}

void return_fee_of(Job& job, Claim& claim, const PublicKey& accuser) {
    for (Accusation& accusation : claim.accusations) {
        if (accusation.verifier == accuser) return_fee(job, std::exchange(accusation.fee, Amount{}));
    }
}

/// The slot's pay first: the buyer pays for no update that was kept out wrongly.
bool lose_accusation(Work& work, Job& job, Game& game) {
    const Params params = params_of(work.state, job);
    const Amount price = price_of_round(work.state, job, game.round);
    EnlistedVerifier& verifier = enlisted_verifier(job, game.challenger);
    const ClaimId id = game.claim_id(job.id);
    Claim claim = required(read_claim(work.state, id));
    const Amount locked = locked_by(work.state, job, verifier);
    const Amount lost = smaller(required(accusation_stake(params, price, job.slot_work)), locked);
    game.lost = lost;
    game.to_buyer = smaller(claim.kept_out, lost);
    game.to_winner = smaller(game.cost, difference(lost, game.to_buyer));
    const Amount given = sum(game.to_buyer, game.to_winner);
    give_bonded(work, game.challenger, job.buyer, game.to_buyer);
    give_bonded(work, game.challenger, game.claimant_owner, game.to_winner);
    const Amount burned = difference(lost, given);
    if (!burned.is_zero()) take_bonded(work.state, game.challenger, burned, &Supply::burned);
    claim.kept_out = difference(claim.kept_out, game.to_buyer);
    return_fee_of(job, claim, game.challenger);
    store(work.state, claim_key(id), claim);
    const Amount left = difference(locked, lost);
    leave_locked(work, job, verifier, left);
    const auto next = dearest_penalty(params, job.spec, price_at_most(job), job.slot_work);
    const bool used_up = left < required(next);
    verifier.dropped = verifier.dropped || used_up;
    note_penalty(work.state, game.challenger, lost);
    write_job(work.state, job);
    return used_up && !lost.is_zero();
}

/// Each of them that was right has done its audit.
void pay_accusers(Work& work, Job& job, Game& game, Claim& claim) {
    const std::vector<bool> right = right_accusers(work.state, job.id, game, claim);
    for (std::size_t i = 0; i < claim.accusations.size(); ++i) {
        const Accusation& accusation = claim.accusations[i];
        if (!right[i]) {
            return_fee(job, accusation.fee);
            continue;
        }
        game.fees = sum(game.fees, accusation.fee);
        pay_balance(work.state, enlisted_verifier(job, accusation.verifier).owner, accusation.fee,
                    &Supply::escrow);
        Verifier record = *read_verifier(work.state, accusation.verifier);
        record.earned = saturating_sum(record.earned, accusation.fee);
        store(work.state, verifier_key(accusation.verifier), record);
    }
    const std::uint64_t due = std::exchange(claim.accuse_by, 0);
    claim.accusations.clear();
    if (due != 0) forget_accusers_due(work.state, game.claim_id(job.id), due);
}

void lose_slot(Work& work, Job& job, Game& game) {
    const ClaimId id = game.claim_id(job.id);
    Claim claim = required(read_claim(work.state, id));
    split(work, job, game, game.claimant, game.challenger_owner, claim.bond,
          returned_part(params_of(work.state, job), claim.bond));
    disgrace(work, job, game);
}

}  // namespace

Reason reason_of(const Game& game) {
    switch (game.end) {
        case GameEnd::kJudged: return game.claimant_lost ? Reason::kDisputeLost : Reason::kChallengeLost;
        case GameEnd::kSilent: return Reason::kDisputeSilent;
        case GameEnd::kConceded: return Reason::kDisputeConceded;
        case GameEnd::kVoid: return Reason::kJobVoid;
        case GameEnd::kNone:
        case GameEnd::kClosed: break;
    }
    return Reason::kNone;
}

void forget_window(State& state, const ClaimId& id, const Claim& claim) {
    forget_window_end(state, id, required(end_of_window(state, id, claim)));
}

void lose_claim(Work& work, const Hash256& id, Game& game) {
    Job job = required(read_job(work.state, id));
    const bool is_slot = game.kind == ClaimKind::kSlot && !game.called;
    if (is_slot) {
        lose_slot(work, job, game);
    } else {
        lose_enlistment(work, job, game);
    }
    if (!game.called) {
        // What is held is the buyer's again; the claim stays, empty, for those who vouched for it.
        Claim claim = required(read_claim(work.state, game.claim_id(id)));
        pay_accusers(work, job, game, claim);
        game.returned = claim.held;
        job.escrow = sum(job.escrow, claim.held);
        job.spent = difference(job.spent, claim.held);
        claim.bond = claim.held = claim.kept_out = {};
        claim.dead = true;
        const auto settled = required(read_round_progress(work.state, id, game.round)).settled_at;
        forget_window(work.state, game.claim_id(id), claim);
        // Nothing is left to be said against it but by calls.
        claim.window = window_of_calls(params_of(work.state, job), settled, work.block.height);
        store(work.state, claim_key(game.claim_id(id)), claim);
    }
    write_job(work.state, job);
}

bool lose_challenge(Work& work, const Hash256& id, Game& game) {
    if (game.bond.is_zero() && !game.accuses) return false;
    Job job = required(read_job(work.state, id));
    if (game.accuses) return lose_accusation(work, job, game);
    split(work, job, game, game.challenger, game.claimant_owner, game.bond, smaller(game.cost, game.bond));
    return false;
}

void await_accusers(State& state, const ClaimId& id, Claim& claim) {
    const bool waits = std::any_of(claim.accusations.begin(), claim.accusations.end(),
                                   [](const Accusation& accusation) { return !accusation.used; });
    if (waits || claim.accuse_by == 0) return;
    forget_accusers_due(state, id, std::exchange(claim.accuse_by, 0));
}

void return_accusers_fee(Work& work, const Hash256& id, const Game& game) {
    Job job = required(read_job(work.state, id));
    Claim claim = required(read_claim(work.state, game.claim_id(id)));
    return_fee_of(job, claim, game.challenger);
    store(work.state, claim_key(game.claim_id(id)), claim);
    write_job(work.state, job);
}

void void_job(Work& work, const Hash256& id) {
    Job job = required(read_job(work.state, id));
    if (is_over(job.phase)) return;
    job.found_void = true;
    if (job.phase == JobPhase::kWaiting) {  // nothing else would look at it soon
        job.phase_deadline = work.block.height;
        schedule(work.state, id, job, job.phase_deadline);
    }
    write_job(work.state, job);
}

}  // namespace assay::contracts
