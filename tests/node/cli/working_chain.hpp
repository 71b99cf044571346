// SPDX-License-Identifier: Apache-2.0
// A served chain on which a job works, for commands about what it has locked.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "tests/contracts/rules/rounds.hpp"
#include "tests/node/cli/served_chain.hpp"

namespace assay::test {

/// m1 and m2 have a settled round of `job` behind them, whose windows are open, and its second round runs for
/// longer than any test. m2 has an ask for `asked`, nobody has one for `unasked`. m3, m4 and m5 have no work.
struct WorkingChain {
    static constexpr std::uint64_t kClaimWindow = 6000;
    static constexpr std::uint64_t kUnbonding = 100;

    WorkingChain() : env(params()) {
        for (const char* name : {"m1", "m2", "m3", "m4", "m5"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        contracts::JobSpec spec = contracts::test::small_job();
        spec.market.deadline_blocks = 100'000;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 100}, {"m2", 110}}, {"v1", "v2", "v3"});
        contracts::test::play_round(env, job);
        settled_at = contracts::read_round(env.whole(), job, 0)->settled_at;
        spec.name = "asked";
        asked = env.post(spec, "v3");
        const contracts::test::Person& m2 = env.person("m2");
        env.send(env.person("m2"),
                 contracts::AskCommit{asked, contracts::ask_seal(env.chain(), asked, m2.node_key(),
                                                                 contracts::test::amount(100), m2.secret)});
        spec.name = "unasked";
        unasked = env.post(spec, "other");
        chain.emplace(env);
    }
    static contracts::Params params() {
        contracts::Params params = contracts::test::short_windows();
        params.ask_commit_window = 600;  // a minute
        params.commit_window = 6000;
        params.claim_window = kClaimWindow;
        params.unbonding_delay = kUnbonding;
        return params;
    }
    [[nodiscard]] std::string node_of(const char* name) { return env.person(name).node_key().hex(); }
    [[nodiscard]] contracts::Stake stake_of(const char* name) {
        return contracts::read_stake(*chain->state(), env.person(name).node_key());
    }
    [[nodiscard]] std::uint64_t balance_of(const char* name) {
        return contracts::read_account(*chain->state(), env.person(name).owner_key()).balance.units();
    }

    contracts::test::Env env;
    base::Hash256 job, asked, unasked;
    std::uint64_t settled_at = 0;  ///< the first round of `job`
    std::optional<ServedChain> chain;
};

inline WorkingChain& working_chain() {
    static WorkingChain made;
    return made;
}

inline void wait_for(const std::function<bool()>& happened) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!happened()) {
        REQUIRE(std::chrono::steady_clock::now() < give_up);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

inline std::uint64_t units_in(const nlohmann::json& value) { return std::stoull(value.get<std::string>()); }

}  // namespace assay::test
