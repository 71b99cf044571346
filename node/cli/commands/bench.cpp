// SPDX-License-Identifier: Apache-2.0
// assay bench gemm|train
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/interrupt.hpp"
#include "node/cli/table.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/worker_process.hpp"
#include "trainer/targets.hpp"

namespace assay::node {
namespace {

using Json = nlohmann::ordered_json;

struct BenchFlags {
    std::uint32_t seconds = 20;
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

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, value < 100 ? "%.2f" : "%.0f", value);
    return text;
}

/// The members in the order that scripts were promised; a worker without LibTorch says which peer it lacks.
Json in_order(const nlohmann::json& row) {
    Json ordered;
    for (const char* key :
         {"name", "shape", "profile", "target", "threads", "value", "unit", "peer", "peer_value", "ratio"})
        ordered[key] = row.at(key);
    if (ordered["peer_value"].is_null()) ordered["peer"] = "LibTorch (not built in)";
    return ordered;
}

void print_table(const Context& context, const Json& rows) {
    Table table({{"what"},
                 {"shape"},
                 {"target"},
                 {"threads", Align::kRight},
                 {"ours", Align::kRight},
                 {"unit"},
                 {"peer"},
                 {"peer's", Align::kRight},
                 {"ratio", Align::kRight}});
    for (const Json& row : rows) {
        const bool peer = !row["peer_value"].is_null();
        table.row({row["name"], row["shape"], row["target"], row["threads"].dump(),
                   number(row["value"].get<double>()), row["unit"], row["peer"],
                   peer ? number(row["peer_value"].get<double>()) : "-",
                   peer ? number(row["ratio"].get<double>()) : "-"});
    }
    table.print(context.out);
}

base::Outcome<void> bench(const Context& context, const BenchFlags& flags, frames::BenchKind kind) {
    end_on_interrupt(context);
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start(tuned_for_bench({})));
    context.err << "measuring for about " << flags.seconds << " s; ours and the peer's alternate\n";
    ASSAY_ASSIGN(const std::string text, run_bench(*worker, kind, flags.seconds));
    Json rows = Json::array();
    for (const auto& row : nlohmann::json::parse(text)) rows.push_back(in_order(row));
    if (!context.json()) {
        print_table(context, rows);
        return {};
    }
    Json body;
    body["machine"]["cpu"] = cpu_name();
    body["machine"]["targets"] = trainer::machine_targets();
    body["machine"]["threads"] = worker->hello().threads;
    body["rows"] = rows;
    context.print_json("assay.bench/v1", body);
    return {};
}

}  // namespace

void add_bench_commands(CLI::App& app, Context& context) {
    CLI::App& benches = noun(app, "bench", "Speed of this machine, beside LibTorch's");
    const auto flags = std::make_shared<BenchFlags>();
    CLI::App& gemm = verb(benches, "gemm", "The three matrix products of a linear layer", context,
                          [&context, flags] { return bench(context, *flags, frames::BenchKind::kGemm); });
    CLI::App& train = verb(benches, "train", "Whole training steps", context,
                           [&context, flags] { return bench(context, *flags, frames::BenchKind::kTrain); });
    for (CLI::App* command : {&gemm, &train})
        command->add_option("--seconds", flags->seconds, "About how long to measure")
            ->check(CLI::Range(1U, 3600U))
            ->capture_default_str();
}

}  // namespace assay::node
