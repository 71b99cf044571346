// SPDX-License-Identifier: Apache-2.0
// Gives key files the opening of files that hold secrets, only when nobody else can have read or placed
// them. Internal to node/key.
#pragma once

#include <filesystem>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::node {

/// What the file is, for messages.
enum class SecretKind : std::uint8_t { kKeyFile, kPassphraseFile };

/// The whole file, at most 64 KiB. kNotFound; kKey: a symlink, not a regular file, another owner, or
/// permissions for group or others.
base::Outcome<base::Bytes> read_secret_file(const std::filesystem::path& path, SecretKind kind);

/// A new file with mode 0600, on disk (its folder's entry too) when it returns; on failure there is none.
/// kKey when something is there already.
base::Outcome<void> create_secret_file(const std::filesystem::path& path, base::ByteView content);

}  // namespace assay::node
