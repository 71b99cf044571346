// SPDX-License-Identifier: Apache-2.0
// Gives markets in one thread what may differ from one to another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "contracts/program/job_spec.hpp"
#include "node/roles/miner.hpp"

namespace assay::node::test_market {

struct MarketOptions {
    std::vector<std::string> miners = {"mia", "moe"};
    std::vector<std::string> verifiers = {"vera", "viki", "vito"};
    std::vector<std::string> buyers = {"bea"};  ///< each buys one job; that of each has a seed of its own
    std::set<std::string> late;  ///< buyers that buy when the test has them do so (Market::buy)
    std::uint64_t quota = std::uint64_t{64} << 30;  ///< of every store
    std::map<std::string, std::uint64_t> quotas;    ///< of single parties' stores
    std::map<std::string, std::uint64_t> asks;      ///< of single miners; 500 of the others
    std::optional<std::uint64_t> claim_window;      ///< else three times audit_window
    std::optional<std::uint64_t> move_window;       ///< of games; else the chain's
    bool draw_everything = true;                    ///< else `finalise` alone
    bool draw_finalise = true;                      ///< else the unit `update` in its place
    std::uint32_t rounds = 2;
    std::uint64_t commit_window = 16;     ///< heights in which slots are trained
    std::uint64_t block_interval_ms = 0;  ///< of the genesis; 0: heights say nothing of time
    std::uint64_t audit_window = 16;      ///< heights in which audits are sealed
    program::Strategy strategy = program::kStandardStrategy;
    program::InnerState inner_state = program::InnerState::kReset;
    std::optional<float> max_update_norm;                     ///< of the job; none: updates have no bound
    std::uint32_t width = 0;                                  ///< of the model; 0: the tiny job's
    std::map<std::string, std::uint32_t> widths;              ///< of the models of single buyers' jobs
    std::set<std::string> outward;                            ///< miners that accept no connection
    std::optional<base::Amount> miner_stake;                  ///< of each miner; none: plenty
    std::uint64_t luck = 0;                                   ///< another number, another job: other draws
    std::map<std::string, std::vector<PlannedDrill>> drills;  ///< of single miners
    std::set<std::string> colluding;             ///< verifiers that say what the first miner claims
    std::map<std::string, Misconduct> conducts;  ///< of single verifiers
    std::map<std::string, MinerOptions> limits;  ///< hours and power of single miners
    std::map<std::string, double> challenges;    ///< `challenge` of single verifiers and buyers
    program::MarketTerms terms;                  ///< of every job; none: each holds an auction of its own
    std::map<std::string, std::uint64_t> caps;   ///< of single buyers' jobs; 1,000 of the others
    std::optional<base::Amount> budget;          ///< of every job; none: plenty
    std::map<std::string, std::uint64_t> bids;   ///< BuyerOptions::bid of single buyers
    contracts::MarketParams epochs = {.epoch = 20, .seal_window = 5, .open_window = 5};

    [[nodiscard]] double challenge_of(const std::string& name) const {
        const auto found = challenges.find(name);
        return found == challenges.end() ? 0 : found->second;
    }
    [[nodiscard]] std::optional<base::Amount> bid_of(const std::string& name) const {
        const auto found = bids.find(name);
        return found == bids.end() ? std::nullopt : base::Amount::of(found->second);
    }
    [[nodiscard]] MinerOptions of_miner(const std::string& name) const {
        const auto ask = asks.find(name);
        const base::Amount price =
            ask == asks.end() ? base::units(500) : base::Amount::of(ask->second).value();
        MinerOptions options = limits.contains(name) ? limits.at(name) : MinerOptions{};
        options.ask = price;
        if (drills.contains(name)) options.drills = drills.at(name);
        return options;
    }
};

}  // namespace assay::node::test_market
