// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files, with errors that a person can act on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::trainer {

/// Reads a regular file of at most `limit` bytes; the size is checked before memory is asked for.
/// Errors: kNotFound when there is no such file, kUsage when it is a folder or too large, kFailure when it
/// cannot be read.
base::Outcome<base::Bytes> read_file(const std::filesystem::path& path, std::uint64_t limit);

/// Writes `path.tmp`, calls fsync and renames it to `path`: afterwards the file is either the old one or the
/// complete new one. Errors: kFailure (full disk, no permission, missing folder).
base::Outcome<void> write_file(const std::filesystem::path& path, base::ByteView bytes);

/// Creates the folder and its parents; it may exist. Errors: kFailure.
base::Outcome<void> make_folder(const std::filesystem::path& path);

}  // namespace assay::trainer
