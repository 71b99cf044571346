// SPDX-License-Identifier: Apache-2.0
// assay sim run
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <ostream>
#include <thread>

#include "node/cli/commands.hpp"
#include "node/cli/commands/plan_text.hpp"
#include "node/cli/commands/sim_market.hpp"
#include "node/cli/table.hpp"
#include "node/sim/measure.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct SimFlags {
    std::string what = "cheats";
    SimMarketFlags market;
    std::vector<std::string> names;
    sim::SimOptions options;
    unsigned threads = 0;  ///< 0: as many as the machine runs at once
};

struct SimReport {
    std::uint64_t seed = 0;
    double compute_share = 0;
    std::vector<sim::SimRow> rows;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("seed", seed);
        visit("compute_share", compute_share);
        visit("rows", rows);
    }
};

base::Failed<base::Error> unusable(const std::string& what, const std::string& fix) {
    return base::fail(base::ErrorKind::kUsage, what, fix);
}

/// The named strategies in the order of the report; all of them for "all".
Outcome<std::vector<const sim::CheatRow*>> chosen(const std::vector<std::string>& names) {
    std::string known = "all";
    for (const sim::CheatRow& strategy : sim::strategies()) known += ", " + std::string(strategy.name);
    bool every = false;
    for (const std::string& name : names) {
        every = every || name == "all";
        if (name != "all" && sim::find_strategy(name) == nullptr) {
            return unusable("there is no strategy '" + name + "'", "strategies are: " + known);
        }
    }
    std::vector<const sim::CheatRow*> found;
    for (const sim::CheatRow& strategy : sim::strategies()) {
        const bool named = std::find(names.begin(), names.end(), strategy.name) != names.end();
        if (every || named) found.push_back(&strategy);
    }
    return found;
}

Outcome<void> check(const sim::SimOptions& options) {
    constexpr std::uint64_t kMostRounds = 10'000'000;
    constexpr std::uint64_t kMostSeed = std::uint64_t{1} << 53;
    if (options.rounds == 0 || options.rounds > kMostRounds)
        return unusable("--rounds is 1 to " + std::to_string(kMostRounds), "name how many trials to play");
    if (options.seeds == 0 || options.seeds > options.rounds)
        return unusable("--seeds is 1 to --rounds", "name how many worlds to spread the trials over");
    if (options.seed > kMostSeed)
        return unusable("--seed is at most " + std::to_string(kMostSeed), "name a smaller seed");
    if (!(options.compute_share >= 0 && options.compute_share <= 1))
        return unusable("--compute-share is 0 to 1", "name what honest work costs, of its pay");
    return {};
}

std::string figure(double value) { return formatted(value, "%.4f"); }

void print(std::ostream& out, const SimReport& report) {
    TextTable table({{"strategy"},
                     {"trials", Align::kRight},
                     {"predicted", Align::kRight},
                     {"measured", Align::kRight},
                     {"low", Align::kRight},
                     {"high", Align::kRight},
                     {"profit alone", Align::kRight},
                     {"with a third", Align::kRight},
                     {"honest forfeits", Align::kRight}});
    for (const sim::SimRow& row : report.rows) {
        table.row({row.strategy, std::to_string(row.rounds), figure(row.predicted), figure(row.measured),
                   figure(row.low), figure(row.high), figure(row.profit_one), figure(row.profit_third),
                   std::to_string(row.honest_forfeits)});
    }
    table.print(out);
}

/// Measures all strategies, several at a time: each plays worlds of its own, so that the rows are those of
/// one thread. Says on stderr when one is done. The first error in the order of the report.
Outcome<std::vector<sim::SimRow>> measure_all(const Context& context,
                                              const std::vector<const sim::CheatRow*>& strategies,
                                              const SimFlags& flags) {
    std::vector<std::optional<Outcome<sim::SimRow>>> rows(strategies.size());
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::size_t done = 0;
    std::mutex told;
    const auto work = [&] {
        for (std::size_t i = next++; i < strategies.size() && !failed; i = next++) {
            rows[i] = sim::measure(*strategies[i], flags.options);
            if (!rows[i]->ok()) failed = true;
            const std::scoped_lock lock(told);
            context.err << strategies[i]->name << " played, " << ++done << " of " << strategies.size()
                        << (rows[i]->ok() ? ": " + json_of(**rows[i]).dump() : std::string()) << std::endl;
        }
    };
    const unsigned threads = flags.threads == 0 ? std::thread::hardware_concurrency() : flags.threads;
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < std::min<std::size_t>(threads, strategies.size()); ++i)
            others.emplace_back(work);
        work();
    }
    std::vector<sim::SimRow> measured;
    for (auto& row : rows) {
        if (!row) continue;  // not begun: another failed
        ASSAY_TRY(*row);
        measured.push_back(std::move(**row));
    }
    return measured;
}

Outcome<void> run(const Context& context, SimFlags& flags) {
    if (flags.what == "market") {
        flags.market.seed = flags.options.seed;
        flags.market.seeds = flags.options.seeds;
        return run_sim_market(context, flags.market);
    }
    if (flags.names.empty())
        return unusable("sim run plays no strategy without --strategies", "name some, or: all");
    ASSAY_TRY(check(flags.options));
    ASSAY_ASSIGN(const auto strategies, chosen(flags.names));
    SimReport report{.seed = flags.options.seed, .compute_share = flags.options.compute_share, .rows = {}};
    ASSAY_ASSIGN(report.rows, measure_all(context, strategies, flags));
    if (context.json()) {
        context.print_json("assay.sim/v1", json_of(report));
    } else {
        print(context.out, report);
    }
    return {};
}

}  // namespace

void add_sim_commands(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<SimFlags>();
    CLI::App& sim = noun(app, "sim", "Play cheats against the real rules and roles, in simulated time");
    CLI::App& verb_run = verb(sim, "run", "Measure how often strategies are caught, and what they earn",
                              context, [&context, flags] { return run(context, *flags); });
    verb_run
        .add_option("what", flags->what,
                    "cheats: strategies against the rules and roles of jobs; market: the market between jobs")
        ->check(CLI::IsMember({"cheats", "market"}))
        ->capture_default_str();
    verb_run.add_option("--strategies", flags->names, "Of cheats: names, separated by commas, or: all")
        ->delimiter(',');
    add_sim_market_flags(verb_run, flags->market);
    verb_run.add_option("--rounds", flags->options.rounds, "Trials of each strategy")->capture_default_str();
    verb_run.add_option("--seed", flags->options.seed, "Fixes every bit of the run")->capture_default_str();
    verb_run
        .add_option("--seeds", flags->options.seeds,
                    "Worlds that the trials are spread over; of a market, seeds from --seed on")
        ->capture_default_str();
    verb_run
        .add_option("--threads", flags->threads,
                    "Strategies that are played at a time (0: one for each core)")
        ->check(CLI::Range(0U, 1024U))
        ->capture_default_str();
    verb_run.add_option("--compute-share", flags->options.compute_share, "Cost of honest work, of its pay")
        ->capture_default_str();
}

}  // namespace assay::node
