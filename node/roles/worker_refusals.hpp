// SPDX-License-Identifier: Apache-2.0
// Gives roles what they do about a request that their worker did not do. The cause decides, for every
// request alike: no bytes and no fields that somebody else chose end a role.
#pragma once

#include <string>

#include "node/seams/event.hpp"

namespace assay::node {

enum class Remedy : std::uint8_t {
    kAgain,   ///< asked again after a pause, in an open job
    kNever,   ///< not asked again: the piece of work, or the job, is given up here
    kResult,  ///< it was done: what comes out is not finite
    kEnd,     ///< this machine's bits count for nothing, or its only device is lost: the role ends
};
Remedy remedy_for(const worker::Refusal& refusal);

/// A refusal as a line of the log: its text, and its fix if it has one.
std::string with_fix(const worker::Refusal& refusal);
/// An answer that is not the one asked for: `what`, and then why and what helps, as far as the answer says
/// so.
base::Error not_done(const std::string& what, const WorkerAnswered& answer);

}  // namespace assay::node
