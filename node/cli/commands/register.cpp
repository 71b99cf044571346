// SPDX-License-Identifier: Apache-2.0
// assay miner register, assay verifier register
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/owner_session.hpp"
#include "node/roles/onboarding.hpp"
#include "node/views/json.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

struct RegisterFlags {
    RoleFlags role;
    std::string endpoint = "127.0.0.1:1";
    std::string stake = "100";
};

// What a node key lacks, said to who cannot sign it here.
std::string lack_of(const OwnerSession& session, WorkRole role, const std::string& step) {
    return "node key " + session.node().brief() + " is no " + std::string(to_text(role)) + " of " +
           session.chain_id() + " yet ('" + step + "' is missing)";
}

// Every step once: a node that takes what is signed and never shows it gets no second stake.
base::Outcome<std::vector<std::string>> sign_steps(OwnerSession& session, OnboardingWants wants) {
    std::vector<std::string> done;
    while (const auto step = missing_step(session.state(), wants)) {
        if (done.empty()) {
            ASSAY_TRY(session.open_keys(lack_of(session, wants.role, *step),
                                        "assay " + std::string(to_text(wants.role)) + " register"));
            wants.owner = session.owner();
            wants.node = session.node();
            wants.node_proof = session.node_proof();
        }
        if (std::find(done.begin(), done.end(), *step) != done.end()) {
            return fail(ErrorKind::kVerification,
                        "the ledger node says that '" + *step + "' is in a block, and does not show it",
                        "ask the ledger's operator, or use another --node");
        }
        std::optional<contracts::Payload> payload;
        (void)onboard(session.state(), wants,
                      [&](const std::string&, contracts::Payload wanted) { payload = std::move(wanted); });
        if (!payload) break;
        ASSAY_TRY(session.submit(std::move(*payload), "'" + *step + "'", "see docs/reference/reasons.md",
                                 [&] { return missing_step(session.state(), wants) == step; }));
        done.push_back(*step);
    }
    return done;
}

base::Outcome<void> register_node(const Context& context, const RegisterFlags& flags, WorkRole role) {
    OwnerSessionOptions options{.passphrase = flags.role.passphrase, .genesis = {}};
    if (!flags.role.owner_key.empty()) options.owner_key = flags.role.owner_key;
    if (!flags.role.genesis.empty()) options.genesis = flags.role.genesis;
    ASSAY_ASSIGN(const base::Amount stake, amount_flag("--stake", flags.stake));
    ASSAY_TRY(create_home(context.home()));
    ASSAY_ASSIGN(const auto session, OwnerSession::connect(context, std::move(options)));
    OnboardingWants wants;
    wants.role = role;
    wants.node = session->node();
    wants.endpoint = flags.endpoint;
    wants.stake = stake;
    ASSAY_ASSIGN(const std::vector<std::string> done, sign_steps(*session, std::move(wants)));
    if (context.json()) {
        JsonFields body;
        body("node", session->node());
        body("role", std::string(to_text(role)));
        body("signed", done);
        context.print_json("assay.register/v1", body.take());
        return {};
    }
    for (const std::string& step : done) context.out << "signed  " << step << '\n';
    context.out << to_text(role) << "  " << session->node().hex() << "  registered\n";
    return {};
}

void add_register_command(CLI::App& app, Context& context, WorkRole role, const std::string& about) {
    const auto flags = std::make_shared<RegisterFlags>();
    CLI::App& command =
        verb(noun(app, std::string(to_text(role)), about), "register",
             "Register and stake as the owner, where that is still to do; `run` does it at its first start",
             context, [&context, flags, role] { return register_node(context, *flags, role); });
    add_passphrase_flags(command, flags->role.passphrase);
    add_owner_key_flag(command, flags->role);
    add_genesis_flag(command, flags->role);
    command
        .add_option("--endpoint", flags->endpoint,
                    "HOST:PORT where others will ask for its blobs; `run` corrects it")
        ->capture_default_str();
    command.add_option("--stake", flags->stake, "Stake deposited once, when nothing is staked yet")
        ->capture_default_str();
}

}  // namespace

void add_register_commands(CLI::App& app, Context& context) {
    add_register_command(app, context, WorkRole::kMiner, "Train for pay");
    add_register_command(app, context, WorkRole::kVerifier, "Recompute for pay");
}

}  // namespace assay::node
