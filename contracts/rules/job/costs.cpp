// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/costs.hpp"

#include <algorithm>
#include <limits>

#include "contracts/program/program.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/deterrence.hpp"
#include "contracts/rules/job/panel.hpp"

namespace assay::contracts {

using base::Rounding;

std::optional<Amount> slot_pay(Amount price, std::uint64_t slot_work) {
    return price.times(slot_work, 1, Rounding::kDown);
}

std::uint64_t unit_work(const program::JobSpec& spec, std::uint64_t slot_work, std::uint32_t unit) {
    return program::RoundPlan(spec).work(unit, slot_work);
}

std::optional<Amount> audit_fee(const Params& params, Amount price, std::uint64_t work) {
    const auto whole = price.times(work, 1, Rounding::kDown);
    if (!whole) return std::nullopt;
    return whole->times(params.audit_fee_ppm, kPartsPerMillion, Rounding::kDown);
}

std::optional<Amount> replay_fee(Amount price, std::uint64_t work) {
    return price.times(work, 1, Rounding::kDown);
}

std::optional<Amount> merge_fee(const Params& params, Amount price, std::uint64_t slot_work) {
    const auto pay = slot_pay(price, slot_work);
    if (!pay) return std::nullopt;
    return pay->times(params.merge_fee_ppm, kPartsPerMillion, Rounding::kDown);
}

std::optional<Amount> full_audit_cost(const Params& params, const program::JobSpec& spec, Amount price,
                                      std::uint64_t slot_work) {
    std::uint64_t audit_work = 0;
    const program::RoundPlan plan(spec);
    for (std::uint32_t unit = 0; unit < plan.units(); ++unit) audit_work += plan.work(unit, slot_work);
    const auto audit = audit_fee(params, price, audit_work);
    return audit ? audit->times(std::uint64_t{panel_most()} * spec.slots, 1, Rounding::kUp) : std::nullopt;
}

namespace {

/// The gain bound as far as it counts. Without a largest value every one is below it.
Amount counted_gain(const Params& params, const program::JobSpec& spec, Amount price,
                    std::uint64_t slot_work) {
    const auto highest = gain_bound_max(params, price, slot_work);
    return highest ? std::min(spec.security.gain_bound, *highest) : spec.security.gain_bound;
}

/// What a cheat that is found in every slot would save and win by another draw, on average.
std::optional<Amount> worth_of_a_try(const Params& params, const program::JobSpec& spec, Amount price,
                                     std::uint64_t slot_work) {
    constexpr std::uint64_t kAll = kPartsPerMillion * kPartsPerMillion * kPartsPerMillion;
    const auto pay = slot_pay(price, slot_work);
    const auto bond = slot_bond(params, spec, price, slot_work, Audited::kAtRate);
    const auto kept = pay && bond ? pay->plus(*bond) : std::nullopt;
    const auto whole = kept ? kept->plus(counted_gain(params, spec, price, slot_work)) : std::nullopt;
    const auto slots = whole ? whole->times(spec.slots, 1, Rounding::kUp) : std::nullopt;
    return slots ? slots->times(colluding_largest_panels(params.collusion_ppm), kAll, Rounding::kUp)
                 : std::nullopt;
}

}  // namespace

std::optional<Amount> link_bond(const Params& params, const program::JobSpec& spec, std::uint64_t slot_work) {
    const Amount price = spec.market.max_price;
    const auto audits = full_audit_cost(params, spec, price, slot_work);
    const auto again = worth_of_a_try(params, spec, price, slot_work);
    const auto both = audits && again ? audits->plus(*again) : std::nullopt;
    return both ? std::optional(std::max(*both, params.link_penalty)) : std::nullopt;
}

std::optional<Amount> round_cost(const Params& params, const program::JobSpec& spec, Amount price,
                                 std::uint64_t slot_work) {
    const auto pay = slot_pay(price, slot_work);
    const auto audits = full_audit_cost(params, spec, price, slot_work);
    const auto merge = merge_fee(params, price, slot_work);
    if (!pay || !audits || !merge) return std::nullopt;
    const auto slots = pay->times(spec.slots, 1, Rounding::kUp);
    if (!slots) return std::nullopt;
    const auto work = slots->plus(*audits);
    return work ? work->plus(*merge) : std::nullopt;
}

std::optional<Amount> slot_bond(const Params& params, const program::JobSpec& spec, Amount price,
                                std::uint64_t slot_work, Audited audited) {
    const auto pay = slot_pay(price, slot_work);
    if (!pay) return std::nullopt;
    const CheatStake stake{*pay, program::RoundPlan(spec).units(),
                           counted_gain(params, spec, price, slot_work)};
    return deterring_bond(params, stake,
                          audited == Audited::kAlways ? std::numeric_limits<std::uint64_t>::max()
                                                      : spec.security.least_threshold());
}

std::optional<MinerLock> most_locked(const Params& params, const program::JobSpec& spec,
                                     std::uint64_t slot_work) {
    const auto slot = slot_bond(params, spec, spec.market.max_price, slot_work, Audited::kAtRate);
    const auto round = slot ? slot->times(spec.slots, 1, Rounding::kUp) : std::nullopt;
    return round ? std::optional(MinerLock{*slot, *round}) : std::nullopt;
}

std::optional<Amount> gain_bound_max(const Params& params, Amount price, std::uint64_t slot_work) {
    const auto pay = slot_pay(price, slot_work);
    return pay ? pay->times(params.gain_bound_max_ppm, kPartsPerMillion, Rounding::kDown) : std::nullopt;
}

BondLoss bond_loss(const Params& params, Reason verdict, Amount bond) {
    const auto part = [](Amount of, std::uint64_t ppm, Rounding rounding) {
        return *of.times(ppm, kPartsPerMillion, rounding);  // at most the whole
    };
    const bool repeated = verdict == Reason::kNoCommitAgain;
    if (!repeated && consequence(verdict) != Consequence::kForfeit) return {};
    const Amount lost = repeated ? part(bond, params.no_commit_ppm, Rounding::kUp) : bond;
    // Absence can be brought about: by a window that no machine meets, by whoever orders blocks. So it pays
    // nobody.
    if (repeated) return {lost, {}};
    return {lost, part(lost, params.forfeit_buyer_ppm, Rounding::kDown)};
}

std::optional<Amount> job_fee(const Params& params, const program::JobSpec& spec) {
    const auto bytes = params.job_byte_fee.times(base::encode(spec).size(), 1, Rounding::kUp);
    const auto slots = params.job_slot_fee.times(std::uint64_t{spec.slots} * spec.rounds, 1, Rounding::kUp);
    return bytes && slots ? bytes->plus(*slots) : std::nullopt;
}

Amount word_penalty(const Params& params, Amount bond) {
    const auto part = bond.times(params.verifier_penalty_ppm, kPartsPerMillion, Rounding::kUp);
    ASSAY_CHECK(part.has_value());  // at most the whole
    return std::max(*part, params.verifier_penalty);
}

std::optional<Amount> accusation_stake(const Params& params, Amount price, std::uint64_t slot_work) {
    const auto pay = slot_pay(price, slot_work);
    const auto game = replay_fee(price, slot_work);
    const auto both = pay && game ? pay->plus(*game) : std::nullopt;
    return both ? std::optional(std::max(*both, params.verifier_penalty)) : std::nullopt;
}

std::optional<Amount> dearest_penalty(const Params& params, const program::JobSpec& spec, Amount price,
                                      std::uint64_t slot_work) {
    const auto bond = slot_bond(params, spec, price, slot_work, Audited::kAtRate);
    if (!bond) return std::nullopt;
    const auto accusation = accusation_stake(params, price, slot_work);
    return accusation ? std::optional(std::max(word_penalty(params, *bond), *accusation)) : std::nullopt;
}

std::optional<Amount> enlistment_minimum(const Params& params, const program::JobSpec& spec,
                                         std::uint64_t slot_work) {
    const auto penalty = dearest_penalty(params, spec, spec.market.max_price, slot_work);
    return penalty ? std::optional(std::max(*penalty, params.verifier_bond)) : std::nullopt;
}

Result<JobQuote, Reason> quote_job(const Params& params, const program::JobSpec& spec) {
    const Amount price = spec.market.max_price;
    const std::uint64_t work = program::work_units(spec);
    const auto pay = slot_pay(price, work);
    const auto cost = round_cost(params, spec, price, work);
    const auto newcomer = slot_bond(params, spec, price, work, Audited::kAlways);
    const auto proven = slot_bond(params, spec, price, work, Audited::kAtRate);
    const auto link = link_bond(params, spec, work);
    const auto fee = job_fee(params, spec);
    if (!pay || !cost || !newcomer || !proven || !link || !fee || !enlistment_minimum(params, spec, work)) {
        return failed(Reason::kAmountOverflow);
    }
    // Without a largest value every one is below it.
    const auto highest = gain_bound_max(params, price, work);
    if (highest && spec.security.gain_bound > *highest) return failed(Reason::kGainBoundTooHigh);
    return JobQuote{work, *pay, *cost, *newcomer, *proven, *link, *fee};
}

Result<Amount, Reason> check_budget(const JobQuote& quote, const program::MarketConfig& market) {
    if (quote.round_cost > market.budget) return failed(Reason::kBudgetTooSmall);
    const auto locked = market.budget.plus(quote.link_bond);
    const auto whole = locked ? locked->plus(quote.job_fee) : std::nullopt;
    return whole ? Result<Amount, Reason>(*whole) : failed(Reason::kAmountOverflow);
}

}  // namespace assay::contracts
