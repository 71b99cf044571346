// SPDX-License-Identifier: Apache-2.0
// Gives commands an owner's step: a command of this program that signs as the owner, run as a process of its
// own before the calling process can be reached. The caller never opens the owner's key: a role that is taken
// over has none.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "contracts/base/amount.hpp"
#include "contracts/base/hash.hpp"
#include "node/cli/context.hpp"

namespace assay::node {

struct OwnerStep {
    std::vector<std::string> words;  ///< {"miner", "register", …} and the flags that are this command's own
    /// Longer than all waits of the step together (OwnerLimits): past it the process is killed.
    static constexpr std::chrono::seconds kLimit{330};
};

/// Runs the step with the caller's home, node and passphrase, and returns what it printed (one JSON object).
/// Errors: the step's own, with context.refused when the ledger refused; kUnreachable when it was killed for
/// its time, kInterrupted when `stop` was requested.
base::Outcome<std::string> run_owner_step(const Context& context, const OwnerStep& step,
                                          const Passphrase& passphrase, const std::stop_token& stop);

/// The hash that a step printed as this member; kFailure when it printed none.
base::Outcome<base::Hash256> hash_in(const std::string& said, const std::string& member);
/// The same of an amount.
base::Outcome<base::Amount> amount_in(const std::string& said, const std::string& member);

}  // namespace assay::node
