// SPDX-License-Identifier: Apache-2.0
// Gives whoever starts a child that opens keys the passphrase for it, by a pipe that nobody else reads.
#pragma once

#include "contracts/base/error.hpp"
#include "node/key/key_file.hpp"
#include "node/key/owned_fd.hpp"

namespace assay::node {

/// The end to read of a pipe that holds the passphrase and then ends: for one child's --passphrase-fd.
/// kFailure when there is no descriptor for it.
base::Outcome<OwnedFd> passphrase_pipe(const Passphrase& passphrase);

}  // namespace assay::node
