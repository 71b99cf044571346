// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <ostream>

#include "contracts/rules/tables.hpp"
#include "node/cli/commands.hpp"
#include "node/views/json.hpp"

namespace assay::node {

std::function<base::Outcome<void>()> version_action(const Context& context) {
    return [&context]() -> base::Outcome<void> {
        if (context.json()) {
            JsonFields body;
            body("version", ASSAY_VERSION);
            body("ledger_schema", contracts::kSchemaVersion);
            context.print_json("assay.version/v1", body.take());
        } else {
            context.out << "assay " ASSAY_VERSION " (ledger schema " << contracts::kSchemaVersion << ")\n";
        }
        return {};
    };
}

void add_version_command(CLI::App& app, Context& context) {
    verb(app, "version", "Version of this program and of the ledger's layout", context,
         version_action(context));
}

}  // namespace assay::node
