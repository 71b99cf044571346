// SPDX-License-Identifier: Apache-2.0
// Gives roles what they do about a request that their worker did not do. It depends only on the cause, for
// every request alike. Bytes and fields that another party chose never end a role.
#pragma once

#include <string>

#include "node/seams/event.hpp"

namespace assay::node {

enum class Remedy : std::uint8_t {
    kAgain,   ///< ask again after a pause, with the job opened again if needed
    kNever,   ///< do not ask again: give up the piece of work, or the job
    kResult,  ///< the request was done, and its result is not finite
    kEnd,     ///< end the role: this machine's bits count for nothing, or its only device is lost
};
Remedy remedy_for(const worker::Refusal& refusal);

/// A refusal as a line of the log: its text, and its fix if it has one.
std::string with_fix(const worker::Refusal& refusal);
/// The error for an answer that is not the expected one: `what`, then the cause and the fix that the answer
/// gives.
base::Error not_done(const std::string& what, const WorkerAnswered& answer);

}  // namespace assay::node
