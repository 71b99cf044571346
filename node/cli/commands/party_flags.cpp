// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/party_flags.hpp"

#include <CLI/CLI.hpp>

#include "node/key/key_file.hpp"

namespace assay::node {

void add_key_flag(CLI::App& verb, PartyFlags& flags) {
    verb.add_option("--key", flags.key, "Node key or a beginning of it; default: the home's");
}

void add_offline_flag(CLI::App& verb, PartyFlags& flags) {
    verb.add_flag("--offline", flags.offline, "Read the home's ledger files instead of asking a node");
}

base::Outcome<base::PublicKey> own_node_key(const Context& context) {
    ASSAY_ASSIGN(const auto info, inspect_key_file(context.home().node_key()));
    return info.public_key;
}

base::Outcome<base::PublicKey> party_of(const Context& context, const contracts::StateView& state,
                                        WorkRole role, const PartyFlags& flags) {
    if (!flags.key.empty())
        return role == WorkRole::kVerifier ? find_verifier(state, flags.key) : find_miner(state, flags.key);
    ASSAY_ASSIGN(const base::PublicKey key, own_node_key(context));
    if (is_registered(state, role, key)) return key;
    const std::string name(to_text(role));
    return base::fail(
        base::ErrorKind::kNotFound, key.brief() + " is not a registered " + name,
        "start it once with: assay " + name + " run; others are listed by: assay " + name + " list");
}

}  // namespace assay::node
