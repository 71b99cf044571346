// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands.hpp"

#include <CLI/CLI.hpp>

namespace assay::node {

CLI::App& noun(CLI::App& app, const std::string& name, const std::string& description) {
    const auto found = app.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
    if (!found.empty()) return *found.front();
    CLI::App* made = app.add_subcommand(name, description);
    made->require_subcommand(1);
    made->fallthrough();
    return *made;
}

CLI::App& verb(CLI::App& noun, const std::string& name, const std::string& description, Context& context,
               std::function<base::Outcome<void>()> action) {
    CLI::App* made = noun.add_subcommand(name, description);
    made->fallthrough();  // --home, --node, --tls-* and -o may stand after the verb
    made->callback([&context, action = std::move(action)] { context.action = action; });
    return *made;
}

void add_passphrase_flags(CLI::App& verb, PassphraseFlags& flags) {
    verb.add_option("--passphrase-file", flags.file, "Read the passphrase from the first line of this file");
    verb.add_option("--passphrase-fd", flags.fd, "Read the passphrase from this open descriptor")
        ->check(CLI::NonNegativeNumber);
}

void add_all_commands(CLI::App& app, Context& context) {
    add_devnet_commands(app, context);
    add_node_commands(app, context);
    add_node_genesis_commands(app, context);
    add_node_status_command(app, context);
    add_work_commands(app, context);
    add_register_commands(app, context);
    add_job_submit_command(app, context);
    add_job_buy_command(app, context);
    add_job_follow_commands(app, context);
    add_job_change_commands(app, context);
    add_job_logs_command(app, context);
    add_key_commands(app, context);
    add_key_revoke_command(app, context);
    add_wallet_commands(app, context);
    add_stake_commands(app, context);
    add_team_commands(app, context);
    add_data_commands(app, context);
    add_model_commands(app, context);
    add_job_queries(app, context);
    add_miner_queries(app, context);
    add_verifier_queries(app, context);
    add_work_orders(app, context);
    add_miner_earnings(app, context);
    add_verifier_earnings(app, context);
    add_market_queries(app, context);
    add_market_orders(app, context);
    add_job_why_command(app, context);
    add_payout_commands(app, context);
    add_model_file_commands(app, context);
    add_plan_command(app, context);
    add_sim_commands(app, context);
    add_ledger_commands(app, context);
    add_audit_ledger_command(app, context);
    add_audit_payouts_command(app, context);
    add_audit_dispute_command(app, context);
    add_audit_replay_command(app, context);
    add_audit_model_command(app, context);
    add_bench_commands(app, context);
    add_bench_comm_command(app, context);
    add_doctor_command(app, context);
    add_completion_command(app, context);
    add_version_command(app, context);
}

}  // namespace assay::node
