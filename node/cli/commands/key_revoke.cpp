// SPDX-License-Identifier: Apache-2.0
// assay key revoke
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/commands/own_node.hpp"
#include "node/cli/commands/stake_lines.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct RevokeFlags {
    OwnNodeFlags own;
    bool yes = false;
};

constexpr const char* kConsequences =
    R"(For a key that leaked or was lost. It cannot be taken back, and nobody can register the key again.
- The key leaves its jobs and the market: it is dealt and drawn for nothing more.
- What it had to do and cannot sign any more costs what silence costs: a slot of a round that runs, a
  link of the beacon, an audit, a dispute about its work, the deposit behind what it has sealed.
- What is bonded stays bonded as long as it would have. It is the owner's all the same:
  assay stake withdraw all --node-key HEX takes out what is free, then and later.
- A job that it bought goes on until the owner ends it: assay job cancel.
- Another node key registers anew, pays the fee anew, and has no standing: move keys/node.key of the
  home away, then: assay key new --role node.
A miner whose key is safe ends without loss by: assay miner drain)";

void print_revoked(const Context& context, const OwnNode& own, const std::optional<std::uint64_t>& height) {
    if (context.json()) {
        JsonFields body;
        body("node", own.node);
        body("owner", own.owner);
        body("height", height);
        context.print_json("assay.key.revoke/v1", body.take());
        return;
    }
    context.out
        << "node key " << own.node.brief()
        << (height ? " is revoked since block " + std::to_string(*height)
                   : std::string(" was revoked before"))
        << ": it signs nothing more\nwithdraw its free stake with: assay stake withdraw all --node-key "
        << own.node.hex() << '\n';
}

Outcome<void> revoke_key(const Context& context, const RevokeFlags& flags) {
    ASSAY_ASSIGN(const OwnNode own, find_own_node(context, flags.own));
    // Whoever runs the command once more, because no answer came, learns that it is done.
    if (own.revoked) {
        print_revoked(context, own, std::nullopt);
        return {};
    }
    if (!flags.yes) {
        const auto stake = stake_view(*own.chain.state, own.node);
        const std::string bonded = stake ? bonded_text(*stake) : std::string();
        return base::fail(
            base::ErrorKind::kUsage,
            "revoking node key " + own.node.hex() + " cannot be taken back" +
                (bonded.empty() ? "" : ", and " + bonded + ", which it can then no longer defend"),
            "read what follows in: assay key revoke --help, and give --yes");
    }
    ASSAY_ASSIGN(
        const auto sent,
        sign_as_owner_of(context, flags.own, own, contracts::NodeRevoke{.node = own.node}, "the revocation"));
    print_revoked(context, own, sent.reply.height);
    return {};
}

}  // namespace

void add_key_revoke_command(CLI::App& app, Context& context) {
    CLI::App& key = noun(app, "key", "Encrypted key files: owner (cold, money) and node (hot, work)");
    const auto flags = std::make_shared<RevokeFlags>();
    CLI::App& revoking = verb(key, "revoke", "Let the ledger take nothing more that a node key signs",
                              context, [&context, flags] { return revoke_key(context, *flags); });
    revoking.footer(kConsequences);
    add_own_node_flags(revoking, flags->own);
    revoking.add_flag("--yes", flags->yes,
                      "Revoke it; without this flag the command only says what is bonded");
}

}  // namespace assay::node
