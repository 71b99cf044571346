// SPDX-License-Identifier: Apache-2.0
// assay bench gemm|train|state|verify|market
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <utility>

#include "node/cli/bench_market.hpp"
#include "node/cli/bench_plan.hpp"
#include "node/cli/bench_state.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/interrupt.hpp"
#include "node/cli/table.hpp"
#include "node/cli/verify/bench_verify.hpp"
#include "node/cli/verify/dispute_shapes.hpp"
#include "node/views/json.hpp"
#include "node/worker/device_list.hpp"
#include "trainer/host/targets.hpp"

namespace assay::node {
namespace {

struct BenchFlags {
    BenchOptions options;
    std::vector<std::string> kinds;
    bool no_peers = false;
};

std::string cpu_name() {
    std::ifstream info("/proc/cpuinfo");
    std::string line;
    while (std::getline(info, line)) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

/// Mean number of processes that wanted to run in the last minute: what else the machine had to do.
double load() {
    double average = 0;
    return ::getloadavg(&average, 1) == 1 ? average : 0;
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, value < 100 ? "%.2f" : "%.0f", value);
    return text;
}

/// Shares of one: five digits behind the point.
std::string precise(double value) {
    char text[32];
    std::snprintf(text, sizeof text, value < 10 ? "%.5f" : "%.1f", value);
    return text;
}

void print_table(const Context& context, const std::vector<BenchRow>& rows) {
    TextTable table({{"what"},
                     {"shape"},
                     {"profile"},
                     {"target"},
                     {"threads", Align::kRight},
                     {"ours", Align::kRight},
                     {"unit"},
                     {"peer"},
                     {"peer's", Align::kRight},
                     {"ratio", Align::kRight}});
    const auto or_dash = [](const std::optional<double>& value) { return value ? number(*value) : "-"; };
    for (const BenchRow& row : rows) {
        table.row({row.name, row.shape, row.profile, row.target, std::to_string(row.threads),
                   number(row.value), row.unit, row.peer.empty() ? "-" : row.peer, or_dash(row.peer_value),
                   or_dash(row.ratio)});
    }
    table.print(context.out);
}

void print_shapes(const Context& context, const std::vector<DisputeShape>& shapes) {
    if (shapes.empty()) return;
    TextTable table({{"dispute over"},
                     {"group"},
                     {"profile"},
                     {"partials", Align::kRight},
                     {"moves", Align::kRight},
                     {"bytes", Align::kRight},
                     {"witness_bytes", Align::kRight},
                     {"limit", Align::kRight},
                     {"referee_us", Align::kRight},
                     {"subnormal", Align::kRight},
                     {"limit", Align::kRight},
                     {"met"}});
    for (const DisputeShape& shape : shapes)
        table.row({shape.name, shape.group, std::string(to_text(shape.profile)),
                   std::to_string(shape.partials), std::to_string(shape.moves), std::to_string(shape.bytes),
                   std::to_string(shape.witness_bytes), std::to_string(dispute::kMaxWitnessBytes),
                   number(shape.referee_us), number(shape.referee_us_subnormal), number(kVerdictLimitUs),
                   shape.met() ? "yes" : "NO"});
    table.print(context.out);
}

void print_market(const Context& context, const MarketBench& bench) {
    const auto or_dash = [](const std::optional<double>& value) { return value ? number(*value) : "-"; };
    TextTable table({{"market"},
                     {"shape"},
                     {"ours", Align::kRight},
                     {"unit"},
                     {"limit", Align::kRight},
                     {"met"},
                     {"peer"},
                     {"peer's", Align::kRight},
                     {"ratio", Align::kRight}});
    for (const MarketRow& row : bench.rows)
        table.row({row.name, row.shape, precise(row.value), row.unit, or_dash(row.limit),
                   !row.limit   ? "-"
                   : *row.met() ? "yes"
                                : "NO",
                   row.peer.empty() ? "-" : row.peer, row.peer_value ? precise(*row.peer_value) : "-",
                   or_dash(row.ratio)});
    if (!bench.rows.empty()) table.print(context.out);
    TextTable shares({{"family"},
                      {"shape"},
                      {"rule"},
                      {"markets", Align::kRight},
                      {"welfare", Align::kRight},
                      {"worst", Align::kRight},
                      {"paying", Align::kRight},
                      {"worst", Align::kRight},
                      {"lots", Align::kRight},
                      {"left over", Align::kRight},
                      {"sellers' gain", Align::kRight},
                      {"can gain", Align::kRight}});
    for (const WelfareRow& row : bench.welfare)
        shares.row(
            {row.family, row.shape, row.rule, std::to_string(row.plan.markets), precise(row.found.welfare),
             precise(row.found.welfare_worst), row.paying ? precise(*row.paying) : "-",
             row.paying_worst ? precise(*row.paying_worst) : "-", precise(row.found.lots),
             precise(row.found.left_over), precise(row.found.sellers_gain), precise(row.found.can_gain)});
    if (!bench.welfare.empty()) shares.print(context.out);
}

base::Outcome<void> bench(const Context& context, const BenchFlags& flags) {
    if (flags.kinds.empty()) {
        return base::fail(
            base::ErrorKind::kUsage, "kinds: nothing to measure is named",
            "name one or more of gemm, train, state, verify and market, or run `assay bench comm`");
    }
    const std::set<std::string> kinds(flags.kinds.begin(), flags.kinds.end());
    if (!flags.options.device.empty() &&
        (kinds.contains("state") || kinds.contains("verify") || kinds.contains("market"))) {
        return base::fail(base::ErrorKind::kUsage,
                          "--device: state, verify and market are measured on the processor",
                          "name gemm, train or both with --device");
    }
    WorkerOptions checked;
    ASSAY_TRY(set_memory(checked, {}, flags.options.device_memory));
    end_on_interrupt(context);
    BenchOptions options = flags.options;
    options.peers = !flags.no_peers;
    const double load_before = load();
    std::vector<BenchRow> rows;
    BenchReport report;
    report.row = [&](const BenchRow& row) { rows.push_back(row); };
    report.note = [&](const std::string& text) { context.err << "bench: " << text << std::endl; };
    if (kinds.contains("gemm")) ASSAY_TRY(bench_products(options, report));
    if (kinds.contains("train")) ASSAY_TRY(bench_steps(options, report));
    if (kinds.contains("state")) ASSAY_TRY(bench_state(options, report));
    std::vector<DisputeShape> shapes;
    if (kinds.contains("verify")) {
        ASSAY_TRY(bench_verify(options, report));
        shapes = dispute_shapes({.only = options.only}, report.note);
    }
    MarketBench market;
    if (kinds.contains("market")) {
        ASSAY_ASSIGN(market, bench_market(options, report.note));
    }
    if (!context.json()) {
        if (!rows.empty()) print_table(context, rows);
        print_shapes(context, shapes);
        print_market(context, market);
        if (!options.device.empty() && !is_card(options.device))
            context.out << "Emulated: the time of an emulation, the speed of nothing.\n";
        context.out << "machine: " << cpu_name() << ", targets";
        for (const std::string& target : trainer::machine_targets()) context.out << ' ' << target;
        context.out << "; load " << number(load_before) << " before, " << number(load())
                    << " at the end. Ratio above 1: ours is better.\n";
        return {};
    }
    ASSAY_ASSIGN(const int threads, trainer::threads_from_environment());
    JsonFields machine;
    machine("cpu", cpu_name());
    machine("targets", trainer::machine_targets());
    if (!options.device.empty()) machine("device", options.device);
    machine("threads", threads);
    machine("load", load_before);
    JsonFields body;
    body("machine", machine.take());
    body("rows", rows);
    if (kinds.contains("verify")) body("disputes", shapes);
    if (kinds.contains("market")) {
        body("market", market.rows);
        body("welfare", market.welfare);
    }
    context.print_json("assay.bench/v1", body.take());
    return {};
}

/// What is named before a verb is measured before it, and a script gets one object with the members of both.
base::Outcome<void> bench_both(Context& context, const std::function<base::Outcome<void>()>& kinds,
                               const std::function<base::Outcome<void>()>& verbs) {
    if (context.json()) context.gathered = std::make_shared<Json>(Json::object());
    ASSAY_TRY(kinds());
    ASSAY_TRY(verbs());
    if (const auto all = std::exchange(context.gathered, nullptr)) context.print_json("assay.bench/v1", *all);
    return {};
}

}  // namespace

void add_bench_commands(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<BenchFlags>();
    const auto action = [&context, flags] { return bench(context, *flags); };
    CLI::App& command =
        verb(app, "bench", "Speed of this machine, beside LibTorch's and PyTorch's", context, action);
    // Its own verbs set their action first: what is named before them is measured before.
    command.callback([&command, &context, flags, action] {
        if (command.get_subcommands().empty()) {
            context.action = action;
        } else if (!flags->kinds.empty()) {
            context.action = [&context, action, verbs = context.action] {
                return bench_both(context, action, verbs);
            };
        }
    });
    command
        .add_option(
            "kinds", flags->kinds,
            "gemm: the matrix products of a linear layer. train: whole training steps, their peak "
            "memory, how they scale with threads and, on a card, what their kernels take. state: a block on "
            "ledgers of growing size, and "
            "a role's start. verify: what tracing, storing and replaying a slot's round cost, and "
            "what a dispute over each "
            "operator weighs at real shapes (--only disputes: that alone). market: how long classes of lots "
            "take to clear and what the clearing is worth, beside HiGHS and McAfee's rule, and what an epoch "
            "costs a ledger")
        ->check(CLI::IsMember({"gemm", "train", "state", "verify", "market"}));
    command.add_option("--seconds", flags->options.seconds, "About how long each kind measures")
        ->check(CLI::Range(1.0, 36000.0))
        ->capture_default_str();
    command.add_option("--only", flags->options.only, "Only cases whose name or shape contains this text");
    command.add_flag("--large", flags->options.large, "GPT-2 124M too: minutes, and 5 GiB of memory");
    command.add_flag("--no-peers", flags->no_peers, "Ours alone");
    command.add_option(
        "--device", flags->options.device,
        "gemm and train on a card (cuda:0) beside PyTorch on it; on cuda-host, its emulation, small "
        "shapes alone, whose time says nothing");
    command.add_option("--device-memory", flags->options.device_memory,
                       "Memory of the card for a step, as miner run has it");
}

}  // namespace assay::node
