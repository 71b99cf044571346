// SPDX-License-Identifier: Apache-2.0
// Gives rules, plans and audits what a job's pieces cost. All amounts follow from the price per work unit;
// payouts round down, what is reserved or locked rounds up. Nothing: the amount is above the largest one.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/reasons.hpp"

namespace assay::contracts {

/// Pay of one accepted slot: price · work units of a slot's round.
std::optional<Amount> slot_pay(Amount price, std::uint64_t slot_work);

/// Work units of recomputing one audit unit: a segment's share of the slot's work, rounded up; one for
/// `finalise`.
std::uint64_t unit_work(const program::JobSpec& spec, std::uint64_t slot_work, std::uint32_t unit);

/// Fee of one verifier for recomputing `work` work units.
std::optional<Amount> audit_fee(const Params& params, Amount price, std::uint64_t work);

/// What recomputing `work` work units costs, without a margin: the clearing price, as for a miner.
std::optional<Amount> replay_fee(Amount price, std::uint64_t work);

/// Fee of the merge that stands in a round.
std::optional<Amount> merge_fee(const Params& params, Amount price, std::uint64_t slot_work);

/// Fees of a round in which every unit of every slot is recomputed by as many verifiers as can be drawn for
/// it.
std::optional<Amount> full_audit_cost(const Params& params, const program::JobSpec& spec, Amount price,
                                      std::uint64_t slot_work);

/// What each member of a job's beacon locks behind its links, and loses for a withheld one: what a round at
/// rate 1 costs in audits at the job's cap, which it pays, and beside it what another draw is worth to a
/// cheat, which is burned: of each slot its bond, pay and gain, times the chance that the largest panel
/// belongs to those who collude (Params::collusion_ppm). Never less than Params::link_penalty.
std::optional<Amount> link_bond(const Params& params, const program::JobSpec& spec, std::uint64_t slot_work);

/// The most that one round can take from escrow: every slot paid, every unit of every slot audited by three
/// verifiers, one merge.
std::optional<Amount> round_cost(const Params& params, const program::JobSpec& spec, Amount price,
                                 std::uint64_t slot_work);

/// What a miner locks for a slot: deterring_bond (deterrence.hpp), with the slot's whole pay as what its
/// units save, at the rate of the unit that is drawn least. A newcomer is audited always, so that q = 1.
enum class Audited : std::uint8_t { kAlways, kAtRate };
/// The gain bound counts up to gain_bound_max() at this price, whatever the job's cap was.
std::optional<Amount> slot_bond(const Params& params, const program::JobSpec& spec, Amount price,
                                std::uint64_t slot_work, Audited audited);

/// The most that a job can lock of one miner's stake: a slot at the cap once its probation is over, and every
/// slot of a round. Nothing: above the largest amount.
struct MinerLock {
    Amount slot;
    Amount round;
};
std::optional<MinerLock> most_locked(const Params& params, const program::JobSpec& spec,
                                     std::uint64_t slot_work);

/// The highest gain bound that counts at this price, and at the job's cap the highest that a job may name. A
/// bond far above what a slot pays is a trap: whoever can have one slot judged wrongly takes more from its
/// miner than the whole job costs. Nothing: above the largest amount.
std::optional<Amount> gain_bound_max(const Params& params, Amount price, std::uint64_t slot_work);

/// What a miner loses of a slot's bond for the slot's verdict, and how much of that goes to the buyer; the
/// rest is burned. What absence takes is burned whole. What a game takes: rules/dispute/losses.hpp.
struct BondLoss {
    Amount lost;
    Amount to_buyer;
};
BondLoss bond_loss(const Params& params, Reason verdict, Amount bond);

/// Burned when a job is submitted: for each byte of its encoded specification, and for each slot of each
/// round.
std::optional<Amount> job_fee(const Params& params, const program::JobSpec& spec);

/// What a verifier loses for a sealed merge that was not opened, where this is the dearest bond of the
/// round's slots: part of it, rounded up, never below Params::verifier_penalty.
Amount word_penalty(const Params& params, Amount bond);

/// What a verifier loses that accused a slot or a merge wrongly, and one that was drawn for a slot and sealed
/// nothing or did not open its seal: a slot's pay and what a game costs the other side, a replay; never below
/// Params::verifier_penalty.
std::optional<Amount> accusation_stake(const Params& params, Amount price, std::uint64_t slot_work);

/// The largest loss for one word that a job can have at this price: word_penalty() of a proven miner's slot,
/// or accusation_stake().
std::optional<Amount> dearest_penalty(const Params& params, const program::JobSpec& spec, Amount price,
                                      std::uint64_t slot_work);

/// The least that a verifier locks for a job beside its link bond: Params::verifier_bond, and never less than
/// one penalty at the job's cap can take.
std::optional<Amount> enlistment_minimum(const Params& params, const program::JobSpec& spec,
                                         std::uint64_t slot_work);

/// What a job comes to at its price cap: the most that its round, its slots and its miners' bonds can be.
struct JobQuote {
    std::uint64_t slot_work = 0;  ///< work units of one slot's round
    Amount slot_pay;
    Amount round_cost;
    Amount bond_newcomer;
    Amount bond_proven;
    Amount link_bond;  ///< of each member of the beacon, the buyer among them, beside the budget
    Amount job_fee;    ///< burned at submission, beside both
};

/// REQUIRES a spec that check_spec accepts. kAmountOverflow when one of the amounts, or what a verifier would
/// lock at least, is above the largest; kGainBoundTooHigh above gain_bound_max().
/// Builds small programs of the job's kind to count its work.
Result<JobQuote, Reason> quote_job(const Params& params, const program::JobSpec& spec);

/// What the buyer's balance must hold: budget, link bond and fee. kBudgetTooSmall when the budget does not
/// cover the dearest course of one round; kAmountOverflow when the sum is above the largest amount.
Result<Amount, Reason> check_budget(const JobQuote& quote, const program::MarketConfig& market);

}  // namespace assay::contracts
