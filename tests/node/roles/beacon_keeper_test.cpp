// SPDX-License-Identifier: Apache-2.0
#include "node/roles/beacon_keeper.hpp"

#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace contracts::test;
using contracts::RoundPhase;

std::vector<contracts::BeaconOpen> wanted(Env& env, const base::Hash256& job, const std::string& name) {
    std::vector<contracts::BeaconOpen> offers;
    const Person& who = env.person(name);
    keep_beacon(env.state(), env.job(job), who.node_key(), who.secret,
                [&](const std::string&, contracts::Payload payload) {
                    offers.push_back(std::get<contracts::BeaconOpen>(payload));
                });
    return offers;
}

}  // namespace

TEST_CASE("a participant opens its link in the beacon phase of each round, once, and the rules accept it") {
    Env env;
    for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    const base::Hash256 job = env.post(small_job());
    env.hold_auction(job, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
    const std::vector<std::string> members{"buyer", "sequencer", "v1", "v2", "v3"};
    for (std::uint32_t round = 0; round < 2; ++round) {
        REQUIRE(env.job(job).round == round);
        REQUIRE(env.round(job).phase == RoundPhase::kCommit);
        for (const std::string& name : members) REQUIRE(wanted(env, job, name).empty());
        play_commits(env, job, {});
        REQUIRE(env.round(job).phase == RoundPhase::kBeacon);
        REQUIRE(wanted(env, job, "m1").empty());  // miners are no members
        for (const std::string& name : members) {
            const auto offers = wanted(env, job, name);
            REQUIRE(offers.size() == 1);
            REQUIRE((offers[0].job == job && offers[0].round == round));
            env.send(env.person(name), offers[0]);  // a wrong link would be refused
            REQUIRE(wanted(env, job, name).empty());
        }
        REQUIRE(env.round(job).phase != RoundPhase::kBeacon);
        play_verdicts(env, job, {});
        play_merges(env, job, {});
    }
}

TEST_CASE(
    "after a void try a member opens its next link, started again or not, and who withheld opens none") {
    Env env;
    for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
    for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
    const base::Hash256 job = env.post(small_job());
    env.hold_auction(job, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
    play_commits(env, job, {});
    const auto early = wanted(env, job, "v1");
    REQUIRE((early.size() == 1 && early[0].index == 0));
    open_links(env, job, {"v1"});
    // Whoever is started again while the try waits for others opens nothing more.
    REQUIRE(wanted(env, job, "v2").empty());
    env.advance_to(env.round(job).phase_deadline + 1);
    REQUIRE(env.round(job).phase == RoundPhase::kBeacon);
    REQUIRE(wanted(env, job, "v1").empty());
    for (const char* name : {"buyer", "sequencer", "v2", "v3"}) {
        const auto offers = wanted(env, job, name);
        REQUIRE((offers.size() == 1 && offers[0].index == 1));
        REQUIRE(wanted(env, job, name)[0].link == offers[0].link);
        env.send(env.person(name), offers[0]);
    }
    REQUIRE(env.round(job).phase != RoundPhase::kBeacon);
    REQUIRE(env.round(job).link_missing);
}

TEST_CASE("beacon secrets follow from key and job, and differ between either") {
    const auto key = base::SecretKey::from_seed(bytes_of("a").view());
    const auto other = base::SecretKey::from_seed(bytes_of("b").view());
    const auto secret = beacon_secret(key, bytes_of("job").view());
    REQUIRE(secret == beacon_secret(key, bytes_of("job").view()));
    REQUIRE_FALSE(secret == beacon_secret(other, bytes_of("job").view()));
    REQUIRE_FALSE(secret == beacon_secret(key, bytes_of("another job").view()));
    // Publishing a link gives nothing away about the next one: hashing goes the other way.
    const auto tip = contracts::chain_tip(secret, 3);
    REQUIRE_FALSE(contracts::chain_link(secret, 3, 0) == contracts::chain_link(secret, 3, 1));
    REQUIRE_FALSE(contracts::chain_link(secret, 3, 0) == tip);
}

}  // namespace assay::node
