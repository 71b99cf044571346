// SPDX-License-Identifier: Apache-2.0
// Gives buyers JobPlan, before anything is paid: what a job can cost, what is checked, what cheating it would
// gain, and which bytes it will move. It uses the rules' own formulas (contracts/rules/job/costs.hpp) at the
// job's price cap.
#pragma once

#include <cstdint>
#include <string>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/program/kept_bytes.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/state/params.hpp"

namespace assay::node {

/// Bytes of a job's files that travel between miners, verifiers and the buyer, with one miner a slot and two
/// verifiers, all honest and present from the first round to the last. Updates count with the most that can
/// travel: to every other slot's miner, which merges for itself, and to both verifiers, which store them and
/// merge. States from which units are recomputed count with the mean over the draw, since both verifiers
/// fetch a run's start. Both verifiers store the state that a slot hands on. The ledger's bytes and protocol
/// overhead are not included.
struct PlannedBytes {
    program::FileSizes files;
    std::uint64_t data = 0;            ///< token files: once for every miner and verifier
    std::uint64_t join = 0;            ///< data and a base state, for a miner that joins later
    std::uint64_t received = 0;        ///< by a slot's miner in a round: the other slots' updates
    std::uint64_t updates = 0;         ///< of a slot's update in a round, by all senders
    std::uint64_t audit_newcomer = 0;  ///< sent to those who recompute it: a newcomer's units are all drawn
    std::uint64_t audit_proven = 0;
    std::uint64_t storage = 0;       ///< of what a slot submits and hands on, to those who store it
    std::uint64_t job_newcomer = 0;  ///< everything of the job, including the buyer's last state
    std::uint64_t job_proven = 0;
};

/// The probability with which each unit of a slot is drawn.
struct DrawRates {
    double segment = 1.0;
    double finalise = 1.0;
};
/// The rates for a proven miner.
DrawRates proven_rates(const program::JobSpec& spec);

/// REQUIRES a spec that check_spec accepts. Counts stop at their largest value.
PlannedBytes plan_bytes(const program::JobSpec& spec);

/// The longest game about a step of the job, before anyone pays (docs/concepts/dispute.md).
struct PlannedDispute {
    std::uint64_t moves = 0;    ///< of both players: each of the claimant's, except the witness, has an
                                ///< answer
    std::uint64_t bytes = 0;    ///< posted by the claimant, including the witness
    std::uint64_t heights = 0;  ///< until both clocks have run out, when no speed is measured
    base::Amount bond;          ///< for a claim's first challenge

    template <class Visit>
    void fields(Visit& visit) const {
        visit("moves", moves);
        visit("bytes", bytes);
        visit("heights", heights);
        visit("bond", bond);
    }
};

/// `price`: of a work unit; `slot_work`: work units of a slot's round. REQUIRES a spec that check_spec
/// accepts, and a price and work whose product is an amount.
PlannedDispute plan_dispute(const program::JobSpec& spec, const contracts::Params& params, base::Amount price,
                            std::uint64_t slot_work);

/// What a job can make each role keep until its last claim's window closes.
struct PlannedKeeping {
    program::KeptBytes kept;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("rounds", kept.rounds);
        visit("verifier", kept.verifier);
        visit("miner_slot", kept.miner_slot);
        visit("miner", kept.miner);
        visit("buyer", kept.buyer);
    }
    /// One line for people.
    [[nodiscard]] std::string text() const;
};

/// REQUIRES a spec that check_spec accepts.
PlannedKeeping plan_keeping(const program::JobSpec& spec, const contracts::Params& params);

struct JobPlan {
    std::uint64_t parameters = 0;
    std::uint64_t tokens = 0;     ///< trained on when every slot of every round is accepted
    std::uint64_t slot_work = 0;  ///< work units of one slot's round
    base::Amount slot_pay;        ///< of one slot's round
    base::Amount round_pay;       ///< of all slots of a round
    base::Amount round_cost;      ///< the most a round can take: pay, audits and merge by three verifiers
    base::Amount spend_max;       ///< of the whole job, never above the budget
    std::uint32_t rounds_covered = 0;  ///< rounds that the budget covers even at their dearest
    base::Amount bond_newcomer;        ///< locked per slot, until its probation is over
    base::Amount bond_proven;
    base::Amount link_bond;    ///< locked in addition to the budget until the job ends
    base::Amount job_fee;      ///< burned at submission, in addition to both
    double audit_rate = 0;     ///< of proven miners: the probability that one bad segment is recomputed
    double finalise_rate = 0;  ///< of proven miners: the probability that `finalise` is
    double collusion = 0;      ///< share of the verifiers' stake that bonds assume to collude
    double lost_for_good = 0;  ///< share of a forfeited bond that is burned in any case
    /// The probability that one bad unit is drawn and one of its verifiers does not collude.
    double deterring_rate_newcomer = 0;
    double deterring_rate_proven = 0;
    /// The mean gain, compared with doing the work, from cheating in one unit of a slot or in all, whichever
    /// is more, in base units, rounded up. The miner is assumed to own the colluding verifiers and the buyer.
    /// It gains the work saved and the gain bound; when it is found, it loses that pay and the burned part of
    /// the bond. Below zero: cheating does not pay.
    std::int64_t cheat_gain_newcomer = 0;
    std::int64_t cheat_gain_proven = 0;
    PlannedBytes bytes;
    PlannedKeeping keeping;
    /// Heights for sealing a round's audits: the least, and the most, when one verifier has all slots and a
    /// slot takes as long as it may.
    std::uint64_t audit_window_least = 0;
    std::uint64_t audit_window_most = 0;
    PlannedDispute dispute;
};

/// REQUIRES a spec that check_spec accepts. kUsage, naming the key, when the ledger would refuse the job's
/// terms whatever its state is: an amount overflows, or the budget does not cover one round.
base::Outcome<JobPlan> plan_job(const program::JobSpec& spec, const contracts::Params& params);

}  // namespace assay::node
