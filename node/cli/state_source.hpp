// SPDX-License-Identifier: Apache-2.0
// Gives commands that only read the ledger's state: from a running node, or from the files of a home.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

#include "contracts/base/error.hpp"
#include "contracts/rules/tables.hpp"
#include "node/cli/context.hpp"

namespace assay::node {

/// Carries an Error through code that cannot return one (StateView). run_cli reports it like a returned one.
class CommandError : public std::exception {
public:
    explicit CommandError(base::Error error) : error_(std::move(error)) {}
    [[nodiscard]] const base::Error& error() const { return error_; }
    [[nodiscard]] const char* what() const noexcept override { return error_.what.c_str(); }

private:
    base::Error error_;
};

enum class StateFrom : std::uint8_t {
    kNode,   ///< believes what the node says
    kFiles,  ///< executes HOME/ledger again; believes nothing
};

/// kNode: every read is a question to the node, and throws CommandError when it does not answer.
/// kFiles: kVerification when a block does not check, kNotFound when there is no ledger.
base::Outcome<std::unique_ptr<contracts::StateView>> open_state(const Context& context, StateFrom from);

/// The same of a node that is known already.
base::Outcome<std::unique_ptr<contracts::StateView>> state_of(std::unique_ptr<LedgerService> ledger);

/// The job that `text` names: its id, a beginning of it that fits one job only, or its name when only one job
/// has it. kNotFound, kUsage when several fit.
base::Outcome<contracts::Job> find_job(const contracts::StateView& state, const std::string& text);

/// A public key in hexadecimal, or a beginning of it that fits one registered miner only.
base::Outcome<base::PublicKey> find_miner(const contracts::StateView& state, const std::string& text);

}  // namespace assay::node
