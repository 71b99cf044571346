// SPDX-License-Identifier: Apache-2.0
// Gives commands that only read the ledger's state: from a running node, or from the files of a home.
#pragma once

#include <cstdint>
#include <memory>

#include "contracts/base/error.hpp"
#include "contracts/rules/tables.hpp"
#include "node/cli/context.hpp"
#include "node/views/node_state.hpp"

namespace assay::node {

enum class StateFrom : std::uint8_t {
    kNode,   ///< believes what the node says
    kFiles,  ///< executes HOME/ledger again; believes nothing
};

/// kNode: every read is a question to the node, and throws StateReadError when it does not answer.
/// kFiles: kVerification when a block does not check, kNotFound when there is no ledger.
base::Outcome<std::unique_ptr<contracts::StateView>> open_state(const Context& context, StateFrom from);

/// The job that `text` names: its id, a beginning of it that fits one job only, or its name when only one job
/// has it. kNotFound, kUsage when several fit.
base::Outcome<contracts::Job> find_job(const contracts::StateView& state, const std::string& text);

/// A public key in hexadecimal, or a beginning of it that fits one registered miner only.
base::Outcome<base::PublicKey> find_miner(const contracts::StateView& state, const std::string& text);

}  // namespace assay::node
