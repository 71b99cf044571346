// SPDX-License-Identifier: Apache-2.0
// Gives markets in one thread what may differ from one to another.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "contracts/program/job_spec.hpp"
#include "node/roles/miner.hpp"

namespace assay::node::test_market {

struct MarketOptions {
    std::vector<std::string> miners = {"mia", "moe"};
    std::vector<std::string> verifiers = {"vera", "viki", "vito"};
    std::vector<std::string> buyers = {"bea"};      ///< each buys one job; that of each has a seed of its own
    std::uint64_t quota = std::uint64_t{64} << 30;  ///< of every store
    std::map<std::string, std::uint64_t> quotas;    ///< of single parties' stores
    std::map<std::string, std::uint64_t> asks;      ///< of single miners; 500 of the others
    std::uint64_t claim_window = 0;
    bool draw_everything = true;  ///< else `finalise` alone
    bool draw_finalise = true;    ///< else the unit `update` in its place
    std::uint32_t rounds = 2;
    std::uint64_t audit_window = 16;  ///< heights in which audits are sealed
    program::Strategy strategy = program::kStandardStrategy;
    program::InnerState inner_state = program::InnerState::kReset;
    std::uint32_t width = 0;                                  ///< of the model; 0: the tiny job's
    std::set<std::string> outward;                            ///< miners that accept no connection
    std::uint64_t luck = 0;                                   ///< another number, another job: other draws
    std::map<std::string, std::vector<PlannedDrill>> drills;  ///< of single miners
    std::set<std::string> colluding;           ///< verifiers that say what the first miner claims
    std::map<std::string, double> challenges;  ///< VerifierOptions::challenge of verifiers and buyers

    [[nodiscard]] base::Amount ask_of(const std::string& name) const {
        const auto found = asks.find(name);
        return found == asks.end() ? base::units(500) : base::Amount::of(found->second).value();
    }
    [[nodiscard]] double challenge_of(const std::string& name) const {
        return challenges.contains(name) ? challenges.at(name) : 0;
    }
    [[nodiscard]] MinerOptions of_miner(const std::string& name) const {
        MinerOptions options{.ask = ask_of(name), .drills = {}};
        if (drills.contains(name)) options.drills = drills.at(name);
        return options;
    }
};

}  // namespace assay::node::test_market
