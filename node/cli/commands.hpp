// SPDX-License-Identifier: Apache-2.0
// Gives the program one function per group of commands, each in its own file of commands/. A new group is
// declared here and called in commands.cpp.
#pragma once

#include <functional>
#include <string>

#include "node/cli/context.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace assay::node {

/// The subcommand `name` of `app`, made when it is not there yet: several files may add verbs to one noun.
CLI::App& noun(CLI::App& app, const std::string& name, const std::string& description);

/// A verb that runs `action`. Errors thrown by libraries inside it become kFailure.
CLI::App& verb(CLI::App& noun, const std::string& name, const std::string& description, Context& context,
               std::function<base::Outcome<void>()> action);

/// Adds --passphrase-file and --passphrase-fd; `flags` lives as long as the app.
void add_passphrase_flags(CLI::App& verb, PassphraseFlags& flags);

void add_all_commands(CLI::App& app, Context& context);

/// What `assay version` and `assay --version` do.
std::function<base::Outcome<void>()> version_action(const Context& context);
void add_version_command(CLI::App& app, Context& context);
void add_doctor_command(CLI::App& app, Context& context);
void add_key_commands(CLI::App& app, Context& context);
void add_key_revoke_command(CLI::App& app, Context& context);
void add_stake_commands(CLI::App& app, Context& context);
void add_wallet_commands(CLI::App& app, Context& context);
void add_data_commands(CLI::App& app, Context& context);
void add_model_commands(CLI::App& app, Context& context);
void add_job_queries(CLI::App& app, Context& context);
void add_job_why_command(CLI::App& app, Context& context);
void add_miner_queries(CLI::App& app, Context& context);
void add_market_queries(CLI::App& app, Context& context);
void add_miner_earnings(CLI::App& app, Context& context);
void add_verifier_earnings(CLI::App& app, Context& context);
void add_verifier_queries(CLI::App& app, Context& context);
void add_work_orders(CLI::App& app, Context& context);
void add_market_orders(CLI::App& app, Context& context);
void add_payout_commands(CLI::App& app, Context& context);
void add_model_file_commands(CLI::App& app, Context& context);
void add_plan_command(CLI::App& app, Context& context);
void add_sim_commands(CLI::App& app, Context& context);
void add_ledger_commands(CLI::App& app, Context& context);
void add_audit_ledger_command(CLI::App& app, Context& context);
void add_audit_model_command(CLI::App& app, Context& context);
void add_audit_payouts_command(CLI::App& app, Context& context);
void add_audit_dispute_command(CLI::App& app, Context& context);
void add_audit_replay_command(CLI::App& app, Context& context);
void add_bench_commands(CLI::App& app, Context& context);
/// After add_bench_commands.
void add_bench_comm_command(CLI::App& app, Context& context);
void add_completion_command(CLI::App& app, Context& context);
void add_node_commands(CLI::App& app, Context& context);
void add_node_genesis_commands(CLI::App& app, Context& context);
void add_node_status_command(CLI::App& app, Context& context);
void add_work_commands(CLI::App& app, Context& context);
void add_register_commands(CLI::App& app, Context& context);
void add_job_submit_command(CLI::App& app, Context& context);
void add_job_buy_command(CLI::App& app, Context& context);
void add_job_follow_commands(CLI::App& app, Context& context);
void add_job_change_commands(CLI::App& app, Context& context);
void add_job_logs_command(CLI::App& app, Context& context);
void add_team_commands(CLI::App& app, Context& context);
void add_devnet_commands(CLI::App& app, Context& context);

}  // namespace assay::node
