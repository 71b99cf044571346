// SPDX-License-Identifier: Apache-2.0
// assay devnet demo
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/devnet/demo.hpp"
#include "node/runtime/log.hpp"
#include "node/runtime/shutdown.hpp"

namespace assay::node {

namespace {

struct DemoFlags {
    std::string text;
    std::uint64_t seed = 7;
    std::uint32_t rounds = 5;
    std::vector<std::string> sabotage;
};

base::Outcome<void> demo(const Context& context, const DemoFlags& flags) {
    const std::stop_token stop = stop_on_signals();
    ASSAY_TRY(start_log("warn", "devnet"));
    DemoOptions options;
    // Without --home the demo keeps to a folder of its own and leaves a participant's home alone.
    options.home = context.flags.home ? context.home().root : context.home().root / "demo";
    if (!flags.text.empty()) options.text = flags.text;
    options.seed = flags.seed;
    options.rounds = flags.rounds;
    for (const std::string& text : flags.sabotage) {
        ASSAY_ASSIGN(const DrillSpec drill, parse_drill(text));
        options.sabotage.push_back(drill);
    }
    ASSAY_ASSIGN(const DemoReport report, run_demo(options, context.err, stop));
    if (context.json()) {
        context.out << to_json(report) << "\n";
        return {};
    }
    context.out << "\n";
    print_tables(report, context.out);
    context.out << "\nThe home stays at " << report.home << ". Check it yourself:\n"
                << "  assay audit ledger --home " << report.home << "\n"
                << "  assay audit payouts --home " << report.home << "\n"
                << "  assay audit replay --home " << report.home << " --job " << report.job.hex()
                << " --round 0\n"
                << "  assay audit ledger --home " << report.home << "/tampered    (must fail)\n"
                << "The model is in " << report.home << "/model and loads in transformers.\n"
                << "Done in " << static_cast<int>(report.seconds + 0.5) << " s.\n";
    return {};
}

}  // namespace

void add_devnet_commands(CLI::App& app, Context& context) {
    CLI::App& devnet = noun(app, "devnet", "A local network with play money");
    const auto flags = std::make_shared<DemoFlags>();
    CLI::App& command = verb(devnet, "demo", "The whole story on real text, then exit; the home stays",
                             context, [&context, flags] { return demo(context, *flags); });
    command.add_option("--text", flags->text, "UTF-8 text to train on (default: Debian's bible-kjv-text)");
    command.add_option("--seed", flags->seed, "Seed of initial weights and data order")
        ->capture_default_str();
    command.add_option("--rounds", flags->rounds, "Rounds, 1 to 20")->capture_default_str();
    command.add_option("--sabotage", flags->sabotage,
                       "Plant a fault of your own: miner=2,round=3,tensor=NAME,index=I,bit=B (repeatable)");
}

}  // namespace assay::node
