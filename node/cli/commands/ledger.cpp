// SPDX-License-Identifier: Apache-2.0
// assay ledger fetch
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>

#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/layout.hpp"
#include "ledger/store/posix_disk.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/interrupt.hpp"
#include "node/cli/progress.hpp"
#include "node/cli/table.hpp"
#include "node/processes/connect.hpp"
#include "node/processes/role_process.hpp"
#include "node/runtime/ledger_fetch.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using base::Outcome;

/// For one block: several large ones may be on their way at once over a thin line.
constexpr std::chrono::seconds kBlockDeadline{60};

struct LedgerFetchFlags {
    std::string genesis;
    std::optional<std::uint64_t> until;
};

/// What the home belongs to, or will from now on. Writes nothing: the node may be another chain's.
Outcome<ledger::Genesis> wanted_genesis(const Context& context, const LedgerFetchFlags& flags) {
    if (flags.genesis.empty()) return genesis_of(context.home(), std::nullopt);
    ledger::PosixDisk disk;
    return ledger::read_genesis(disk, flags.genesis);
}

/// The home's own ledger, empty at first.
Outcome<std::unique_ptr<ledger::Chain>> open_own(const Context& context, ledger::Disk& disk,
                                                 ledger::KeyValueProvider& index) {
    const std::string home = context.home().root.string();
    auto chain = ledger::Chain::open(disk, index, ledger::rules_machine(), home);
    if (!chain && chain.error().kind == ErrorKind::kVerification) {
        return fail(
            ErrorKind::kVerification, chain.error().what,
            "if this ledger was fetched, move the folder " + context.home().ledger().string() +
                " away and fetch it again with --genesis FILE; if a node made it: " + chain.error().fix);
    }
    if (!chain) return chain;
    for (const std::string& note : (*chain)->notes()) context.err << "note: " << note << '\n';
    return chain;
}

Outcome<std::uint64_t> last_wanted(const LedgerFetchFlags& flags, std::uint64_t of_node) {
    if (!flags.until || *flags.until <= of_node) return flags.until.value_or(of_node);
    return fail(
        ErrorKind::kUsage,
        "--until " + std::to_string(*flags.until) + ": the node has " + std::to_string(of_node) + " blocks",
        "give one of these, or leave --until out");
}

/// Says with any error what is here already.
base::Failed<base::Error> broken_off(const base::Error& why, const ledger::Chain& chain) {
    base::Error error = why;
    const std::string kept =
        chain.height() == 0 ? "" : "blocks 1 to " + std::to_string(chain.height()) + " are kept; ";
    if (error.kind == ErrorKind::kVerification) {
        error.fix = kept +
                    "use another --node, or the program's version that made these blocks (assay node "
                    "status); if the block is signed, keep it as evidence";
    } else if (chain.stopped()) {
        error.fix = "put the disk right; " + kept + "the same command goes on from there";
    } else if (error.kind != ErrorKind::kPreflight) {
        error.fix =
            (error.fix.empty() ? "" : error.fix + "; ") + kept + "the same command goes on from there";
    }
    return base::failed(error);
}

void report(const Context& context, const ledger::Chain& chain, std::uint64_t fetched,
            std::uint64_t of_node) {
    if (context.json()) {
        JsonFields body;
        body("chain", chain.genesis().chain_id);
        body("genesis", chain.genesis().hash());
        body("fetched", fetched);
        body("height", chain.height());
        body("tip", chain.tip());
        body("state_root", chain.state_root());
        body("node_height", of_node);
        return context.print_json("assay.ledger.fetch/v1", body.take());
    }
    const std::string height = std::to_string(chain.height());
    print_fields(
        context.out,
        {{"chain", chain.genesis().chain_id},
         {"genesis", chain.genesis().hash().hex()},
         {"blocks", std::to_string(fetched) + " fetched and checked, " + height + " in this home"},
         {"tip", chain.tip().hex()},
         {"state root", chain.state_root().hex()},
         {"end", "block " + height + " of " + std::to_string(of_node) + " that the node says it has"},
         {"not shown",
          "whether more blocks followed, or others see another history: compare genesis and "
          "tip with theirs, or audit with --trust or --receipt"}});
}

Outcome<void> fetch_own_ledger(const Context& context, const LedgerFetchFlags& flags) {
    end_on_interrupt(context, "every block that came is kept; run the command again, and it goes on");
    ASSAY_ASSIGN(const ledger::Genesis genesis, wanted_genesis(context, flags));
    ClientOptions client = context.client();
    client.deadline = kBlockDeadline;
    ASSAY_ASSIGN(const auto node, connect_to_chain(client, genesis));
    ASSAY_ASSIGN(const LedgerStatus status, node->status());
    ASSAY_ASSIGN(const std::uint64_t last, last_wanted(flags, status.height));
    ASSAY_TRY(create_home(context.home()));
    ASSAY_ASSIGN(const HomeLock lock, HomeLock::take(context.home(), "assay ledger fetch"));
    std::optional<std::filesystem::path> given;
    if (!flags.genesis.empty()) given = flags.genesis;
    ASSAY_TRY(genesis_of(context.home(), given));
    ledger::PosixDisk disk;
    const auto index = ledger::leveldb_provider(ledger::Layout(context.home().root.string()).index);
    ASSAY_ASSIGN(const auto chain, open_own(context, disk, *index));
    ASSAY_TRY(check_same_past(*node, *chain, status.height));
    const std::uint64_t before = chain->height();
    {
        ProgressBar bar(context.err, "fetching", "blocks");
        bar.update(before, last);
        const auto fetched =
            fetch_ledger(*node, *chain, last, [&](std::uint64_t height) { bar.update(height, last); });
        if (!fetched) return broken_off(fetched.error(), *chain);
    }
    report(context, *chain, chain->height() - before, status.height);
    return {};
}

}  // namespace

void add_ledger_commands(CLI::App& app, Context& context) {
    CLI::App& ledger = noun(app, "ledger", "Fetch the blocks of a ledger");
    const auto flags = std::make_shared<LedgerFetchFlags>();
    CLI::App& command = verb(
        ledger, "fetch",
        "Bring a node's ledger into this home, for audits without a node. Every block is checked and "
        "executed before it is kept, and a fetch that was broken off goes on. That no later block follows is "
        "the node's word alone",
        context, [&context, flags] { return fetch_own_ledger(context, *flags); });
    command.add_option("--genesis", flags->genesis, "The ledger's genesis file; needed once per home");
    command.add_option("--until", flags->until, "Last block to fetch (default: the node's last)")
        ->check(CLI::PositiveNumber);
}

}  // namespace assay::node
