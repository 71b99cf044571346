// SPDX-License-Identifier: Apache-2.0
// Gives commands that sign a submission that does not take silence for a refusal: what was signed is sent
// again until the node says what became of it.
#pragma once

#include <chrono>
#include <string>

#include "contracts/base/error.hpp"
#include "node/rpc/client.hpp"

namespace assay::node {

/// How long a signed transaction is sent again: the longest interval of blocks, and as long as a node may
/// take to start again.
inline constexpr std::chrono::seconds kSubmissionPatience{90};

/// A transaction that somebody signed, in words for people.
struct SignedAct {
    base::ByteView transaction;
    std::string what;  ///< "the transfer"
    std::string fix;   ///< what to do when it is not known what became of it
};

/// Submits, and where no answer comes, submits the same bytes again: a ledger executes them once, and answers
/// each time with the same receipt. Returns the node's acceptance or refusal. Errors: kUnreachable when it is
/// not known after `patience` what became of it: it may still be executed. Others as LedgerService::submit
/// has them. `client.deadline` is not used.
base::Outcome<SubmitReply> submit_until_known(ClientOptions client, const SignedAct& act,
                                              std::chrono::milliseconds patience);

}  // namespace assay::node
