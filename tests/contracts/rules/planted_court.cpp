// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/rules/planted_court.hpp"

namespace assay::contracts::test {

namespace {
constexpr const char* kVerifiers[] = {"v1", "v2", "v3"};
}  // namespace

PlantedCourt::PlantedCourt(JobSpec spec, const TraceOf& trace, const MergeOf& merge) {
    Play play;
    for (const char* const miner : {"m1", "m2"}) env.miner(miner);
    for (const char* const verifier : kVerifiers) {
        env.verifier(verifier);
        play.verifiers[verifier] = VerifierManner::kColludes;
    }
    env.verifier("v4");
    spec.security.audit_threshold = spec.security.finalise_threshold = UINT64_MAX;
    job = env.post(spec);
    env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    for (std::uint32_t slot = 0; slot < 2; ++slot) play.traces[slot] = trace(env.job(job), slot);
    env.next_block();
    play_commits(env, job, play);
    play_links(env, job, play);
    play_verdicts(env, job, play);
    if (!merge) {
        play_merges(env, job, play);
    } else {
        const MergeClaim claim = merge(env.job(job));
        const Hash256 salt = bytes_of("salt");
        for (const char* const name : kVerifiers) {
            Person& who = env.person(name);
            env.send(who, MergeSeal{job, 0, merge_seal(env.chain(), job, 0, who.node_key(), claim, salt)});
        }
        for (const char* const name : kVerifiers) env.send(env.person(name), MergeOpen{job, 0, claim, salt});
    }
    REQUIRE(read_round(env.state(), job, 0)->phase == RoundPhase::kSettled);
}

DisputeOpen PlantedCourt::about_merge(UnitKind unit, std::uint32_t part) {
    for (const auto& [id, claim] : list_claims(env.state(), job))
        if (id.kind == ClaimKind::kMerge && id.round == 0) return {job, 0, id.kind, id.number, unit, part};
    FAIL("no merge is open");
    std::abort();
}

Game PlantedCourt::play_on(std::uint32_t number, dispute::UnitMemory& claimant,
                           dispute::UnitMemory& challenger) {
    const JobSpec spec = env.job(job).spec;
    for (;;) {
        const Game game = read_game(env.state(), job, number).value();
        if (game.phase != GamePhase::kRunning) return game;
        const dispute::UnitClaim unit = read_game_pieces(env.state(), job, number)->unit;
        Person& accused = env.by_node(game.claimant);
        if (game.way.claimant_moves() && game.way.stage == WayStage::kWitness) {
            env.send(accused, DisputeProve{job, number, claimant.witness(game.way)});
        } else if (game.way.claimant_moves()) {
            env.send(accused, DisputePost{job, number, dispute::next_post(game.way, claimant)});
        } else {
            dispute::UnitFacts facts(spec, unit);
            const auto pick = dispute::next_pick(game.way, facts, challenger);
            REQUIRE(pick);
            env.send(env.by_node(game.challenger), DisputePick{job, number, *pick});
        }
    }
}

Game PlantedCourt::convict(const DisputeOpen& challenge, dispute::UnitMemory& claimant,
                           dispute::UnitMemory& challenger) {
    const ClaimId id{job, 0, challenge.kind, challenge.number};
    const Claim claim = *read_claim(env.state(), id);
    const std::string accused = env.by_node(claim.node).name;
    const std::uint64_t stake = env.stake(accused);
    env.send(env.person("v4"), challenge);
    const auto number = static_cast<std::uint32_t>(list_games(env.state(), job).size() - 1);
    const Game game = play_on(number, claimant, challenger);
    CHECK(game.end == GameEnd::kJudged);
    REQUIRE(game.claimant_lost);
    CHECK(read_claim(env.state(), id)->dead);
    CHECK_FALSE(game.lost.is_zero());
    CHECK(game.lost >= claim.bond);
    CHECK(env.stake(accused) == stake - game.lost.units());
    CHECK(game.to_winner.units() + game.to_buyer.units() <= game.lost.units());
    const auto vouchers = vouchers_of(env.state(), game.claim_id(job), game.unit, game.part);
    REQUIRE_FALSE(vouchers.empty());
    const std::string voucher = env.by_node(vouchers[0]).name;
    const std::uint64_t vouched = env.stake(voucher);
    env.send(env.person("v4"), DisputeCall{job, number, game.unit, game.part, vouchers[0]});
    const Game called = play_on(number + 1, claimant, challenger);
    CHECK(called.called);
    CHECK(called.end == GameEnd::kJudged);
    CHECK(called.claimant_lost);
    CHECK_FALSE(called.lost.is_zero());
    CHECK(env.stake(voucher) == vouched - called.lost.units());
    return game;
}

}  // namespace assay::contracts::test
