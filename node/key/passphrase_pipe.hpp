// SPDX-License-Identifier: Apache-2.0
// Gives code that starts a child that opens keys a pipe with the passphrase, which nobody else reads.
#pragma once

#include "contracts/base/error.hpp"
#include "node/key/key_file.hpp"
#include "node/key/owned_fd.hpp"

namespace assay::node {

/// Returns the read end of a pipe that holds the passphrase and then ends, for one child's --passphrase-fd.
/// kFailure when no descriptor is left.
base::Outcome<OwnedFd> passphrase_pipe(const Passphrase& passphrase);

}  // namespace assay::node
