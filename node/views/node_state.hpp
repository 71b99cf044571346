// SPDX-License-Identifier: Apache-2.0
// Gives views, commands and pages the state of a running node, with the history of its ended jobs, as a
// StateView.
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "contracts/base/error.hpp"
#include "contracts/rules/state/state.hpp"
#include "node/seams/ledger_service.hpp"

namespace assay::node {

/// Carries an Error through code that cannot return one (StateView). Code that reads a node's state catches
/// it.
class StateReadError : public std::exception {
public:
    explicit StateReadError(base::Error error) : error_(std::move(error)) {}
    [[nodiscard]] const base::Error& error() const { return error_; }
    [[nodiscard]] const char* what() const noexcept override { return error_.what.c_str(); }

private:
    base::Error error_;
};

/// Every read is a question to the node. Its answers are trusted, except for its history: records of an ended
/// job must have the hashes that the state keeps. Reads throw StateReadError when the node does not answer,
/// or its history does not match. kVerification when the node's ledger has a schema that this program does
/// not read.
base::Outcome<std::unique_ptr<contracts::StateView>> state_of(std::unique_ptr<LedgerService> ledger);

}  // namespace assay::node
