// SPDX-License-Identifier: Apache-2.0
// A market with everything in it that a state can hold, played by the rules: a job that ended, a running one
// in its second round, with the merge sealed by all and opened by one, after a first round with a cheat and a
// withheld link, and one in bidding with a sealed ask. Vectors of older schemas were made by this script.
#pragma once

#include "tests/contracts/rules/rounds.hpp"

namespace assay::contracts::test {

struct BusyMarket {
    Env env;
    Hash256 ended, running, bidding;

    BusyMarket() {
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        const JobSpec spec = small_job();
        ended = env.post(spec);
        env.hold_auction(ended, {{"m1", 300}, {"m2", 400}, {"m3", 500}}, {"v1", "v2"});
        env.send(env.person("buyer"), JobCancel{ended});
        play_round(env, ended);
        running = env.post(spec, "other");
        env.hold_auction(running, {{"m1", 500}, {"m2", 600}, {"m3", 700}}, {"v1", "v2", "v3"});
        play_round(env, running, {.miners = {{"m1", MinerManner::kCheats}}, .withhold_links = {"v3"}});
        play_to_merge();
        env.send(env.person("m3"), StakeWithdraw{env.person("m3").node_key(), amount(1'000)});
        bidding = env.post(spec);
        env.enlist("v1", bidding);
        env.send(env.person("m3"), AskCommit{bidding, bytes_of("a sealed ask")});
    }

private:
    /// Two seal the merge of the running round, and one opens it.
    void play_to_merge() {
        play_commits(env, running, {});
        play_links(env, running, {});
        play_verdicts(env, running, {});
        const Job job = env.job(running);
        const MergeClaim claim = true_merge(env.state(), job, job.round);
        const Hash256 salt = bytes_of("merge salt");
        const Round round = env.round(running);
        for (const MergePosting& posting : round.merges) {
            env.send(env.by_node(posting.verifier),
                     MergeSeal{running, job.round,
                               merge_seal(env.chain(), running, job.round, posting.verifier, claim, salt)});
        }
        env.send(env.by_node(round.merges.front().verifier), MergeOpen{running, job.round, claim, salt});
    }
};

}  // namespace assay::contracts::test
