// SPDX-License-Identifier: Apache-2.0
// What the parts of a job cost, for rules, plans and audits. All amounts follow from the price per work unit.
// Payouts round down; what is reserved or locked rounds up. A function returns nothing when the amount is
// above the largest one.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/reasons.hpp"

namespace assay::contracts {

/// Pay of one accepted slot: price · work units of a slot's round.
std::optional<Amount> slot_pay(Amount price, std::uint64_t slot_work);

/// Work units for recomputing one audit unit: a segment's share of the slot's work, rounded up; 1 for
/// `finalise`.
std::uint64_t unit_work(const program::JobSpec& spec, std::uint64_t slot_work, std::uint32_t unit);

/// Fee of one verifier for recomputing `work` work units.
std::optional<Amount> audit_fee(const Params& params, Amount price, std::uint64_t work);

/// Cost of recomputing `work` work units without a margin: the clearing price, as for a miner.
std::optional<Amount> replay_fee(Amount price, std::uint64_t work);

/// Fee of the merge that stands in a round.
std::optional<Amount> merge_fee(const Params& params, Amount price, std::uint64_t slot_work);

/// Audit fees of a round in which as many verifiers as can be drawn recompute every unit of every slot.
std::optional<Amount> full_audit_cost(const Params& params, const program::JobSpec& spec, Amount price,
                                      std::uint64_t slot_work);

/// What each member of a job's beacon locks behind its links, and loses for a withheld one. It is the sum of
/// two parts. The first is what the audits of a round at rate 1 cost at the job's cap; it pays those audits.
/// The second is what another draw is worth to a cheat; it is burned. For each slot it counts bond, pay and
/// gain, times the chance that the largest panel belongs to those who collude (Params::collusion_ppm). Never
/// less than Params::link_penalty.
std::optional<Amount> link_bond(const Params& params, const program::JobSpec& spec, std::uint64_t slot_work);

/// The most that one round can take from escrow: every slot paid, every unit of every slot audited by three
/// verifiers, one merge.
std::optional<Amount> round_cost(const Params& params, const program::JobSpec& spec, Amount price,
                                 std::uint64_t slot_work);

/// How often a miner's units are audited: a newcomer's always (q = 1), a proven miner's at the job's rates.
enum class Audited : std::uint8_t { kAlways, kAtRate };
/// What a miner locks for a slot: deterring_bond (deterrence.hpp), with the slot's whole pay as the saving of
/// its units, at the rate of the unit that is drawn least. For kAlways q = 1. The gain bound counts only up
/// to gain_bound_max() at this price, whatever the job's cap was.
std::optional<Amount> slot_bond(const Params& params, const program::JobSpec& spec, Amount price,
                                std::uint64_t slot_work, Audited audited);

/// The most that a job can lock of one miner's stake at the cap, once the miner's probation is over: for one
/// slot, and for every slot of a round.
struct MinerLock {
    Amount slot;
    Amount round;
};
std::optional<MinerLock> most_locked(const Params& params, const program::JobSpec& spec,
                                     std::uint64_t slot_work);

/// The highest gain bound that counts at this price. At the job's cap it is the highest that a job may name.
/// A bond far above what a slot pays would be a trap: anyone who gets one slot judged wrongly would take more
/// from its miner than the whole job costs.
std::optional<Amount> gain_bound_max(const Params& params, Amount price, std::uint64_t slot_work);

/// What a miner loses of a slot's bond because of the slot's verdict, and how much of that goes to the buyer;
/// the rest is burned. A loss for absence is burned whole. For losses in a game see rules/dispute/losses.hpp.
struct BondLoss {
    Amount lost;
    Amount to_buyer;
};
BondLoss bond_loss(const Params& params, Reason verdict, Amount bond);

/// The fee that is burned when a job is submitted: for each byte of its encoded specification, and for each
/// slot of each round.
std::optional<Amount> job_fee(const Params& params, const program::JobSpec& spec);

/// What a verifier loses for a sealed merge that it did not open: a part of `bond`, the dearest bond of the
/// round's slots, rounded up, never below Params::verifier_penalty.
Amount word_penalty(const Params& params, Amount bond);

/// What a verifier loses when it accused a slot or a merge wrongly, or when it was drawn for a slot and
/// sealed nothing or did not open its seal. It is a slot's pay plus what a game costs the other side, which
/// is a replay; never below Params::verifier_penalty.
std::optional<Amount> accusation_stake(const Params& params, Amount price, std::uint64_t slot_work);

/// The largest single penalty of a verifier in a job at this price: word_penalty() of a proven miner's slot,
/// or accusation_stake().
std::optional<Amount> dearest_penalty(const Params& params, const program::JobSpec& spec, Amount price,
                                      std::uint64_t slot_work);

/// The least that a verifier locks for a job in addition to its link bond: Params::verifier_bond, and never
/// less than one penalty at the job's cap can take.
std::optional<Amount> enlistment_minimum(const Params& params, const program::JobSpec& spec,
                                         std::uint64_t slot_work);

/// The amounts of a job at its price cap: the most that its round, its slots and its miners' bonds can be.
struct JobQuote {
    std::uint64_t slot_work = 0;  ///< work units of one slot's round
    Amount slot_pay;
    Amount round_cost;
    Amount bond_newcomer;
    Amount bond_proven;
    Amount link_bond;  ///< of each member of the beacon, the buyer included; not part of the budget
    Amount job_fee;    ///< burned at submission; part of neither
};

/// REQUIRES a spec that check_spec accepts. Fails with kAmountOverflow when one of the amounts, or the least
/// that a verifier would lock, is above the largest amount, and with kGainBoundTooHigh when the gain bound is
/// above gain_bound_max(). Builds small programs of the job's kind to count its work.
Result<JobQuote, Reason> quote_job(const Params& params, const program::JobSpec& spec);

/// What the buyer's balance must hold: budget, link bond and fee. Fails with kBudgetTooSmall when the budget
/// does not cover the dearest course of one round, and with kAmountOverflow when the sum is above the largest
/// amount.
Result<Amount, Reason> check_budget(const JobQuote& quote, const program::MarketConfig& market);

}  // namespace assay::contracts
