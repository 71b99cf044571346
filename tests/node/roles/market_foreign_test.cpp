// SPDX-License-Identifier: Apache-2.0
// A verifier that computes slots of jobs again for which it does not work: neither their files nor their
// refusals come before what it owes to its own jobs.
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/kept_bytes.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "tests/node/roles/market_games.hpp"

namespace assay::node {
namespace {

using namespace test_market;

constexpr std::uint64_t kClaimWindow = 120;
constexpr std::uint32_t kForeignWidth = 80;

/// vito's store holds what ben's job makes it keep, and not what bea's larger one does. It computes every
/// settled slot of both again.
MarketOptions with_a_foreign_job() {
    MarketOptions options;
    options.buyers = {"bea", "ben"};
    options.rounds = 3;
    options.claim_window = kClaimWindow;
    options.widths["bea"] = kForeignWidth;
    options.challenges["vito"] = 1;
    program::JobSpec own = tests::tiny_job().spec;
    own.rounds = options.rounds;
    // A download of unknown size takes a chunk.
    options.quotas["vito"] = program::most_kept(own, kClaimWindow).verifier + kChunkBytes;
    return options;
}

bool is_enlisted(const contracts::Job& job, const Party& party) {
    return std::any_of(job.verifiers.begin(), job.verifiers.end(),
                       [&](const auto& one) { return one.node == party.node.public_key(); });
}

bool is_in_rounds(const std::optional<contracts::Job>& job) {
    return job && job->phase == contracts::JobPhase::kRounds;
}

/// Begins a market in which vito works for ben's job alone.
void begin(Market& market) {
    market.start();
    REQUIRE(market.turn_until(
        [&] { return is_in_rounds(market.job_of("bea")) && is_in_rounds(market.job_of("ben")); }));
    INFO(words_of(market, "vito"));
    REQUIRE_FALSE(is_enlisted(*market.job_of("bea"), market.party("vito")));
    REQUIRE(is_enlisted(*market.job_of("ben"), market.party("vito")));
}

/// Nobody serves the base of round 1 of bea's job from the moment on when its miners have trained.
void withhold_base(Market& market) {
    const auto job = market.job_of("bea");
    const auto round = contracts::read_round(market.state(), job->id, 1);
    if (!round || round->phase <= contracts::RoundPhase::kAuditOpen) return;
    for (const auto& [name, party] : market.parties()) market.party(name).withheld.insert(round->base_blob);
}

}  // namespace

TEST_CASE("what a verifier accused in its own job it challenges, whatever it cannot compute of another job") {
    for (const bool refused : {false, true}) {
        INFO("refused by the machine: " << refused);
        bool opened = false;
        for (std::uint64_t luck = 0; luck < 8 && !opened; ++luck) {
            MarketOptions options = with_a_foreign_job();
            options.luck = luck;
            options.drills["mia"] = {one_ulp()};
            options.drills["mia"].front().round = 2;
            Market market(options);
            begin(market);
            Party& vito = market.party("vito");
            if (refused) {
                vito.worker.instead = [&](const frames::Message& message) -> std::optional<frames::Message> {
                    const auto* open = std::get_if<frames::OpenJob>(&message);
                    if (open == nullptr || open->spec.seed != market.spec_of("bea").seed) return std::nullopt;
                    return frames::Refusal{frames::RefusalReason::kMachine, "not on this machine", {}};
                };
            }
            const base::Hash256 own = market.job_of("ben")->id;
            const auto settled = [&](const base::Hash256& job, std::uint32_t round) {
                const auto now = contracts::read_round_progress(market.state(), job, round);
                return now && now->phase == contracts::RoundPhase::kSettled;
            };
            const base::Hash256 foreign = market.job_of("bea")->id;
            REQUIRE(market.turn_until([&] {
                if (!refused) withhold_base(market);
                return settled(own, 2);
            }));
            REQUIRE(settled(foreign, 1));
            const std::uint64_t settled_at = market.height();
            bool accused = false;
            for (const auto& [id, claim] : contracts::list_claims(market.state(), own, 2))
                accused = accused || contracts::unused_accusation(claim, vito.node.public_key());
            if (!accused) continue;
            opened = market.turn_until(
                [&] {
                    const auto games = contracts::list_games(market.state(), own);
                    return std::any_of(games.begin(), games.end(), [&](const Game& game) {
                        return game.challenger == vito.node.public_key() && game.accuses;
                    });
                },
                12);
            INFO(words_of(market, "vito"));
            CHECK(opened);
            CHECK(market.height() <= settled_at + 12);
            CHECK(vito.log.said("is not computed again", "refuses its job") == refused);
        }
        CHECK(opened);
    }
}

TEST_CASE("slots of another job are computed again in no room that was promised to its own job") {
    MarketOptions options = with_a_foreign_job();
    program::JobSpec foreign = tests::tiny_job().spec;
    foreign.model.width = kForeignWidth;
    const std::uint64_t base = program::file_sizes(foreign).base_state;
    REQUIRE(base < options.quotas["vito"]);
    REQUIRE(2 * base > options.quotas["vito"]);
    Market market(options);
    begin(market);
    REQUIRE(market.turn_until(
        [&] {
            return market.job_of("bea")->phase == contracts::JobPhase::kEnded &&
                   market.job_of("ben")->phase == contracts::JobPhase::kEnded;
        },
        800));
    Party& vito = market.party("vito");
    INFO(words_of(market, "vito"));
    CHECK(vito.log.said(market.job_of("bea")->id.brief(), "is what it claims to be"));
    const auto whole = market.with_evidence();
    std::size_t opened = 0;
    for (std::uint32_t round = 0; round < options.rounds; ++round) {
        for (const auto stage : contracts::kStages) {
            const auto posting =
                contracts::read_audit(whole, market.job_of("ben")->id, round, stage, vito.node.public_key());
            if (!posting) continue;
            INFO("round " << round);
            CHECK(posting->opened);
            ++opened;
        }
    }
    CHECK(opened > 0);
    CHECK_FALSE(vito.ended);
}

}  // namespace assay::node
