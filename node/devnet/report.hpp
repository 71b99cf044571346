// SPDX-License-Identifier: Apache-2.0
// What a demo comes to: one object for scripts ("assay.devnet.demo/v1") and tables for people.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/devnet/plan.hpp"

namespace assay::node {

struct MinerReport {
    std::string name;
    base::PublicKey node;
    std::string behaviour;
    base::Amount paid;
    base::Amount forfeited;
    std::uint32_t drawn = 0;  ///< units drawn of its slots
    std::optional<std::uint32_t> caught_round;
    std::string reason;   ///< of its last settlement line
    std::string finding;  ///< what was found, in one sentence; empty for nothing
};

struct VerifierReport {
    std::string name;
    base::PublicKey node;
    base::Amount paid;
    std::uint64_t recomputed = 0;  ///< units
};

/// Money of one job: escrowed = spent + refunded, and spent is what the lines below it say.
struct BuyerReport {
    base::Amount escrowed;
    base::Amount spent;
    base::Amount refunded;
};

struct AuditOutcome {
    bool ledger = false;
    bool payouts = false;
    std::uint64_t replayed = 0;  ///< slots recomputed after the fact
    std::int64_t supply_delta = 0;
    bool flipped_byte_found = false;
    std::string flipped_byte_where;
};

struct LossReport {
    std::uint32_t train_first = 0, train_last = 0, held_out_first = 0, held_out_last = 0;  ///< binary32 bits
};

struct DemoReport {
    std::string home;
    base::Hash256 job;
    std::string profile;
    std::uint64_t parameters = 0;
    std::uint64_t tokens = 0;  ///< trained on and accepted
    std::uint32_t rounds = 0;
    base::Hash256 model_root;
    LossReport loss;
    std::vector<MinerReport> miners;
    std::vector<VerifierReport> verifiers;
    BuyerReport buyer;
    AuditOutcome audit;
    double recomputed_share = 0;  ///< steps recomputed by verifiers ÷ steps trained
    double seconds_share = 0;     ///< wall time from reveal to verdict ÷ wall time of the rounds
    double seconds = 0;
    std::string sample_before;
    std::string sample_after;
};

/// Miners, verifiers and buyer of one job, from the state.
void fill_parties(DemoReport& report, const Devnet& net, const contracts::StateView& state,
                  const contracts::Job& job);

std::string to_json(const DemoReport& report);
void print_tables(const DemoReport& report, std::ostream& out);

}  // namespace assay::node
