// SPDX-License-Identifier: Apache-2.0
// Gives parity runs files that a loss of power leaves whole.
#pragma once

#include <filesystem>
#include <span>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::parity {

/// Writes the parts one after the other through a neighbour `path.tmp`: afterwards, and after a loss of power
/// too, the file is either the old one or the complete new one. Errors: kFailure.
base::Outcome<void> write_durably(const std::filesystem::path& path, std::span<const base::ByteView> parts);

/// Waits until what was written to the file, and its name, are on the disk. Errors: kFailure.
base::Outcome<void> make_durable(const std::filesystem::path& path);

}  // namespace assay::parity
