// SPDX-License-Identifier: Apache-2.0
// Gives commands that sign as the owner of a node key that key, its owner, and the flags for both.
#pragma once

#include <string>

#include "node/cli/context.hpp"
#include "node/cli/owner_transaction.hpp"
#include "node/cli/state_source.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace assay::node {

struct OwnNodeFlags {
    std::string node_key;   ///< in hexadecimal; empty: the home's
    std::string owner_key;  ///< file; empty: the home's
    std::string genesis;
    PassphraseFlags passphrase;
};

/// Adds --node-key. Here and below, the flags must live as long as the app.
void add_node_key_flag(CLI::App& verb, std::string& node_key);
/// Adds --node-key, --owner-key, --genesis and the passphrase's flags.
void add_own_node_flags(CLI::App& verb, OwnNodeFlags& flags);

/// The node key that --node-key names, else the home's. kUsage when the text is no key, kNotFound when the
/// home has no node key.
base::Outcome<base::PublicKey> node_key_flag(const Context& context, const std::string& node_key);

struct OwnNode {
    ChainSource chain;  ///< of the ledger node
    base::PublicKey node;
    base::PublicKey owner;  ///< whose key file it is
    bool revoked = false;
};

/// Reads the ledger and the owner's key file, which it does not open. kNotFound when the node key is not on
/// the ledger; kRejected (not_yours) when it is another owner's, so that nobody is asked for a passphrase in
/// vain.
base::Outcome<OwnNode> find_own_node(const Context& context, const OwnNodeFlags& flags);

/// An error as if the ledger had refused for `reason`: for what can be told before anything is signed.
base::Failed<base::Error> would_refuse(const Context& context, contracts::Reason reason,
                                       const std::string& what, const std::string& fix);

/// Signs as the owner and waits for the block (submit_as_owner). `what` names the act in errors.
base::Outcome<OwnerTransaction> sign_as_owner_of(const Context& context, const OwnNodeFlags& flags,
                                                 const OwnNode& own, contracts::Payload payload,
                                                 const std::string& what);

}  // namespace assay::node
