// SPDX-License-Identifier: Apache-2.0
#include "node/roles/onboarding.hpp"

#include <utility>
#include <vector>

#include "tests/contracts/rules/env.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using contracts::test::Env;
using contracts::test::Person;

struct Offered {
    std::string name;
    contracts::Payload payload;
};

OnboardingWants wants_of(const Env& env, const Person& who, WorkRole role) {
    return {.role = role,
            .owner = who.owner_key(),
            .node = who.node_key(),
            .node_proof = contracts::prove_node_key(who.node, who.owner_key(), env.chain()),
            .endpoint = "127.0.0.1:5000",
            .stake = contracts::test::amount(contracts::test::kPlenty)};
}

// Does what onboard() asks for, one step at a time, until it is content.
std::vector<std::string> follow_steps(Env& env, Person& who, const OnboardingWants& wants) {
    std::vector<std::string> names;
    for (int i = 0; i < 10; ++i) {
        std::vector<Offered> offered;
        const bool done =
            onboard(env.state(), wants, [&](const std::string& name, contracts::Payload payload) {
                offered.push_back({name, std::move(payload)});
            });
        if (done) {
            REQUIRE(offered.empty());
            REQUIRE_FALSE(missing_step(env.state(), wants).has_value());
            return names;
        }
        REQUIRE(offered.size() == 1);
        REQUIRE(missing_step(env.state(), {.role = wants.role, .node = wants.node, .stake = wants.stake}) ==
                offered[0].name);
        env.send(who, offered[0].payload);  // the rules take every step where it comes
        names.push_back(offered[0].name);
    }
    FAIL("onboarding does not end");
    return names;
}

}  // namespace

TEST_CASE("onboarding takes its steps one by one in the order that the rules allow") {
    Env env;
    Person& miner = env.person("m1");
    REQUIRE(follow_steps(env, miner, wants_of(env, miner, WorkRole::kMiner)) ==
            std::vector<std::string>{"register node key", "register miner", "deposit stake"});
    REQUIRE(contracts::read_miner(env.state(), miner.node_key())->endpoint == "127.0.0.1:5000");
    Person& verifier = env.person("v1");
    REQUIRE(follow_steps(env, verifier, wants_of(env, verifier, WorkRole::kVerifier)) ==
            std::vector<std::string>{"register node key", "register verifier", "deposit stake"});
    Person& buyer = env.person("buyer");
    OnboardingWants buys = wants_of(env, buyer, WorkRole::kBuyer);
    const base::Amount bonds = std::exchange(buys.stake, {});
    REQUIRE(follow_steps(env, buyer, buys) == std::vector<std::string>{"register node key"});
    // One that challenges stakes, too.
    buys.stake = bonds;
    REQUIRE(follow_steps(env, buyer, buys) == std::vector<std::string>{"deposit stake"});
    // A second time nothing is missing.
    REQUIRE(follow_steps(env, miner, wants_of(env, miner, WorkRole::kMiner)).empty());
}

TEST_CASE("onboarding goes on where it was interrupted, and without stake wanted deposits none") {
    Env env;
    Person& miner = env.person("m2");
    env.send(miner,
             contracts::NodeRegister{miner.node_key(),
                                     contracts::prove_node_key(miner.node, miner.owner_key(), env.chain())});
    OnboardingWants wants = wants_of(env, miner, WorkRole::kMiner);
    wants.stake = {};
    REQUIRE(follow_steps(env, miner, wants) == std::vector<std::string>{"register miner"});
    wants.stake = contracts::test::amount(5);
    REQUIRE(follow_steps(env, miner, wants) == std::vector<std::string>{"deposit stake"});
}

}  // namespace assay::node
