// SPDX-License-Identifier: Apache-2.0
// Gives key files read and write access to files that hold secrets. A file is opened only if nobody else can
// have read or placed it. Internal to node/key.
#pragma once

#include <filesystem>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::node {

/// What the file is, for messages.
enum class SecretKind : std::uint8_t { kKeyFile, kPassphraseFile, kSeedFile };

/// Reads the whole file, at most 64 KiB. kNotFound when there is none. kKey for a symlink, a file that is not
/// regular, another owner, or permissions for group or others.
base::Outcome<base::Bytes> read_secret_file(const std::filesystem::path& path, SecretKind kind);

/// Creates a file with mode 0600. It and its folder's entry are on disk when this returns; after a failure
/// there is no file. kKey when something is there already.
base::Outcome<void> create_secret_file(const std::filesystem::path& path, base::ByteView content);

}  // namespace assay::node
