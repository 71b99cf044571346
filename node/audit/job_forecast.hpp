// SPDX-License-Identifier: Apache-2.0
// Gives buyers the forecast of a job: what it will probably cost, how long it takes and which loss it
// reaches, with 80 % intervals, from a ledger's history and a pilot. job_plan.hpp has the most that it can
// cost, and what is checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/rules/state/params.hpp"
#include "node/audit/market_history.hpp"
#include "node/plan/loss_forecast.hpp"
#include "node/plan/plan_search.hpp"
#include "node/plan/prediction.hpp"
#include "node/plan/round_time.hpp"

namespace assay::node {

struct ForecastSources {
    MarketHistory history;          ///< empty: no ledger was asked
    std::vector<PilotPoint> pilot;  ///< empty: the prior alone
    /// Work units per height of this machine, if it was measured. When no speed is verified, each slot is
    /// assumed to have such a machine.
    std::optional<double> own_speed;
};

/// The source of the speeds behind the predicted time.
enum class SpeedsFrom : std::uint8_t { kNobody, kLedger, kThisMachine };
std::string_view to_text(SpeedsFrom from);

/// Machines of one class of speed (decision 86), and the job if only they worked for it.
struct SpeedClass {
    unsigned bits = 0;  ///< of the speed, in thousandths of a work unit per height
    std::uint64_t machines = 0;
    Interval80 heights;        ///< of the whole job
    bool in_deadline = false;  ///< with a chance of 90 %

    template <class Visit>
    void fields(Visit& visit) const {
        visit("speed_class", bits);
        visit("machines", machines);
        visit("heights", heights);
        visit("in_deadline", in_deadline);
    }
};

class JobForecaster {
public:
    /// REQUIRES a spec that check_spec accepts. `slot_work`: JobPlan::slot_work.
    JobForecaster(program::JobSpec spec, contracts::Params params, std::uint64_t slot_work,
                  ForecastSources sources);

    /// Price of a work unit, in base units.
    [[nodiscard]] Interval80 unit_price() const;
    /// Base units from escrow, whatever the budget is, without the fee of the submission.
    [[nodiscard]] Interval80 spend(std::uint32_t slots, std::uint32_t rounds) const;
    /// Heights from the submission to the last round's end. Nothing when no speed is known.
    [[nodiscard]] std::optional<Interval80> heights(std::uint32_t slots, std::uint32_t rounds) const;
    [[nodiscard]] Interval80 loss(std::uint32_t slots, std::uint32_t rounds) const;
    [[nodiscard]] double tokens(std::uint32_t slots, std::uint32_t rounds) const;

    /// The prediction for the job as it stands, for its rounds up to each of at most eight points.
    [[nodiscard]] JobPrediction prediction() const;
    /// Ascending. Empty when no speed is verified.
    [[nodiscard]] std::vector<SpeedClass> speed_classes() const;
    /// Other numbers of slots and rounds for the same model, data and steps of a round (plan_search.hpp): the
    /// job's own number of slots and every power of two that its limits allow. kUsage for a deadline when no
    /// speed is known.
    [[nodiscard]] base::Outcome<std::vector<PlanOption>> options(const PlanGoals& goals) const;

    [[nodiscard]] const LossForecast& losses() const { return losses_; }
    [[nodiscard]] SpeedsFrom speeds_from() const;
    [[nodiscard]] const SpeedPool& pool() const { return pool_; }
    [[nodiscard]] bool has_prices() const { return !sources_.history.prices.empty(); }

private:
    [[nodiscard]] Interval80 heights_of(const SpeedPool& pool, std::uint32_t slots,
                                        std::uint32_t rounds) const;
    [[nodiscard]] program::JobSpec shaped(std::uint32_t slots, std::uint32_t rounds) const;
    [[nodiscard]] SlotsChoice choice(std::uint32_t slots) const;

    program::JobSpec spec_;
    contracts::Params params_;
    std::uint64_t slot_work_;
    ForecastSources sources_;
    LossForecast losses_;
    SpeedPool pool_;
};

}  // namespace assay::node
