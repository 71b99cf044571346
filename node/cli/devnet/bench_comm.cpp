// SPDX-License-Identifier: Apache-2.0
// assay bench comm: the bytes that jobs of each strategy move over a network.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <ostream>

#include "contracts/program/round_law.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/scratch_folder.hpp"
#include "node/cli/table.hpp"
#include "node/devnet/demo_data.hpp"
#include "node/devnet/traffic_run.hpp"
#include "node/runtime/log.hpp"
#include "node/runtime/shutdown.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::Outcome;
namespace fs = std::filesystem;

struct CommFlags {
    std::vector<std::string> strategies;
    std::uint32_t rounds = 3;
    std::string text;
};

/// A strategy as this command names it: "diloco", "diloco+fp16", "diloco+carried".
struct Choice {
    std::string name;
    const program::StrategyRow* row = nullptr;
    program::InnerState inner_state = program::InnerState::kReset;
};

bool contains(const auto& list, const auto& wanted) {
    return std::find(list.begin(), list.end(), wanted) != list.end();
}

std::vector<Choice> choices() {
    std::vector<Choice> all;
    std::vector<std::string_view> words;
    for (const program::StrategyRow* row : program::strategies()) {
        std::string name(row->word);
        // The first row of a word is the one that the word alone means.
        if (contains(words, row->word)) name += "+" + std::string(row->codec->word);
        words.push_back(row->word);
        all.push_back({name, row, program::InnerState::kReset});
        all.push_back({name + "+carried", row, program::InnerState::kCarried});
    }
    return all;
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Choice& one : choices()) all.push_back(one.name);
    return all;
}

std::string per_token(double bytes) {
    char text[48];
    std::snprintf(text, sizeof text, bytes < 100 ? "%.2f" : "%.0f", bytes);
    return text;
}

void print_table(std::ostream& out, const std::vector<StrategyTraffic>& all) {
    std::vector<Column> columns{{"what"}};
    for (const StrategyTraffic& one : all) columns.push_back({one.strategy, Align::kRight});
    TextTable table(columns);
    const auto row = [&](std::string name, const auto& cell) {
        std::vector<std::string> cells{std::move(name)};
        for (const StrategyTraffic& one : all) cells.push_back(cell(one));
        table.row(std::move(cells));
    };
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    row("contribution, coded bytes", [&](const auto& one) { return number(one.coded_bytes); });
    row("4 bytes a parameter and step", [&](const auto& one) { return number(one.uncoded_bytes); });
    row("fewer by the factor", [](const auto& one) { return per_token(one.factor); });
    row("tokens", [&](const auto& one) { return number(one.tokens); });
    row("all sockets, bytes", [&](const auto& one) { return number(one.socket_bytes); });
    row("all sockets, bytes a token", [](const auto& one) { return per_token(one.socket_bytes_per_token); });
    for (std::size_t i = 0; i < all.front().rows.size(); ++i) {
        const TrafficRow& first = all.front().rows[i];
        row("  " + first.purpose + (first.derived ? " (derived), a token" : ", a token"),
            [&](const auto& one) { return per_token(one.rows[i].per_token); });
    }
    row("role to worker, bytes a token", [](const auto& one) {
        return per_token(static_cast<double>(one.worker_bytes) / static_cast<double>(one.tokens));
    });
    table.print(out);
}

Outcome<void> bench_comm(const Context& context, const CommFlags& flags) {
    const std::stop_token stop = stop_on_signals();
    ASSAY_TRY(start_log("warn", "bench"));
    ASSAY_ASSIGN(const ScratchFolder folder, ScratchFolder::make("assay-comm"));
    DemoOptions demo;
    demo.home = folder.path() / "text";
    demo.rounds = flags.rounds;
    if (!flags.text.empty()) demo.text = flags.text;
    ASSAY_ASSIGN(const PackedText packed, pack_text(demo));
    std::vector<StrategyTraffic> measured;
    for (const Choice& choice : choices()) {
        if (!contains(flags.strategies, choice.name)) continue;
        context.err << "bench: " << choice.name << std::endl;
        TrafficJob job;
        job.home = folder.path() / choice.name;
        job.spec = demo_job(demo);
        job.spec.slots = 3;
        job.spec.train.inner_steps = 12;
        job.spec.security.segment_steps = 4;
        job.spec.model.vocabulary = packed.manifest.vocabulary;
        job.spec.engine = choice.row->engine;
        job.spec.strategy = choice.row->number;
        job.spec.inner_state = choice.inner_state;
        job.manifest = packed.folder / "manifest.json";
        ASSAY_ASSIGN(StrategyTraffic traffic, measure_traffic(job, context.err, stop));
        traffic.strategy = choice.name;
        measured.push_back(std::move(traffic));
        std::error_code ignored;
        fs::remove_all(job.home, ignored);
    }
    if (context.json()) {
        JsonFields body;
        body("strategies", measured);
        context.print_json("assay.bench.comm/v1", body.take());
    } else {
        print_table(context.out, measured);
    }
    return {};
}

}  // namespace

void add_bench_comm_command(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<CommFlags>();
    flags->strategies = {names()[0], names()[2], names()[1]};
    CLI::App& command =
        verb(*app.get_subcommand("bench"), "comm",
             "Bytes that a small job moves: real processes on loopback, counted at the sockets", context,
             [&context, flags] { return bench_comm(context, *flags); });
    command
        .add_option("--strategies", flags->strategies,
                    "Which, with commas between. Each is a job with three miners and three verifiers; relays "
                    "between the processes count all bytes, the processes count messages by purpose; framing "
                    "is the difference")
        ->delimiter(',')
        ->check(CLI::IsMember(names()))
        ->capture_default_str();
    command.add_option("--rounds", flags->rounds, "Rounds of each job")
        ->check(CLI::Range(1, 20))
        ->capture_default_str();
    command.add_option("--text", flags->text, "UTF-8 text to train on (default: Debian's bible-kjv-text)");
}

}  // namespace assay::node
