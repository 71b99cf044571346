// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/own_node.hpp"

#include <CLI/CLI.hpp>

#include "node/cli/commands.hpp"
#include "node/cli/commands/party_flags.hpp"
#include "node/cli/commands/role_flags.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using base::Outcome;

void add_node_key_flag(CLI::App& verb, std::string& node_key) {
    verb.add_option("--node-key", node_key, "Node key in hexadecimal; default: the home's");
}

void add_own_node_flags(CLI::App& verb, OwnNodeFlags& flags) {
    add_node_key_flag(verb, flags.node_key);
    verb.add_option("--owner-key", flags.owner_key,
                    "File of the owner's key, which signs (default: HOME/keys/owner.key)");
    verb.add_option("--genesis", flags.genesis, "The ledger's genesis file; needed once per home");
    add_passphrase_flags(verb, flags.passphrase);
}

Outcome<base::PublicKey> node_key_flag(const Context& context, const std::string& node_key) {
    if (!node_key.empty()) return key_flag("--node-key", node_key);
    auto own = own_node_key(context);
    if (!own.ok() && own.error().kind == ErrorKind::kNotFound)
        return fail(ErrorKind::kNotFound, "there is no node key in " + context.home().node_key().string(),
                    "name one with --node-key; your owner key's are listed by: assay wallet show");
    return own;
}

Outcome<OwnNode> find_own_node(const Context& context, const OwnNodeFlags& flags) {
    OwnNode own;
    ASSAY_ASSIGN(own.node, node_key_flag(context, flags.node_key));
    const std::filesystem::path owner_key =
        flags.owner_key.empty() ? context.home().owner_key() : std::filesystem::path(flags.owner_key);
    ASSAY_ASSIGN(const auto info, inspect_key_file(owner_key));
    own.owner = info.public_key;
    ASSAY_ASSIGN(own.chain, open_chain(context, StateFrom::kNode));
    const auto record = contracts::read_node_key(*own.chain.state, own.node);
    if (!record)
        return fail(ErrorKind::kNotFound, "node key " + own.node.brief() + " is not on this ledger",
                    "register it with: assay miner register, or assay verifier register");
    if (record->owner != own.owner)
        return would_refuse(context, contracts::Reason::kNotYours,
                            "node key " + own.node.brief() + " is of owner " + record->owner.brief() +
                                ", and " + owner_key.string() + " holds the key of " + own.owner.brief(),
                            "name the other owner's key file with --owner-key");
    own.revoked = record->revoked;
    return own;
}

base::Failed<base::Error> would_refuse(const Context& context, contracts::Reason reason,
                                       const std::string& what, const std::string& fix) {
    context.refused = LedgerRefusal{.number = static_cast<std::uint32_t>(reason),
                                    .reason = reason,
                                    .name = std::string(contracts::to_text(reason))};
    return fail(ErrorKind::kRejected, what, fix);
}

Outcome<OwnerTransaction> sign_as_owner_of(const Context& context, const OwnNodeFlags& flags,
                                           const OwnNode& own, contracts::Payload payload,
                                           const std::string& what) {
    return submit_as_owner(
        context,
        OwnerSigner{.passphrase = flags.passphrase, .genesis = flags.genesis, .owner_key = flags.owner_key},
        std::move(payload), what, "see its stake with: assay stake show --node-key " + own.node.hex());
}

}  // namespace assay::node
