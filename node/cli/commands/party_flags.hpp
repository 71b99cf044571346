// SPDX-License-Identifier: Apache-2.0
// Gives the commands about one miner or verifier their flags, and the node key that they are about.
#pragma once

#include <string>

#include "node/cli/context.hpp"
#include "node/cli/state_source.hpp"
#include "node/roles/onboarding.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace assay::node {

/// `--key` and `--offline`.
struct PartyFlags {
    std::string key;  ///< node key or a beginning; empty: the home's node key
    bool offline = false;
    [[nodiscard]] StateFrom from() const { return offline ? StateFrom::kFiles : StateFrom::kNode; }
};

/// `flags` lives as long as the app.
void add_key_flag(CLI::App& verb, PartyFlags& flags);
void add_offline_flag(CLI::App& verb, PartyFlags& flags);

/// The public node key of the home. kNotFound when it has none.
base::Outcome<base::PublicKey> own_node_key(const Context& context);

/// The registered miner or verifier that the flags name. kNotFound when it is none, kUsage when several fit.
base::Outcome<base::PublicKey> party_of(const Context& context, const contracts::StateView& state,
                                        WorkRole role, const PartyFlags& flags);

}  // namespace assay::node
