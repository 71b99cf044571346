// SPDX-License-Identifier: Apache-2.0
// Gives tests of games about merges a job whose first round is about to be merged.
#pragma once

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

inline constexpr std::uint64_t kMergeOpenFor = 40;

inline Params merges_with_games() {
    Params params = short_windows();
    params.claim_window = kMergeOpenFor;
    params.dispute_move_window = 6;
    return params;
}

/// Two miners and some verifiers in a job whose first round is about to be merged; m5 is enlisted for none.
struct MergeCourt {
    Env env;
    std::vector<std::string> verifiers;
    Hash256 job;

    explicit MergeCourt(Params params = merges_with_games(), JobSpec spec = small_job(),
                        std::vector<std::string> enlisted = {"v1", "v2", "v3", "v4"},
                        const std::string& owner_of_v4 = "v4")
        : env(params), verifiers(std::move(enlisted)) {
        env.person("v4").owner = base::SecretKey::from_seed(bytes_of("owner " + owner_of_v4).view());
        for (const char* miner : {"m1", "m2"}) env.miner(miner);
        for (const std::string& verifier : verifiers) env.verifier(verifier);
        env.verifier("m5");
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, verifiers);
        play_commits(env, job, {});
        play_links(env, job, {});
        play_verdicts(env, job, {});
        REQUIRE(env.round(job).phase == RoundPhase::kMergeSeal);
    }
    void merge(const std::map<std::string, MergeManner>& mergers) {
        play_merges(env, job, {.mergers = mergers});
        REQUIRE(settled().phase == RoundPhase::kSettled);
    }
    /// Each of them seals and opens this claim; the others post nothing.
    void merge(const std::map<std::string, MergeClaim>& claims) {
        const Hash256 salt = bytes_of("salt");
        for (const auto& [name, claim] : claims) {
            Person& who = env.person(name);
            env.send(who, MergeSeal{job, 0, merge_seal(env.chain(), job, 0, who.node_key(), claim, salt)});
        }
        if (claims.size() < verifiers.size()) env.advance_to(env.round(job).phase_deadline + 1);
        for (const auto& [name, claim] : claims) env.send(env.person(name), MergeOpen{job, 0, claim, salt});
        REQUIRE(settled().phase == RoundPhase::kSettled);
    }
    MergeClaim of_slots(const std::vector<std::uint32_t>& slots) { return merge_of(env.job(job), 0, slots); }
    MergeClaim not_finite(const std::vector<std::uint32_t>& slots) {
        return {.slots = of_slots(slots).slots};
    }
    Round settled() { return *read_round(env.whole(), job, 0); }
    SettlementLine line(const std::string& name) { return line_of(env, job, 0, LineKind::kMerge, name); }
    /// The merge claim of round 0 that is open.
    ClaimId name() {
        for (const auto& [id, claim] : list_claims(env.state(), job))
            if (id.kind == ClaimKind::kMerge && id.round == 0) return id;
        FAIL("no merge is open");
        std::abort();
    }
    DisputeOpen challenge(dispute::UnitKind unit = dispute::UnitKind::kMerge, std::uint32_t part = 0) {
        return {job, 0, ClaimKind::kMerge, name().number, unit, part};
    }
    Game game(std::uint32_t number) { return *read_game(env.whole(), job, number); }
    /// Who vouched for the unit that a game is about.
    std::vector<PublicKey> vouchers(std::uint32_t number = 0) {
        return vouchers_of(env.state(), name(), game(number).unit, game(number).part);
    }
    DisputeCall call(const PublicKey& verifier, std::uint32_t number = 0) {
        return {job, number, game(number).unit, game(number).part, verifier};
    }
    EnlistedVerifier enlisted(const PublicKey& node) {
        const Job record = env.job(job);
        for (const EnlistedVerifier& one : record.verifiers)
            if (one.node == node) return one;
        FAIL("nobody of this key is enlisted");
        std::abort();
    }
};

inline const std::map<std::string, MergeManner> kThreeConspire = {
    {"v1", MergeManner::kConspires}, {"v2", MergeManner::kConspires}, {"v3", MergeManner::kConspires}};

}  // namespace assay::contracts::test
