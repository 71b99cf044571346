// SPDX-License-Identifier: Apache-2.0
#include "node/audit/job_forecast.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "contracts/program/kept_bytes.hpp"
#include "contracts/program/limits.hpp"
#include "contracts/program/spec_check.hpp"
#include "contracts/program/tensors.hpp"
#include "contracts/rules/job/speed_unit.hpp"
#include "node/audit/job_plan.hpp"
#include "node/audit/job_spend.hpp"

namespace assay::node {

namespace {

/// Text read so often is nearly worth as much as new text (Muennighoff et al. 2023); the law knows nothing
/// of what is read more often.
constexpr double kMostReadings = 4;
constexpr std::uint32_t kPredictedRounds = 8;

SpeedPool pool_of(const ForecastSources& sources) {
    SpeedPool pool{.speeds = sources.history.speeds, .overheads = sources.history.overheads};
    // As if each slot had a machine like this one.
    if (pool.speeds.empty() && sources.own_speed) pool.speeds.assign(program::kMaxSlots, *sources.own_speed);
    return pool;
}

Interval80 at_most(const Interval80& interval, double most) {
    return {std::min(interval.low, most), std::min(interval.median, most), std::min(interval.high, most)};
}

}  // namespace

std::string_view to_text(SpeedsFrom from) {
    switch (from) {
        case SpeedsFrom::kNobody: return "nobody";
        case SpeedsFrom::kLedger: return "ledger";
        case SpeedsFrom::kThisMachine: return "this machine";
    }
    return "nobody";
}

JobForecaster::JobForecaster(program::JobSpec spec, contracts::Params params, std::uint64_t slot_work,
                             ForecastSources sources)
    : spec_(std::move(spec)),
      params_(std::move(params)),
      slot_work_(slot_work),
      sources_(std::move(sources)),
      losses_(spec_.model.vocabulary, sources_.pilot),
      pool_(pool_of(sources_)) {}

SpeedsFrom JobForecaster::speeds_from() const {
    if (!sources_.history.speeds.empty()) return SpeedsFrom::kLedger;
    return pool_.speeds.empty() ? SpeedsFrom::kNobody : SpeedsFrom::kThisMachine;
}

program::JobSpec JobForecaster::shaped(std::uint32_t slots, std::uint32_t rounds) const {
    program::JobSpec shaped = spec_;
    shaped.slots = slots;
    shaped.rounds = rounds;
    return shaped;
}

double JobForecaster::tokens(std::uint32_t slots, std::uint32_t rounds) const {
    return static_cast<double>(spec_.train.inner_steps) * spec_.train.batch * spec_.model.context * slots *
           rounds;
}

Interval80 JobForecaster::unit_price() const {
    return node::unit_price(spec_, {.prices = sources_.history.prices});
}

Interval80 JobForecaster::spend(std::uint32_t slots, std::uint32_t rounds) const {
    return expected_spend(shaped(slots, rounds), params_,
                          {.prices = sources_.history.prices,
                           .newcomer_share = sources_.history.newcomer_share(),
                           .slot_work = slot_work_});
}

Interval80 JobForecaster::heights_of(const SpeedPool& pool, std::uint32_t slots, std::uint32_t rounds) const {
    const double newcomers = sources_.history.newcomer_share();
    return job_heights(
        pool, {.slots = slots,
               .rounds = rounds,
               .slot_work = static_cast<double>(slot_work_),
               .recomputed = newcomers + (1 - newcomers) * proven_rates(spec_).segment,
               .least_overhead = static_cast<double>(program::kLeastRoundHeights),
               .before = static_cast<double>(params_.ask_commit_window + params_.ask_reveal_window)});
}

std::optional<Interval80> JobForecaster::heights(std::uint32_t slots, std::uint32_t rounds) const {
    if (pool_.speeds.empty()) return std::nullopt;
    return heights_of(pool_, slots, rounds);
}

Interval80 JobForecaster::loss(std::uint32_t slots, std::uint32_t rounds) const {
    return losses_.loss(static_cast<double>(program::parameter_count(spec_.model)), tokens(slots, rounds),
                        {.slots = slots, .inner_steps = spec_.train.inner_steps, .rounds = rounds});
}

JobPrediction JobForecaster::prediction() const {
    JobPrediction found{.prior_only = losses_.is_prior_only(),
                        .pilot_points = losses_.law().points(),
                        .ledger_prices = sources_.history.prices.size(),
                        .speeds = sources_.history.speeds.size(),
                        .rounds = {}};
    const std::uint32_t count = std::min(spec_.rounds, kPredictedRounds);
    const auto budget = static_cast<double>(spec_.market.budget.units());
    for (std::uint32_t i = 1; i <= count; ++i) {
        const auto rounds = static_cast<std::uint32_t>(std::uint64_t{spec_.rounds} * i / count);
        found.rounds.push_back({.rounds = rounds,
                                .tokens = tokens(spec_.slots, rounds),
                                .spend = at_most(spend(spec_.slots, rounds), budget),
                                .heights = heights(spec_.slots, rounds),
                                .loss = loss(spec_.slots, rounds)});
    }
    return found;
}

std::vector<SpeedClass> JobForecaster::speed_classes() const {
    std::map<unsigned, SpeedPool> classes;
    for (const double speed : sources_.history.speeds)
        classes[static_cast<unsigned>(
                    std::bit_width(static_cast<std::uint64_t>(speed * double{contracts::kSpeedUnit})))]
            .speeds.push_back(speed);
    std::vector<SpeedClass> found;
    for (auto& [bits, pool] : classes) {
        pool.overheads = pool_.overheads;
        SpeedClass row{.bits = bits,
                       .machines = pool.speeds.size(),
                       .heights = heights_of(pool, spec_.slots, spec_.rounds)};
        row.in_deadline = row.heights.high <= static_cast<double>(spec_.market.deadline_blocks);
        found.push_back(row);
    }
    return found;
}

SlotsChoice JobForecaster::choice(std::uint32_t slots) const {
    SlotsChoice found{.slots = slots,
                      .max_rounds = program::kMaxRounds,
                      .max_rounds_reason = "the limit of rounds",
                      .round_tokens = tokens(slots, 1),
                      .price = [this, slots](std::uint32_t rounds) { return spend(slots, rounds); },
                      .heights = nullptr,
                      .loss = [this, slots](std::uint32_t rounds) { return loss(slots, rounds); }};
    if (!pool_.speeds.empty())
        found.heights = [this, slots](std::uint32_t rounds) { return *heights(slots, rounds); };
    const double readings =
        std::floor(kMostReadings * static_cast<double>(spec_.data.train_tokens) / found.round_tokens);
    if (readings < found.max_rounds) {
        found.max_rounds = static_cast<std::uint32_t>(readings);
        found.max_rounds_reason = "the text, read four times,";
    }
    if (const auto checked = program::check_spec(shaped(slots, 1)); !checked.ok()) {
        found.max_rounds = 0;
        found.max_rounds_reason = "the limits of a job: " + program::to_text(checked.error());
    }
    return found;
}

base::Outcome<std::vector<PlanOption>> JobForecaster::options(const PlanGoals& goals) const {
    if (goals.deadline && pool_.speeds.empty()) {
        return base::fail(base::ErrorKind::kUsage, "no speed is known, so that no plan can keep a deadline",
                          "name a ledger node that has verified speeds with --node, or add --measure");
    }
    std::vector<std::uint32_t> counts = {spec_.slots};
    for (std::uint32_t slots = 1; slots <= program::kMaxSlots; slots *= 2) counts.push_back(slots);
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    std::vector<SlotsChoice> choices;
    for (const std::uint32_t slots : counts) choices.push_back(choice(slots));
    return search_plans(goals, choices);
}

}  // namespace assay::node
