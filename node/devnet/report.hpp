// SPDX-License-Identifier: Apache-2.0
// Gives the demo's caller its result: a view for scripts ("assay.devnet.demo/v1", node/views/json.hpp) and
// tables for people.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/devnet/plan.hpp"
#include "node/views/dispute_view.hpp"

namespace assay::node {

struct MinerReport {
    std::string name;
    base::PublicKey node;
    std::string behaviour;
    base::Amount paid;
    base::Amount forfeited;   ///< by settlement lines and lost games
    std::uint32_t drawn = 0;  ///< units drawn of its slots
    std::optional<std::uint32_t> caught_round;
    std::string reason;   ///< of its last settlement line
    std::string finding;  ///< what was found, in one sentence; empty for nothing

    template <class Visit>
    void fields(Visit& visit) const {
        visit("id", name);
        visit("node", node);
        visit("behaviour", behaviour);
        visit("paid", paid);
        visit("forfeited", forfeited);
        visit("drawn", drawn);
        visit("caught_round", caught_round);
        visit("reason", reason);
        if (caught_round) visit("finding", finding);
    }
};

struct VerifierReport {
    std::string name;
    base::PublicKey node;
    base::Amount paid;
    std::uint64_t recomputed = 0;  ///< units
    base::Amount forfeited;        ///< by settlement lines and lost games

    template <class Visit>
    void fields(Visit& visit) const {
        visit("id", name);
        visit("node", node);
        visit("paid", paid);
        visit("recomputed", recomputed);
        visit("forfeited", forfeited);
    }
};

/// Money of one job: escrowed = spent + refunded. The settlement lines add up to spent.
struct BuyerReport {
    base::Amount escrowed;
    base::Amount spent;
    base::Amount refunded;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("escrowed", escrowed);
        visit("spent", spent);
        visit("refunded", refunded);
    }
};

struct AuditOutcome {
    bool ledger = false;
    bool payouts = false;
    std::uint64_t disputes = 0;  ///< judged games played again
    std::uint64_t replayed = 0;  ///< slots recomputed after the fact
    std::int64_t supply_delta = 0;
    bool flipped_byte_found = false;
    std::string flipped_byte_where;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("ledger", ledger);
        visit("payouts", payouts);
        visit("disputes", disputes);
        visit("replayed", replayed);
        visit("supply_delta", supply_delta);
        visit("flipped_byte_found", flipped_byte_found);
    }
};

struct LossReport {
    std::uint32_t train_first = 0, train_last = 0, held_out_first = 0, held_out_last = 0;  ///< binary32 bits

    template <class Visit>
    void fields(Visit& visit) const {
        visit("train_first", std::bit_cast<float>(train_first));
        visit("train_last", std::bit_cast<float>(train_last));
        visit("held_out_first", std::bit_cast<float>(held_out_first));
        visit("held_out_last", std::bit_cast<float>(held_out_last));
    }
};

/// The cost of checking.
struct CheckingReport {
    double recomputed_share = 0;  ///< steps recomputed by verifiers ÷ steps trained
    double seconds_share = 0;     ///< wall time from reveal to verdict ÷ wall time of the rounds

    template <class Visit>
    void fields(Visit& visit) const {
        visit("recomputed_share", recomputed_share);
        visit("seconds_share", seconds_share);
    }
};

/// The model's continuation of the same words.
struct SampleReport {
    std::string before, after;  ///< training

    template <class Visit>
    void fields(Visit& visit) const {
        visit("before", before);
        visit("after", after);
    }
};

struct DemoReport {
    std::string home;
    base::Hash256 job;
    std::string profile;
    std::uint64_t parameters = 0;
    std::uint64_t tokens = 0;  ///< trained on and accepted
    std::uint32_t rounds = 0;
    base::Hash256 model_root;
    base::Amount clearing_price;  ///< per work unit
    LossReport loss;
    std::vector<MinerReport> miners;
    std::vector<VerifierReport> verifiers;
    BuyerReport buyer;
    std::vector<DisputeRow> disputes;  ///< ended ones, in their order
    AuditOutcome audit;
    CheckingReport verification;
    SampleReport sample;
    double seconds = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("home", home);
        visit("job", job);
        visit("profile", profile);
        visit("parameters", parameters);
        visit("tokens", tokens);
        visit("rounds", rounds);
        visit("model_root", model_root);
        visit("clearing_price", clearing_price);
        visit("loss", loss);
        visit("miners", miners);
        visit("verifiers", verifiers);
        visit("buyer", buyer);
        visit("disputes", disputes);
        visit("audit", audit);
        visit("verification", verification);
        visit("sample", sample);
        visit("seconds", seconds);
    }
};

/// Fills in miners, verifiers and buyer of one job from the state. REQUIRES DemoReport::disputes.
void fill_parties(DemoReport& report, const Devnet& net, const contracts::StateView& state,
                  const contracts::Job& job);

void print_tables(const DemoReport& report, std::ostream& out);

}  // namespace assay::node
