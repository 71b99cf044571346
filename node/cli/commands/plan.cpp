// SPDX-License-Identifier: Apache-2.0
// assay plan
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <ostream>

#include "contracts/program/round_plan.hpp"
#include "contracts/program/tensors.hpp"
#include "node/audit/slot_traffic.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/plan_forecast.hpp"
#include "node/cli/commands/plan_leases.hpp"
#include "node/cli/interrupt.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"
#include "node/config/job_file.hpp"
#include "node/views/json.hpp"
#include "node/worker/measure.hpp"
#include "node/worker/worker_process.hpp"

namespace assay::node {
namespace {

using base::Amount;
using base::Outcome;

struct PlanFlags {
    std::string job;
    bool measure = false;
    ForecastFlags forecast;
};

/// Steps that `--measure` trains: enough for a figure, few enough for a large model.
constexpr std::uint32_t kMeasuredSteps = 3;
constexpr std::size_t kPilotDigits = 7;  ///< of a number of steps
/// Of a ledger node that is told nothing else: 100 ms.
constexpr double kDefaultHeightSeconds = 0.1;

struct Estimate {
    Measured measured;
    double slot_round_seconds = 0;
    double job_seconds = 0;  ///< each slot with a miner like this machine; audits run beside the next round

    template <class Visit>
    void fields(Visit& visit) const {
        visit("tokens_per_second", measured.tokens_per_second);
        visit("slot_round_seconds", slot_round_seconds);
        visit("job_seconds", job_seconds);
        visit("step_bytes", measured.opened.step_bytes);
    }
};

/// What differs between a miner without standing and one with it.
template <class Value>
struct ByStanding {
    Value newcomer, proven;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("newcomer", newcomer);
        visit("proven", proven);
    }
};

/// Heights in which a round's audits are sealed.
struct AuditWindow {
    std::uint64_t least, most;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("least", least);
        visit("most", most);
    }
};

/// Verifiers that a slot's traffic is quoted for: the largest panel.
constexpr std::uint32_t kQuotedVerifiers = 3;

/// Bytes of the files that travel, and how many of them do.
struct QuotedBytes {
    PlannedBytes bytes;
    SlotTraffic slot;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("update", bytes.files.update);
        visit("base_state", bytes.files.base_state);
        visit("slot_state", bytes.files.slot_state);
        visit("data", bytes.data);
        visit("join", bytes.join);
        visit("slot_received", bytes.received);
        visit("slot_updates", bytes.updates);
        visit("slot_audit", ByStanding<std::uint64_t>{bytes.audit_newcomer, bytes.audit_proven});
        visit("slot_storage", bytes.storage);
        visit("verifiers", kQuotedVerifiers);
        visit("slot_miner_up", slot.miner_up);
        visit("slot_miner_down", slot.miner_down);
        visit("slot_verifier_up", slot.verifier_up);
        visit("slot_verifier_down", slot.verifier_down);
        visit("job", ByStanding<std::uint64_t>{bytes.job_newcomer, bytes.job_proven});
    }
};

Outcome<Estimate> estimate(JobFile job) {
    ASSAY_ASSIGN(const auto initial, initial_file(job));
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start({}));
    ASSAY_ASSIGN(const Measured measured,
                 measure_training(*worker, job.spec, {job.train.string(), job.held_out.string()},
                                  kMeasuredSteps, initial));
    const double tokens =
        static_cast<double>(std::uint64_t{job.spec.train.inner_steps} * job.spec.train.batch) *
        static_cast<double>(job.spec.model.context);
    Estimate found;
    found.slot_round_seconds = tokens / measured.tokens_per_second;
    // Every unit of a newcomer is recomputed before its round is merged: the same work once more.
    found.job_seconds = 2 * found.slot_round_seconds * static_cast<double>(job.spec.rounds);
    found.measured = measured;
    return found;
}

/// Losses of so many steps that are trained here.
Outcome<std::vector<PilotPoint>> trained_pilot(JobFile job, const std::string& steps) {
    const auto count = static_cast<std::uint32_t>(std::stoul(steps.substr(0, kPilotDigits)));
    if (count == 0 || steps.size() > kPilotDigits || count <= job.spec.train.warmup_steps) {
        return base::fail(base::ErrorKind::kUsage,
                          "--pilot " + steps + " trains for no step after the job's warm-up",
                          "give a number of steps above train.warmup_steps = " +
                              std::to_string(job.spec.train.warmup_steps) + " and below 10000000");
    }
    ASSAY_ASSIGN(const auto initial, initial_file(job));
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start({}));
    ASSAY_ASSIGN(const LocalTrainingResult result,
                 train_pilot(*worker, job.spec, {job.train.string(), job.held_out.string()}, count, initial));
    const double step_tokens = static_cast<double>(job.spec.train.batch) * job.spec.model.context;
    std::vector<PilotPoint> points;
    for (const LossPoint& point : result.loss) {
        if (point.step == 0 || point.step < job.spec.train.warmup_steps || point.held_out <= 0) continue;
        points.push_back({.parameters = static_cast<double>(program::parameter_count(job.spec.model)),
                          .tokens = static_cast<double>(point.step) * step_tokens,
                          .loss = point.held_out,
                          .shape = {}});
    }
    return points;
}

Json plan_json(const program::JobSpec& spec, const JobPlan& plan, const ShownForecast& forecast,
               const std::optional<LeasePlan>& leases, const std::optional<Estimate>& estimate) {
    JsonFields body;
    body("job", spec.name);
    body("parameters", plan.parameters);
    body("tokens", plan.tokens);
    body("rounds", spec.rounds);
    body("slots", spec.slots);
    body("segments", program::RoundPlan(spec).segments());
    body("work_units", plan.slot_work);
    body("max_price", spec.market.max_price);
    body("slot_pay", plan.slot_pay);
    body("round_pay", plan.round_pay);
    body("round_cost", plan.round_cost);
    body("spend_max", plan.spend_max);
    body("budget", spec.market.budget);
    body("rounds_covered", plan.rounds_covered);
    body("deadline_blocks", spec.market.deadline_blocks);
    body("bond", ByStanding<Amount>{plan.bond_newcomer, plan.bond_proven});
    body("link_bond", plan.link_bond);
    body("job_fee", plan.job_fee);
    body("audit_rate", ByStanding<double>{1.0, plan.audit_rate});
    body("finalise_rate", ByStanding<double>{1.0, plan.finalise_rate});
    body("bad_segment_found", ByStanding<double>{1.0, plan.audit_rate});
    body("collusion", plan.collusion);
    body("bond_lost_for_good", plan.lost_for_good);
    body("deterring_rate", ByStanding<double>{plan.deterring_rate_newcomer, plan.deterring_rate_proven});
    body("cheat_gain", ByStanding<SignedUnits>{{plan.cheat_gain_newcomer}, {plan.cheat_gain_proven}});
    body("cheating_pays", plan.cheat_gain_newcomer >= 0 || plan.cheat_gain_proven >= 0);
    body("bytes", QuotedBytes{plan.bytes, slot_traffic(spec, plan.bytes, kQuotedVerifiers)});
    body("kept_bytes", plan.keeping);
    body("audit_window", AuditWindow{plan.audit_window_least, plan.audit_window_most});
    body("longest_dispute", plan.dispute);
    add_forecast(body, forecast);
    body("leases", leases);
    body("measured", estimate);
    return body.take();
}

std::string percent(double rate) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g %%", rate * 100);
    return text;
}

/// At the block interval that a ledger node has unless it is told another: 100 ms.
std::string hours_text(std::uint64_t heights) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", static_cast<double>(heights) / 36'000);
    return text;
}

std::string signed_money(std::int64_t amount) {
    const auto magnitude = static_cast<std::uint64_t>(amount < 0 ? -amount : amount);
    return (amount < 0 ? "-" : "") + base::to_text(Amount::of(magnitude).value_or(Amount{}));
}

std::string size_text(std::uint64_t bytes) {
    char text[48];
    std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
    return text;
}

std::string by_standing(const TrafficByStanding& bytes) {
    return "about " + size_text(bytes.newcomer) + " (newcomer), " + size_text(bytes.proven) + " (proven)";
}

std::string seconds_text(double seconds) {
    char text[48];
    std::snprintf(text, sizeof text, seconds < 120 ? "%.1f s" : "%.0f s", seconds);
    return text;
}

/// Bytes of a slot state from which `finalise` is recomputed.
std::uint64_t finalise_start(const program::JobSpec& spec) {
    const program::RoundPlan plan(spec);
    return program::file_sizes(spec).state_of(plan.start(plan.finalise()).arrays.size());
}

void print_plan(const Context& context, const program::JobSpec& spec, const JobPlan& plan,
                const ShownForecast& forecast, const std::optional<LeasePlan>& leases,
                const std::optional<Estimate>& estimate) {
    const bool pays = plan.cheat_gain_newcomer >= 0 || plan.cheat_gain_proven >= 0;
    const PlannedBytes& bytes = plan.bytes;
    const program::FileSizes& sizes = bytes.files;
    const SlotTraffic slot = slot_traffic(spec, bytes, kQuotedVerifiers);
    std::vector<std::pair<std::string, std::string>> fields = {
        {"job", spec.name},
        {"model", std::to_string(plan.parameters) + " parameters"},
        {"training", std::to_string(plan.tokens) + " tokens in " + std::to_string(spec.rounds) +
                         " rounds of " + std::to_string(spec.slots) + " slots"},
        {"slot's round", std::to_string(plan.slot_work) + " work units, at most " +
                             base::to_text(plan.slot_pay) + " at the cap"},
        {"round", "at most " + base::to_text(plan.round_cost) + ", of which miners " +
                      base::to_text(plan.round_pay) + ", checking the rest"},
        {"whole job", "at most " + base::to_text(plan.spend_max) + " of a budget of " +
                          base::to_text(spec.market.budget) + "; what is not spent comes back"},
        {"link bond", base::to_text(plan.link_bond) +
                          " beside the budget, and from each verifier; back when the job ends, lost for a "
                          "withheld beacon link"},
        {"fee", base::to_text(plan.job_fee) + " at submission, for the bytes and slots of the job; burned"},
        {"rounds covered", std::to_string(plan.rounds_covered) + " of " + std::to_string(spec.rounds) +
                               " if every round costs its most"},
        {"deadline", std::to_string(spec.market.deadline_blocks) + " blocks after submission"},
        {"paid when",
         "its update is stored and no drawn verifier finds another root, or all who accuse it lose their "
         "games; what is held is paid once its window is over and no game has defeated it"},
        {"recomputed", "newcomers: every segment; proven miners: " + percent(plan.audit_rate) +
                           " of segments, drawn after all have committed"},
        {"audits",
         "sealed within " + std::to_string(plan.audit_window_least) +
             " blocks, or within twice the time in which the slowest miner or verifier computes all "
             "slots of a verifier, if that is more; never more than " +
             std::to_string(plan.audit_window_most)},
        {"longest dispute", std::to_string(plan.dispute.moves) + " moves, " + size_text(plan.dispute.bytes) +
                                " posted, at most " + std::to_string(plan.dispute.heights) + " blocks (" +
                                hours_text(plan.dispute.heights) +
                                " hours at the ledger node's ten blocks a second); a challenge locks " +
                                base::to_text(plan.dispute.bond)},
        {"bytes", "a slot hands in " + size_text(sizes.update) + " a round; a round starts from " +
                      size_text(sizes.base_state) + "; a recomputed segment from " +
                      size_text(sizes.slot_state) + ", the update from " + size_text(finalise_start(spec))},
        {"miner's bytes",
         "a slot's round, up: " + by_standing(slot.miner_up) +
             " of starts, the update and what the slot hands on; down: " + size_text(slot.miner_down) +
             " of other slots' updates; once: " + size_text(bytes.data) + " of data"},
        {"verifier's bytes", "a slot's round, each of " + std::to_string(kQuotedVerifiers) +
                                 ", up: " + by_standing(slot.verifier_up) +
                                 "; down: " + by_standing(slot.verifier_down) +
                                 "; once: " + size_text(bytes.data) + " of data"},
        {"job's traffic", "up to about " + size_text(bytes.job_newcomer) + " (newcomers), " +
                              size_text(bytes.job_proven) + " (proven), of which " + size_text(bytes.data) +
                              " of data to each miner and verifier; " + size_text(bytes.join) +
                              " to each miner that joins later"},
        {"kept bytes", plan.keeping.text()},
        {"one bad segment",
         "recomputed for certain (newcomer), with " + percent(plan.audit_rate) + " (proven)"},
        {"bond of a slot",
         base::to_text(plan.bond_newcomer) + " (newcomer), " + base::to_text(plan.bond_proven) + " (proven)"},
        {"a bond assumes",
         percent(plan.collusion) + " of the verifiers' stake colludes, " + percent(plan.lost_for_good) +
             " of a forfeit is burned: a bad unit costs with " + percent(plan.deterring_rate_newcomer) +
             " (newcomer), " + percent(plan.deterring_rate_proven) + " (proven)"},
        {"a cheat's profit",
         signed_money(plan.cheat_gain_newcomer) + " (newcomer), " + signed_money(plan.cheat_gain_proven) +
             " (proven) a slot, on average: " + (pays ? "CHEATING PAYS" : "cheating does not pay")}};
    const auto expected = forecast_fields(spec, forecast);
    fields.insert(fields.end(), expected.begin(), expected.end());
    if (leases) {
        const auto machines = lease_fields(*leases);
        fields.insert(fields.end(), machines.begin(), machines.end());
    }
    if (estimate) {
        char speed[48];
        std::snprintf(speed, sizeof speed, "%.0f tokens/s", estimate->measured.tokens_per_second);
        fields.emplace_back("this machine",
                            std::string(speed) + ": " + seconds_text(estimate->slot_round_seconds) +
                                " a slot's round, " + seconds_text(estimate->job_seconds) +
                                " for the job with one such miner a slot, checking included; a step takes " +
                                step_memory(estimate->measured.opened));
    }
    print_fields(context.out, fields);
    if (!forecast.options) return;
    context.out << '\n';
    print_options(context.out, *forecast.options, forecast.height_seconds);
}

/// What the ledger that --node names says; the defaults where none is named.
struct LedgerFacts {
    contracts::Params params;
    MarketHistory history;
    std::optional<LeasePlan> leases;  ///< of a job that leases its machines
    double height_seconds = kDefaultHeightSeconds;
};

Outcome<LedgerFacts> ledger_facts(const Context& context, const program::JobSpec& spec) {
    LedgerFacts facts;
    if (!context.flags.node) {
        facts.leases = lease_plan(spec, nullptr, 0);
        return facts;
    }
    ASSAY_ASSIGN(const ChainSource chain, open_chain(context, StateFrom::kNode));
    facts.params = contracts::read_current_params(*chain.state);
    facts.history = market_history(*chain.state, spec);
    facts.leases = lease_plan(spec, chain.state.get(), chain.height);
    if (const auto pace = block_pace_ms(chain)) facts.height_seconds = *pace / 1000;
    return facts;
}

bool is_count(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Points of the pilots: files are read, and so many steps trained here for a number.
Outcome<std::vector<PilotPoint>> pilot_points(JobFile job, const std::vector<std::string>& pilots) {
    std::vector<PilotPoint> points;
    for (const std::string& pilot : pilots) {
        if (!is_count(pilot)) {
            ASSAY_ASSIGN(const auto read, read_pilots({pilot}, job.spec));
            points.insert(points.end(), read.begin(), read.end());
            continue;
        }
        ASSAY_ASSIGN(const auto trained, trained_pilot(job, pilot));
        points.insert(points.end(), trained.begin(), trained.end());
    }
    return points;
}

Outcome<void> plan(const Context& context, const PlanFlags& flags) {
    const bool trains = flags.measure || std::ranges::any_of(flags.forecast.pilots, is_count);
    if (trains) end_on_interrupt(context);
    ASSAY_ASSIGN(const JobFile job, read_job_file(flags.job));
    ASSAY_ASSIGN(const PlanGoals goals, goals_of(flags.forecast));
    ASSAY_ASSIGN(LedgerFacts ledger, ledger_facts(context, job.spec));
    ASSAY_ASSIGN(const JobPlan planned, plan_job(job.spec, ledger.params));
    ForecastSources sources{.history = std::move(ledger.history), .pilot = {}, .own_speed = std::nullopt};
    ASSAY_ASSIGN(sources.pilot, pilot_points(job, flags.forecast.pilots));
    std::optional<Estimate> estimated;
    if (flags.measure) {
        ASSAY_ASSIGN(estimated, estimate(job));
        sources.own_speed =
            static_cast<double>(planned.slot_work) / estimated->slot_round_seconds * ledger.height_seconds;
    }
    const JobForecaster forecaster(job.spec, ledger.params, planned.slot_work, std::move(sources));
    ShownForecast shown = shown_forecast(job.spec, forecaster, planned.slot_work, ledger.height_seconds);
    if (flags.forecast.asks_for_options()) {
        ASSAY_ASSIGN(shown.options, forecaster.options(goals));
    }
    if (context.json()) {
        context.print_json("assay.plan/v1", plan_json(job.spec, planned, shown, ledger.leases, estimated));
    } else {
        print_plan(context, job.spec, planned, shown, ledger.leases, estimated);
    }
    return {};
}

}  // namespace

void add_plan_command(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<PlanFlags>();
    CLI::App& command = verb(app, "plan", "Price, time and what is checked, before anything is paid", context,
                             [&context, flags] { return plan(context, *flags); });
    command.add_option("JOB.toml", flags->job, "The job file")->required();
    command.add_flag("--measure", flags->measure, "Train a few steps here for an estimate of time");
    command.add_option("--pilot", flags->forecast.pilots,
                       "Fit the loss to a pilot: a file with what model train, job show or job watch printed "
                       "with -o json, or a number of steps to train here; may be repeated");
    command.add_option("--target-loss", flags->forecast.target_loss,
                       "Find the cheapest plan that reaches this held-out loss with a chance of 90 %");
    command.add_option("--budget", flags->forecast.budget,
                       "Find a plan that costs no more with a chance of 90 %");
    command.add_option("--deadline", flags->forecast.deadline,
                       "Find a plan that ends within so many blocks with a chance of 90 %");
}

}  // namespace assay::node
