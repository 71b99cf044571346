// SPDX-License-Identifier: Apache-2.0
#include "node/audit/job_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "contracts/base/wide.hpp"
#include "contracts/dispute/referee.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/tensors.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/deterrence.hpp"
#include "contracts/rules/job/panel.hpp"

namespace assay::node {

using base::Amount;
using base::ErrorKind;
using base::fail;

namespace {

constexpr std::uint64_t kAlwaysDrawn = std::numeric_limits<std::uint64_t>::max();

/// A threshold as the probability that a 64-bit draw falls below it.
double rate_of(std::uint64_t threshold) {
    if (threshold == std::numeric_limits<std::uint64_t>::max()) return 1.0;
    return std::ldexp(static_cast<double>(threshold), -64);
}

/// The mean gain from skipping all units of a slot, for a coalition that holds Params::collusion_ppm of the
/// verifiers' stake. It saves the work in any case; when it is found, it loses the pay and the burned part of
/// the bond.
std::int64_t cheat_gain(const contracts::Params& params, Amount pay, Amount gain, Amount bond, double found) {
    const double lost = static_cast<double>(bond.units()) *
                        static_cast<double>(contracts::lost_for_good_ppm(params)) /
                        static_cast<double>(contracts::kPartsPerMillion);
    const double units = static_cast<double>(pay.units()) + static_cast<double>(gain.units()) -
                         found * (static_cast<double>(pay.units()) + lost);
    constexpr double kLimit = 9e18;
    return static_cast<std::int64_t>(std::clamp(std::ceil(units), -kLimit, kLimit));
}

/// The same, of one unit instead of all, or of all, whichever brings more.
std::int64_t cheat_gain_most(const contracts::Params& params, const JobPlan& plan,
                             const program::JobSpec& spec, Amount bond, double rate) {
    const std::uint32_t units = program::RoundPlan(spec).units();
    const double honest = rate_of(contracts::deterring_rate(kAlwaysDrawn, params));
    const Amount unit_pay = plan.slot_pay.times(1, units, base::Rounding::kUp).value_or(plan.slot_pay);
    const Amount gain = spec.security.gain_bound;
    const std::int64_t one = cheat_gain(params, unit_pay, gain, bond, honest * rate);
    return std::max(
        one, cheat_gain(params, plan.slot_pay, gain, bond, honest * (1.0 - std::pow(1.0 - rate, units))));
}

constexpr std::uint64_t kVerifiers = contracts::panel_mean();

std::uint64_t stopping(base::Uint128 bytes) {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    return bytes > kMost ? kMost : static_cast<std::uint64_t>(bytes);
}

std::uint64_t audit_window_most(const program::JobSpec& spec, const contracts::Params& params) {
    return std::max(params.audit_seal_window, stopping(base::Uint128{params.commit_window} * spec.slots));
}

/// What one verifier fetches of a slot's states in a round, on average.
std::uint64_t mean_starts(const program::JobSpec& spec, const program::FileSizes& files,
                          const DrawRates& rates) {
    const program::RoundPlan plan(spec);
    double bytes = 0;
    for (std::uint32_t unit = 0; unit < plan.units(); ++unit) {
        const program::UnitStart start = plan.start(unit);
        // A verifier that has recomputed the unit before has this one's start, and every verifier has what a
        // slot carries.
        if (!start.boundary) continue;
        const double drawn = plan.is_finalise(unit) ? rates.finalise : rates.segment;
        bytes += drawn * (1.0 - rates.segment) * static_cast<double>(files.state_of(start.arrays.size()));
    }
    return static_cast<std::uint64_t>(std::ceil(bytes));
}

}  // namespace

DrawRates proven_rates(const program::JobSpec& spec) {
    return {.segment = rate_of(spec.security.audit_threshold),
            .finalise = rate_of(spec.security.finalise_threshold)};
}

PlannedBytes plan_bytes(const program::JobSpec& spec) {
    PlannedBytes bytes;
    bytes.files = program::file_sizes(spec);
    bytes.data = program::token_file_size(spec.data.train_tokens, spec.model.vocabulary) +
                 program::token_file_size(spec.data.held_out_tokens, spec.model.vocabulary);
    bytes.join = bytes.data + bytes.files.base_state;
    const std::uint64_t handed_in = program::strategy_of(spec).tick.ticks * bytes.files.update;
    bytes.received = (spec.slots - 1) * handed_in;
    const std::size_t carried = program::strategy_of(spec).carried_arrays.size();
    const std::uint64_t handed_on = program::carries_state(spec) ? bytes.files.state_of(carried) : 0;
    bytes.updates = bytes.received + kVerifiers * handed_in;
    bytes.storage = kVerifiers * (handed_in + handed_on);
    bytes.audit_newcomer = kVerifiers * mean_starts(spec, bytes.files, {});
    bytes.audit_proven = kVerifiers * mean_starts(spec, bytes.files, proven_rates(spec));
    const base::Uint128 slots = spec.slots;
    // Nobody goes on from the last round's updates. The buyer brings every round's base home. A first state
    // that is no seed's is a file of the buyer's.
    const base::Uint128 firsts = spec.initial_blob.is_zero() ? 0 : slots + kVerifiers;
    const base::Uint128 bases = spec.rounds + firsts;
    const base::Uint128 in_round = base::Uint128{bytes.updates} + kVerifiers * base::Uint128{handed_on};
    const base::Uint128 whole = slots * (spec.rounds * in_round - bytes.received) +
                                (slots + kVerifiers) * bytes.data + bases * bytes.files.base_state;
    bytes.job_newcomer = stopping(whole + slots * spec.rounds * bytes.audit_newcomer);
    bytes.job_proven = stopping(whole + slots * spec.rounds * bytes.audit_proven);
    return bytes;
}

PlannedDispute plan_dispute(const program::JobSpec& spec, const contracts::Params& params, Amount price,
                            std::uint64_t slot_work) {
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const dispute::StepFacts facts = dispute::facts_of(spec, program, {});
    const program::StepRange steps = program::RoundPlan(spec).steps(0);
    const dispute::DisputeCost cost = dispute::longest_dispute(facts, steps.last - steps.first);
    PlannedDispute planned;
    planned.moves = 2 * cost.moves - 1;
    planned.bytes = cost.bytes;
    const base::Uint128 clock =
        std::max(base::Uint128{params.commit_window} * 3, base::Uint128{params.audit_seal_window});
    const base::Uint128 clocks = 2 * clock + base::Uint128{params.dispute_move_window} * (planned.moves + 1);
    planned.heights = stopping(clocks);
    planned.bond = std::max(contracts::replay_fee(price, slot_work).value(), params.verifier_penalty);
    return planned;
}

PlannedKeeping plan_keeping(const program::JobSpec& spec, const contracts::Params& params) {
    return {program::most_kept(spec, params.claim_window)};
}

std::string PlannedKeeping::text() const {
    const auto size = [](std::uint64_t bytes) {
        const double mib = static_cast<double>(bytes) / (1024.0 * 1024.0);
        char out[48];
        std::snprintf(out, sizeof out, mib < 1024 ? "%.1f MiB" : "%.1f GiB", mib < 1024 ? mib : mib / 1024);
        return std::string(out);
    };
    return "until the last window closes a verifier keeps at most " + size(kept.verifier) +
           " (of the starts of its audits, the mean), a miner " + size(kept.miner_slot) +
           " with one slot in each round and " + size(kept.miner) + " with all, the buyer " +
           size(kept.buyer) + ": up to " + std::to_string(kept.rounds) + " rounds at once";
}

base::Outcome<JobPlan> plan_job(const program::JobSpec& spec, const contracts::Params& params) {
    const auto quote = contracts::quote_job(params, spec);
    if (!quote.ok() && quote.error() == contracts::Reason::kGainBoundTooHigh) {
        return fail(ErrorKind::kUsage,
                    "security.gain_bound = " + base::to_text(spec.security.gain_bound) +
                        " is above what a slot's pay allows",
                    "lower security.gain_bound, or raise market.max_price");
    }
    if (!quote.ok()) {
        // The bond follows from the lesser rate.
        const bool finalise_is_rarer = spec.security.finalise_threshold < spec.security.audit_threshold;
        return fail(ErrorKind::kUsage,
                    "market.max_price = " + base::to_text(spec.market.max_price) +
                        " makes the price of a round, or the bond of a slot, more than the largest amount of "
                        "money",
                    std::string("lower market.max_price, security.gain_bound, job.slots or "
                                "train.inner_steps, or raise security.") +
                        (finalise_is_rarer ? "finalise_q" : "q"));
    }
    const Amount budget = spec.market.budget;
    const Amount cost = quote->round_cost;
    const auto covered = contracts::check_budget(*quote, spec.market);
    if (!covered.ok() && covered.error() == contracts::Reason::kAmountOverflow) {
        return fail(ErrorKind::kUsage,
                    "market.budget = " + base::to_text(budget) + ", the link bond of " +
                        base::to_text(quote->link_bond) + " and the fee of " + base::to_text(quote->job_fee) +
                        " are more than the largest amount of money",
                    "lower market.budget");
    }
    if (!covered.ok()) {
        return fail(ErrorKind::kUsage,
                    "market.budget = " + base::to_text(budget) +
                        " does not cover one round, which can cost " + base::to_text(cost),
                    "raise market.budget, or lower market.max_price, job.slots or train.inner_steps");
    }
    JobPlan plan;
    plan.parameters = program::parameter_count(spec.model);
    plan.tokens = std::uint64_t{spec.rounds} * spec.slots * spec.train.inner_steps * spec.train.batch *
                  spec.model.context;
    plan.slot_work = quote->slot_work;
    plan.slot_pay = quote->slot_pay;
    // A part of the round's cost, which is an amount.
    plan.round_pay = quote->slot_pay.times(spec.slots, 1, base::Rounding::kUp).value();
    plan.round_cost = cost;
    plan.bond_newcomer = quote->bond_newcomer;
    plan.bond_proven = quote->bond_proven;
    plan.link_bond = quote->link_bond;
    plan.job_fee = quote->job_fee;
    const std::uint64_t affordable =
        cost.is_zero() ? spec.rounds : std::min<std::uint64_t>(spec.rounds, budget.units() / cost.units());
    plan.rounds_covered = static_cast<std::uint32_t>(affordable);
    plan.spend_max = cost.times(spec.rounds, 1, base::Rounding::kUp).value_or(budget);
    plan.spend_max = std::min(plan.spend_max, budget);
    plan.audit_rate = rate_of(spec.security.audit_threshold);
    plan.finalise_rate = rate_of(spec.security.finalise_threshold);
    const double least_rate = std::min(plan.audit_rate, plan.finalise_rate);
    plan.collusion = static_cast<double>(params.collusion_ppm) / contracts::kPartsPerMillion;
    plan.lost_for_good =
        static_cast<double>(contracts::lost_for_good_ppm(params)) / contracts::kPartsPerMillion;
    plan.deterring_rate_newcomer = rate_of(contracts::deterring_rate(kAlwaysDrawn, params));
    plan.deterring_rate_proven = rate_of(contracts::deterring_rate(spec.security.least_threshold(), params));
    plan.cheat_gain_newcomer = cheat_gain_most(params, plan, spec, plan.bond_newcomer, 1.0);
    plan.cheat_gain_proven = cheat_gain_most(params, plan, spec, plan.bond_proven, least_rate);
    plan.bytes = plan_bytes(spec);
    plan.keeping = plan_keeping(spec, params);
    plan.dispute = plan_dispute(spec, params, spec.market.max_price, plan.slot_work);
    plan.audit_window_least = params.audit_seal_window;
    plan.audit_window_most = audit_window_most(spec, params);
    return plan;
}

}  // namespace assay::node
