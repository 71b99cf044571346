// SPDX-License-Identifier: Apache-2.0
// assay miner pause|drain|resume
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/processes/device_homes.hpp"
#include "node/processes/role_process.hpp"
#include "node/roles/miner_order.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

std::string_view what_follows(MinerOrder order) {
    switch (order) {
        case MinerOrder::kWork: return "The miner asks for jobs and places again.";
        case MinerOrder::kPause: return "The miner asks for nothing more, and goes on with what it has.";
        case MinerOrder::kDrain:
            return "The miner asks for nothing more, and ends once nothing needs it (assay miner status).";
    }
    return "";
}

base::Outcome<void> give_order(const Context& context, MinerOrder order) {
    ASSAY_TRY(check_node_key(context.home()));
    ASSAY_TRY(
        for_each_miner_home(context.home(), [&](DiskPort& notes) { return write_order(notes, order); }));
    if (context.json()) {
        JsonFields fields;
        fields("order", order);
        context.print_json("assay.miner.order/v1", fields.take());
        return {};
    }
    context.out << what_follows(order)
                << " It reads this within a second where it runs, else at its next start.\n";
    return {};
}

}  // namespace

void add_miner_orders(CLI::App& app, Context& context) {
    CLI::App& miner = noun(app, "miner", "Work for pay: train slots of jobs");
    const auto add = [&](const char* name, const char* description, MinerOrder order) {
        verb(miner, name, description, context, [&context, order] { return give_order(context, order); });
    };
    add("pause",
        "Let the miner of this home, and those of its devices, ask for nothing more; what it has, it goes on "
        "with",
        MinerOrder::kPause);
    add("drain",
        "Let the miner of this home, and those of its devices, ask for nothing more, and end with exit code "
        "0 once nothing needs it: no "
        "sealed ask, no place in a job that runs, no claim in its window, no dispute",
        MinerOrder::kDrain);
    add("resume", "Take back pause or drain", MinerOrder::kWork);
}

}  // namespace assay::node
