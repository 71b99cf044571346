// SPDX-License-Identifier: Apache-2.0
// Every parameter of the rules, with its default and range, for rules, genesis and commands. The state keeps
// whole sets by their hash. One of them is current; a job keeps the set under which it was submitted
// (params_of).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/amount.hpp"
#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;

inline constexpr std::uint64_t kPartsPerMillion = 1'000'000;

struct Params {
    // Windows, in heights. They are generous maxima, since every phase closes as soon as all its messages are
    // in. The exceptions are the two bidding windows: nobody can know when they are complete.
    std::uint64_t ask_commit_window = 20;
    std::uint64_t ask_reveal_window = 20;
    std::uint64_t commit_window = 100'000;  ///< from the dealing of the slots to the last seal: training
    std::uint64_t beacon_window = 1'000;
    std::uint64_t serve_window = 1'000;         ///< opening the starts of the drawn runs
    std::uint64_t audit_seal_window = 100'000;  ///< recomputation
    std::uint64_t audit_open_window = 1'000;
    std::uint64_t reveal_window = 1'000;
    std::uint64_t storage_window = 10'000;  ///< from the last reveal to the last bitmap
    std::uint64_t merge_seal_window = 100'000;
    std::uint64_t merge_open_window = 1'000;
    /// Heights for which a claim stays open after its settlement: it can be challenged, its pay is held and
    /// its bond locked. At least three times the seal window.
    std::uint64_t claim_window = 300'000;
    std::uint64_t dispute_move_window = 100;  ///< what each move of a game adds to its player's clock
    std::uint64_t unbonding_delay = 100;      ///< from a withdrawal of stake to its arrival

    // Identities.
    Amount miner_fee = base::units(1'000'000);       ///< prepays the newcomer's own first audits
    Amount verifier_fee = base::units(1'000'000);    ///< to the treasury
    Amount ask_deposit = base::units(100'000);       ///< held from the miner's stake until the auction
    Amount verifier_bond = base::units(10'000'000);  ///< the least that a verifier locks for a job
    /// The least penalty for a merge that is not opened, an audit not sealed or not opened, or a lost
    /// accusation.
    Amount verifier_penalty = base::units(2'000'000);
    Amount link_penalty = base::units(1'000'000);  ///< least locked as a link bond
    Amount job_byte_fee = base::units(10);         ///< burned for each byte of a submitted specification
    Amount job_slot_fee = base::units(1'000);      ///< burned for each slot of each of a job's rounds
    std::uint32_t probation_rounds = 20;  ///< verified slot-rounds before the job's own audit rate applies
    std::uint32_t max_missed =
        2;  ///< absences, less half of one for each round attended, that drop a party from a job
    std::uint32_t speed_window = 3;        ///< recent rounds whose minimum is a miner's measured speed
    std::uint32_t panel_owners_least = 3;  ///< a round begins only with verifiers of at least so many owners

    // Prices, as parts per million.
    std::uint64_t audit_fee_ppm = 1'000'000;  ///< of the clearing price, per recomputed work unit
    std::uint64_t merge_fee_ppm = 20'000;     ///< of a slot's pay, for recomputing the merge
    /// The buyer's part of what a miner loses by its silence; the rest is burned.
    std::uint64_t forfeit_buyer_ppm = 400'000;
    std::uint64_t no_commit_ppm = 200'000;  ///< of the slot's bond, for a repeated round without a commit
    /// The penalty for a merge that is not opened: this part of the round's dearest bond, at least
    /// verifier_penalty.
    std::uint64_t verifier_penalty_ppm = 500'000;
    std::uint64_t gain_bound_max_ppm =
        20'000'000;                         ///< of a slot's pay at the cap: a job's highest gain bound
    std::uint64_t collusion_ppm = 333'333;  ///< share of a job's verifiers that bonds assume to collude

    friend bool operator==(const Params&, const Params&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.ask_commit_window, self.ask_reveal_window, self.commit_window, self.beacon_window,
              self.serve_window, self.audit_seal_window, self.audit_open_window, self.reveal_window,
              self.storage_window, self.merge_seal_window, self.merge_open_window, self.claim_window,
              self.dispute_move_window, self.unbonding_delay, self.miner_fee, self.verifier_fee,
              self.ask_deposit, self.verifier_bond, self.verifier_penalty, self.link_penalty,
              self.job_byte_fee, self.job_slot_fee, self.probation_rounds, self.max_missed, self.speed_window,
              self.panel_owners_least, self.audit_fee_ppm, self.merge_fee_ppm, self.forfeit_buyer_ppm,
              self.no_commit_ppm, self.verifier_penalty_ppm, self.gain_bound_max_ppm, self.collusion_ppm);
    }
};

/// The name of a set: H("assay/params/v1", encoding).
Hash256 params_hash(const Params& params);

/// One row per parameter, for the range check, `genesis` files and documentation.
struct ParamRange {
    std::string_view name;
    std::string_view meaning;  ///< for docs/reference/parameters.md
    std::uint64_t minimum;
    std::uint64_t maximum;  ///< included
    std::uint64_t (*get)(const Params&);
    void (*set)(Params&, std::uint64_t);  ///< amounts as base units; REQUIRES a value inside the range
};
const std::vector<ParamRange>& param_ranges();

/// The name of the first parameter outside its range, or of an impossible combination; nothing when all is
/// well.
std::optional<std::string> check_params(const Params& params);

}  // namespace assay::contracts
