// SPDX-License-Identifier: Apache-2.0
// assay node run
#include <CLI/CLI.hpp>

#include "ledger/engine/engines.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/processes/node_process.hpp"
#include "node/runtime/log.hpp"
#include "node/runtime/shutdown.hpp"

namespace assay::node {

namespace {

struct NodeFlags {
    RoleFlags role;
    std::string engine = "embedded";
    std::uint64_t block_interval_ms = 100;
    bool accepts_far_clock = false;
    std::int64_t clock_offset_ms = 0;
    std::string drop_moves;
};

base::Outcome<void> run_node(const Context& context, const NodeFlags& flags) {
    const std::stop_token stop = stop_on_signals();
    ASSAY_TRY(start_log(flags.role.log_level, "node run"));
    NodeProcessOptions options;
    options.home = context.home();
    options.listen = flags.role.listen;
    options.tls = context.settings.tls;
    if (!flags.role.genesis.empty()) options.genesis = flags.role.genesis;
    ASSAY_ASSIGN(options.passphrase, flags.role.passphrase.source());
    options.engine = flags.engine;
    options.block_interval_ms = flags.block_interval_ms;
    options.accepts_far_clock = flags.accepts_far_clock;
    options.clock_offset_ms = flags.clock_offset_ms;
    if (!flags.drop_moves.empty()) {
        options.drops_moves_of = base::parse_public_key(flags.drop_moves);
        if (!options.drops_moves_of) {
            return base::fail(
                base::ErrorKind::kUsage,
                "--drill-drop-moves " + flags.drop_moves + " is not a node key of 64 hexadecimal digits",
                "keys are listed by: assay miner list, assay verifier list");
        }
    }
    options.version = ASSAY_VERSION;
    return run_ledger_node(options, stop);
}

}  // namespace

void add_node_commands(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<NodeFlags>();
    flags->role.listen = kDefaultNodeAddress;
    CLI::App& command =
        verb(noun(app, "node", "Run the ledger"), "run", "Make blocks and serve the ledger until stopped",
             context, [&context, flags] { return run_node(context, *flags); });
    add_service_flags(command, flags->role);
    command.add_option("--engine", flags->engine, "How blocks are ordered")
        ->check(CLI::IsMember(ledger::engine_names()))
        ->capture_default_str();
    command
        .add_option("--block-interval-ms", flags->block_interval_ms,
                    "No two blocks closer than this or the genesis' interval")
        ->check(CLI::Range(10, 60'000))
        ->capture_default_str();
    command.add_flag(
        "--accept-clock", flags->accepts_far_clock,
        "Start although the clock is over a year after the last block: if it is wrong, the ledger "
        "stands still until that time");
    command
        .add_option("--drill-clock-ms", flags->clock_offset_ms,
                    "Write block times that are off by so much (devnet only)")
        ->check(CLI::Range(-3'600'000, 3'600'000));
    command.add_option("--drill-drop-moves", flags->drop_moves,
                       "Leave out every other move in disputes of this node key (devnet only)");
}

}  // namespace assay::node
