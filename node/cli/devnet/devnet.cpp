// SPDX-License-Identifier: Apache-2.0
// assay devnet demo|up|down
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
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
    std::uint32_t buyers = 1;
    bool trade = false;
    std::uint64_t epoch = 300;
    std::uint64_t block_interval_ms = DevnetPlan{}.block_interval_ms;
    std::string duty;
};

/// Percentages between commas. Empty for an empty text.
base::Outcome<std::vector<unsigned>> parse_duties(const std::string& text) {
    std::vector<unsigned> duties;
    for (std::size_t from = 0; !text.empty() && from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        unsigned duty = 0;
        const char* const end = text.data() + comma;
        const auto [stopped, error] = std::from_chars(text.data() + from, end, duty);
        if (error != std::errc() || stopped != end || duty < 1 || duty > 100)
            return base::fail(base::ErrorKind::kUsage,
                              "--duty '" + text + "' is no list of percentages from 1 to 100",
                              "write them between commas: --duty 8,16,32");
        duties.push_back(duty);
        from = comma + 1;
    }
    return duties;
}

/// A quarter of each epoch to seal, a quarter to open, and half as notice.
contracts::MarketParams market_of(std::uint64_t epoch) {
    contracts::MarketParams market;
    market.epoch = epoch;
    market.seal_window = market.open_window = epoch / 4;
    return market;
}

/// Duties are given to the miners in turn.
std::vector<MinerPlan> miners_of(const UpFlags& flags, const std::vector<unsigned>& duties) {
    std::vector<MinerPlan> miners(flags.miners);
    for (std::size_t i = 0; i < miners.size(); ++i) {
        miners[i].ask = *base::Amount::of(1'000 + 50 * i);
        // In one class until rounds have measured them, so that a first job can lease them all.
        if (flags.trade) miners[i].flags = {"--trade", "--speed-bits", "0"};
        if (!duties.empty())
            miners[i].flags.insert(miners[i].flags.end(),
                                   {"--duty", std::to_string(duties[i % duties.size()])});
    }
    return miners;
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
        std::vector<std::string> more;
        for (const Participant& buyer : net.more_buyers) more.push_back(buyer.home.root.string());
        network_up("more_buyer_homes", more);
        context.print_json("assay.devnet.up/v1", network_up.take());
    } else {
        context.out << "ledger node at " << network.node_address() << ", " << net.miners.size() << " miners, "
                    << net.verifiers.size() << " verifiers; play money in every purse\n"
                    << "buy training:\n"
                    << "  assay data pack TEXT.txt --out data\n"
                    << "  assay job submit job.toml --node " << network.node_address() << " --home "
                    << net.buyer.home.root.string() << " \\\n      --genesis " << home
                    << "/ledger/genesis.bin --passphrase-file " << home << "/passphrase\n";
        for (const Participant& buyer : net.more_buyers)
            context.out << "another buyer: --home " << buyer.home.root.string() << "\n";
        context.out << "end it with Ctrl-C, or from elsewhere: assay devnet down --home " << home << "\n";
    }
    context.out.flush();
}

void print_left(const Context& context, const DevnetPlan& plan, const std::string& name) {
    context.err << name << " ended with exit code 0, as it was told to; the others go on. Its log: "
                << (Home{plan.home / name}.logs() / (name + ".log")).string() << std::endl;
}

base::Outcome<void> up(const Context& context, const UpFlags& flags) {
    ASSAY_ASSIGN(const std::vector<unsigned> duties, parse_duties(flags.duty));
    const std::stop_token stop = stop_on_signals();
    ASSAY_TRY(start_log("warn", "devnet"));
    DevnetPlan plan;
    plan.home = devnet_home(context).root;
    plan.listen = context.settings.node;
    plan.miners = miners_of(flags, duties);
    plan.verifiers = flags.verifiers;
    plan.more_buyers = flags.buyers - 1;
    plan.market = market_of(flags.epoch);
    plan.block_interval_ms = flags.block_interval_ms;
    const NetworkHeard heard{
        .ready = [&](const Devnet& net, const Network& network) { print_how_to(context, net, network); },
        .left = [&](const std::string& name) { print_left(context, plan, name); }};
    return keep_network_up(plan, stop, heard);
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
    starting.add_option("--buyers", up_flags->buyers, "How many, each with a home of its own")
        ->check(CLI::Range(1, 16))
        ->capture_default_str();
    starting.add_flag("--trade", up_flags->trade,
                      "Miners offer their machines in the market between jobs: for jobs with [market] "
                      "machines_least");
    starting.add_option("--epoch", up_flags->epoch, "Length of the market's epochs, in blocks")
        ->check(CLI::Range(std::uint64_t{40}, std::uint64_t{100'000}))
        ->capture_default_str();
    starting
        .add_option("--block-interval-ms", up_flags->block_interval_ms,
                    "Least time between blocks; all windows of jobs are counted in blocks")
        ->check(CLI::Range(std::uint64_t{20}, std::uint64_t{10'000}))
        ->capture_default_str();
    starting.add_option("--duty", up_flags->duty,
                        "Shares of the time in which the miners' workers compute, in percent, given to them "
                        "in turn: 8,16,32");
    verb(devnet, "down", "End the network that `devnet up` keeps running", context,
         [&context] { return down(context); });
}

}  // namespace assay::node
