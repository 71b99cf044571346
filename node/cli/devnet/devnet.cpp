// SPDX-License-Identifier: Apache-2.0
// assay devnet demo|up|down
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "contracts/program/names.hpp"
#include "node/cli/commands.hpp"
#include "node/devnet/demo.hpp"
#include "node/devnet/stay_up.hpp"
#include "node/runtime/log.hpp"
#include "node/runtime/shutdown.hpp"
#include "node/views/json.hpp"

namespace assay::node {

namespace {

struct DemoFlags {
    std::string text;
    std::uint64_t seed = 7;
    std::uint32_t rounds = 5;
    std::string profile = "fastest";
    std::string family = "gpt2";
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
    options.profile = program::parse_profile(flags.profile);  // fastest is none
    options.family = program::parse_family(flags.family).value_or(options.family);
    for (const std::string& text : flags.sabotage) {
        ASSAY_ASSIGN(const DrillSpec drill, parse_drill(text));
        options.sabotage.push_back(drill);
    }
    ASSAY_ASSIGN(const DemoReport report, run_demo(options, context.err, stop));
    if (context.json()) {
        context.print_json("assay.devnet.demo/v1", json_of(report));
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

struct UpFlags {
    std::uint32_t miners = 3;
    std::uint32_t verifiers = 3;
    bool trade = false;
    std::uint64_t epoch = 200;  ///< heights: sixteen seconds
};

/// Shares of a processor at one, two and four parts in turns, so that together they are a little more than
/// one.
unsigned duty_of(std::uint32_t miner, std::uint32_t miners) {
    constexpr unsigned kWhole = 112;
    const auto parts = [](std::uint32_t place) { return 1U << place % 3U; };
    unsigned all = 0;
    for (std::uint32_t i = 0; i < miners; ++i) all += parts(i);
    return std::clamp(kWhole * parts(miner) / all, 1U, 100U);
}

/// A quarter of the epoch each to seal and to open.
contracts::MarketParams market_of(std::uint64_t epoch) {
    contracts::MarketParams market;
    market.epoch = epoch;
    market.seal_window = market.open_window = epoch / 4;
    return market;
}

// A folder of its own, unless --home says otherwise: a participant's home is left alone.
Home devnet_home(const Context& context) {
    return context.flags.home ? context.home() : Home{context.home().root / "devnet"};
}

void print_how_to(const Context& context, const Devnet& net, const Network& network) {
    const std::string home = net.plan.home.string();
    if (context.json()) {
        JsonFields network_up;
        network_up("home", home);
        network_up("node", network.node_address());
        network_up("genesis", home + "/ledger/genesis.bin");
        network_up("passphrase_file", home + "/passphrase");
        network_up("buyer_home", net.buyer.home.root.string());
        context.print_json("assay.devnet.up/v1", network_up.take());
    } else {
        context.out << "ledger node at " << network.node_address() << ", " << net.miners.size() << " miners, "
                    << net.verifiers.size() << " verifiers; play money in every purse\n"
                    << "buy training:\n"
                    << "  assay data pack TEXT.txt --out data\n"
                    << "  assay job submit job.toml --node " << network.node_address() << " --home "
                    << net.buyer.home.root.string() << " \\\n      --genesis " << home
                    << "/ledger/genesis.bin --passphrase-file " << home << "/passphrase\n"
                    << "end it with Ctrl-C, or from elsewhere: assay devnet down --home " << home << "\n";
    }
    context.out.flush();
}

base::Outcome<void> up(const Context& context, const UpFlags& flags) {
    const std::stop_token stop = stop_on_signals();
    ASSAY_TRY(start_log("warn", "devnet"));
    DevnetPlan plan;
    plan.home = devnet_home(context).root;
    plan.listen = context.settings.node;
    for (std::uint32_t i = 0; i < flags.miners; ++i) {
        plan.miners.push_back(
            {.behaviour = Behaviour::kHonest, .ask = *base::Amount::of(1'000 + 50 * i), .drills = {}});
        if (flags.trade)
            plan.miners.back().flags = {"--trade", "--duty", std::to_string(duty_of(i, flags.miners))};
    }
    plan.market = market_of(flags.epoch);
    plan.verifiers = flags.verifiers;
    return keep_network_up(
        plan, stop, [&](const Devnet& net, const Network& network) { print_how_to(context, net, network); });
}

base::Outcome<void> down(const Context& context) {
    ASSAY_TRY(bring_network_down(devnet_home(context)));
    if (context.json()) {
        JsonFields ended;
        ended("home", devnet_home(context).root.string());
        context.print_json("assay.devnet.down/v1", ended.take());
    } else {
        context.out << "the network in " << devnet_home(context).root.string() << " has ended\n";
    }
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
    command.add_option("--profile", flags->profile, "Arithmetic of the job; fastest measures both")
        ->check(CLI::IsMember({"fastest", "f32", "i16"}))
        ->capture_default_str();
    command.add_option("--family", flags->family, "Shape of the model")
        ->check(CLI::IsMember({"gpt2", "llama"}))
        ->capture_default_str();
    command.add_option("--sabotage", flags->sabotage,
                       "Plant a fault of your own: miner=2,round=3,tensor=NAME,index=I,bit=B (repeatable)");

    const auto up_flags = std::make_shared<UpFlags>();
    CLI::App& starting = verb(devnet, "up", "Start a network and keep it running until stopped", context,
                              [&context, up_flags] { return up(context, *up_flags); });
    starting.add_option("--miners", up_flags->miners, "How many")
        ->check(CLI::Range(1, 16))
        ->capture_default_str();
    starting.add_option("--verifiers", up_flags->verifiers, "How many")
        ->check(CLI::Range(2, 16))
        ->capture_default_str();
    starting.add_flag("--trade", up_flags->trade,
                      "Miners keep their machines on offer in the market between jobs, at one, two and four "
                      "parts of a processor in turns");
    starting.add_option("--epoch", up_flags->epoch, "Blocks of an epoch of that market")
        ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1'000'000}))
        ->capture_default_str();
    verb(devnet, "down", "End the network that `devnet up` keeps running", context,
         [&context] { return down(context); });
}

}  // namespace assay::node
