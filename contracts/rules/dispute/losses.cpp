// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/dispute/losses.hpp"

#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/standing.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

using base::Rounding;

/// Takes bonded stake of the loser: to the winner's owner at most its cost, to the buyer what is left of
/// `returned`, the rest burned.
void split(Work& work, const Job& job, Game& game, const PublicKey& loser, const PublicKey& winner_owner,
           Amount lost, Amount returned) {
    game.lost = lost;
    game.to_winner = smaller(game.cost, returned);
    game.to_buyer = difference(returned, game.to_winner);
    const Amount burned = difference(lost, returned);
    if (!burned.is_zero()) take_bonded(work.state, loser, burned, &Supply::burned);
    const auto give = [&](const PublicKey& owner, Amount amount) {
        if (amount.is_zero()) return;
        take_bonded(work.state, loser, amount, &Supply::balances);
        pay_balance(work.state, owner, amount, &Supply::balances);
    };
    give(winner_owner, game.to_winner);
    give(job.buyer, game.to_buyer);
}

Amount returned_part(const Params& params, Amount lost) {
    return lost.times(params.forfeit_buyer_ppm, kPartsPerMillion, Rounding::kDown).value();
}

/// The entry of the index stays while another claim of the job ends then.
void forget_window(State& state, const ClaimId& id, const Claim& claim) {
    const std::uint64_t end = required(end_of_window(state, id, claim));
    for (const auto& [other, open] : list_claims(state, id.job))
        if (other != id && end_of_window(state, other, open) == end) return;
    const Bytes key = deadline_key({end, DueKind::kWindows, id.job});
    if (state.get(key)) state.erase(key);
}

void disgrace(Work& work, Job& job, const Game& game) {
    Miner miner = *read_miner(work.state, game.claimant);
    miner.forfeited = saturating_sum(miner.forfeited, game.lost);
    store(work.state, miner_key(game.claimant), miner);
    if (game.end == GameEnd::kConceded) return;
    lose_standing(work.state, game.claimant);
    if (!is_over(job.phase)) drop(work, job, roster_entry(job, game.claimant), reason_of(game), game.round);
}

/// All that is left of its bond for the job.
void lose_enlistment(Work& work, Job& job, Game& game) {
    EnlistedVerifier& verifier = enlisted_verifier(job, game.claimant);
    const Amount lost = verifier.bond;
    split(work, job, game, game.claimant, game.challenger_owner, lost,
          returned_part(params_of(work.state, job), lost));
    verifier.bond = {};
    verifier.dropped = true;
    Verifier record = *read_verifier(work.state, game.claimant);
    record.penalised = saturating_sum(record.penalised, lost);
    store(work.state, verifier_key(game.claimant), record);
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
        game.returned = claim.held;
        job.escrow = sum(job.escrow, claim.held);
        job.spent = difference(job.spent, claim.held);
        claim.bond = claim.held = {};
        claim.dead = true;
        const auto settled = required(read_round_progress(work.state, id, game.round)).settled_at;
        const std::uint64_t calls = params_of(work.state, job).dispute_move_window;
        forget_window(work.state, game.claim_id(id), claim);
        claim.window = std::max(claim.window, later(work.block.height, calls) - settled);
        store(work.state, claim_key(game.claim_id(id)), claim);
    }
    write_job(work.state, job);
}

void lose_challenge(Work& work, const Hash256& id, Game& game) {
    if (game.bond.is_zero()) return;
    const Job job = required(read_job(work.state, id));
    split(work, job, game, game.challenger, game.claimant_owner, game.bond, smaller(game.cost, game.bond));
}

void void_job(Work& work, const Hash256& id) {
    Job job = required(read_job(work.state, id));
    if (is_over(job.phase)) return;
    job.found_void = true;
    write_job(work.state, job);
}

}  // namespace assay::contracts
