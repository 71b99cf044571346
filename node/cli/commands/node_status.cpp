// SPDX-License-Identifier: Apache-2.0
// assay node status
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"
#include "node/views/json.hpp"
#include "node/views/network_view.hpp"

namespace assay::node {
namespace {

base::Outcome<void> show_status(const Context& context) {
    ASSAY_ASSIGN(const auto ledger, context.ledger());
    ASSAY_ASSIGN(const LedgerStatus status, ledger->status());
    ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
    const NetworkView network = network_view(*state);
    if (context.json()) {
        JsonFields body;
        body("chain", status.chain_id);
        body("height", status.height);
        body("state_root", status.state_root);
        body("sequencer", status.sequencer);
        body("version", status.version);
        network.fields(body);
        context.print_json("assay.node.status/v1", body.take());
        return {};
    }
    print_fields(context.out, {{"chain", status.chain_id},
                               {"height", std::to_string(status.height)},
                               {"state root", status.state_root.hex()},
                               {"sequencer", status.sequencer.hex()},
                               {"version", status.version},
                               {"miners", std::to_string(network.miners)},
                               {"verifiers", std::to_string(network.verifiers)},
                               {"jobs", std::to_string(network.jobs_active) + " active of " +
                                            std::to_string(network.jobs)},
                               {"money", base::to_text(network.money.supply.minted)},
                               {"in escrow", base::to_text(network.money.supply.escrow)},
                               {"free stake", base::to_text(network.money.supply.stake)},
                               {"bonded", base::to_text(network.money.supply.bonds)}});
    return {};
}

}  // namespace

void add_node_status_command(CLI::App& app, Context& context) {
    verb(noun(app, "node", "Run the ledger"), "status",
         "What a ledger node serves: chain, height, who takes part, where the money is", context,
         [&context] { return show_status(context); });
}

}  // namespace assay::node
