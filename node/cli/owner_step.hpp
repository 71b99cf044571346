// SPDX-License-Identifier: Apache-2.0
// Gives commands OwnerStep, a command of this program that signs as the owner and runs as a separate process
// before the calling process can be reached. The caller never opens the owner's key, so an attacker who takes
// over a role does not get it.
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
    std::vector<std::string> words;  ///< {"miner", "register", …} and this command's own flags
    /// Time after which the process is killed; longer than all waits of the step together (OwnerLimits).
    static constexpr std::chrono::seconds kLimit{330};
};

/// Runs the step with the caller's home, node and passphrase, and returns what it printed (one JSON object).
/// Errors: the step's own, with context.refused when the ledger refused; kUnreachable when it was killed for
/// its time, kInterrupted when `stop` was requested.
base::Outcome<std::string> run_owner_step(const Context& context, const OwnerStep& step,
                                          const Passphrase& passphrase, const std::stop_token& stop);

/// The hash that a step printed as `member`; kFailure when it printed none.
base::Outcome<base::Hash256> hash_in(const std::string& said, const std::string& member);
/// The same for an amount.
base::Outcome<base::Amount> amount_in(const std::string& said, const std::string& member);

}  // namespace assay::node
