// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/dispute/phases.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

using dispute::GameOutcome;
using dispute::GameVerdict;
using dispute::UnitFacts;

GameFinding finding_of(const GameVerdict& verdict, std::size_t witness_bytes) {
    const auto high = [](base::Uint128 bits) { return static_cast<std::uint64_t>(bits >> 64U); };
    const auto low = [](base::Uint128 bits) { return static_cast<std::uint64_t>(bits); };
    return {.reason = verdict.reason,
            .cell = verdict.cell,
            .claimed_high = high(verdict.claimed),
            .claimed_low = low(verdict.claimed),
            .computed_high = high(verdict.computed),
            .computed_low = low(verdict.computed),
            .witness_bytes = static_cast<std::uint32_t>(witness_bytes)};
}

/// A running game with all that its next move is judged by.
class GameAtHand {
    JobTerms terms_;
    GamePieces pieces_;

public:
    /// REQUIRES an open game of the job.
    GameAtHand(const StateView& state, const Hash256& job, std::uint32_t number)
        : terms_(required(read_job_terms(state, job))),
          pieces_(required(read_game_pieces(state, job, number))),
          game(required(read_game(state, job, number))),
          facts(terms_.spec, pieces_.unit) {}

    Game game;
    UnitFacts facts;
};

Amount bond_of_challenge(const StateView& state, const Job& job, std::uint32_t round, const Claim& claim) {
    const Amount price = price_of_round(state, job, round);
    return required(challenge_bond(params_of(state, job), job, price, claim));
}

}  // namespace

void carry_out(Work& work, const Sent& sent, const DisputeOpen& tx) {
    const Job job = required(read_job(work.state, tx.job));
    const ClaimId id{tx.job, tx.round, tx.kind, tx.number};
    const Claim claim = required(read_claim(work.state, id));
    Game game = game_about(work.state, job, id, claim);
    game.unit = tx.unit;
    game.part = tx.part;
    game.challenger = sent.sender;
    game.challenger_owner = sent.owner;
    game.accuses = unused_accusation(claim, sent.sender).has_value();
    if (!game.accuses) game.bond = bond_of_challenge(work.state, job, id.round, claim);
    if (!game.bond.is_zero()) lock_stake(work.state, sent.sender, game.bond);
    open_game(work, job, std::move(game), required(unit_claim(work.state, id, tx.unit, tx.part)));
}

void carry_out(Work& work, const Sent&, const DisputePost& tx) {
    GameAtHand at(work.state, tx.job, tx.game);
    dispute::post(at.game.way, at.facts, tx.hashes);
    end_turn(work, tx.job, at.game);
}

void carry_out(Work& work, const Sent&, const DisputePick& tx) {
    GameAtHand at(work.state, tx.job, tx.game);
    dispute::pick(at.game.way, at.facts, tx.pick);
    end_turn(work, tx.job, at.game);
}

void carry_out(Work& work, const Sent&, const DisputeProve& tx) {
    GameAtHand at(work.state, tx.job, tx.game);
    const GameVerdict verdict = dispute::judge_way(at.game.way, at.facts, tx.witness);
    ++at.game.moves;
    GameResult outcome{GameEnd::kJudged, verdict.outcome == GameOutcome::kClaimantLoses,
                       finding_of(verdict, tx.witness.size())};
    if (verdict.outcome == GameOutcome::kJobVoid) outcome.end = GameEnd::kVoid;
    end_game(work, tx.job, std::move(at.game), outcome);
}

void carry_out(Work& work, const Sent& sent, const DisputeConcede& tx) {
    Game game = required(read_game(work.state, tx.job, tx.game));
    const bool claimant = game.claimant == sent.sender;
    end_game(work, tx.job, std::move(game), {GameEnd::kConceded, claimant, {}});
}

void carry_out(Work& work, const Sent& sent, const DisputeCall& tx) {
    Job job = required(read_job(work.state, tx.job));
    const Game killer = required(read_game(work.state, tx.job, tx.game));
    const ClaimId id = killer.claim_id(tx.job);
    const Claim claim = required(read_claim(work.state, id));
    Game game = game_about(work.state, job, id, claim);
    game.unit = tx.unit;
    game.part = tx.part;
    game.claimant = tx.verifier;
    game.claimant_owner = enlisted_verifier(job, tx.verifier).owner;
    game.challenger = sent.sender;
    game.challenger_owner = sent.owner;
    game.called = true;
    if (!is_winners_call(killer, sent.sender, tx))
        game.bond = bond_of_challenge(work.state, job, id.round, claim);
    if (!game.bond.is_zero()) lock_stake(work.state, sent.sender, game.bond);
    open_game(work, job, std::move(game), required(unit_claim(work.state, id, tx.unit, tx.part)));
}

}  // namespace assay::contracts
