// SPDX-License-Identifier: Apache-2.0
// Disk is the interface through which the ledger uses files, so that tests can simulate crashes, torn writes
// and a full disk. It has two implementations: PosixDisk (posix_disk.hpp) and tests/support/faulty_disk.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::ledger {

using base::Bytes;
using base::ByteView;
using base::Outcome;

/// An append-only file. Not thread-safe. After a failed append or sync the bytes on disk are unknown, and a
/// later success of the same handle proves nothing (reliability: a failed fsync may drop dirty pages): the
/// owner must stop using it.
class LogFile {
public:
    virtual ~LogFile() = default;
    /// Adds at the end; durable only after a successful sync().
    virtual Outcome<void> append(ByteView bytes) = 0;
    /// Returns when everything appended or truncated before is on the device.
    virtual Outcome<void> sync() = 0;
    /// At most `size` bytes from `offset`; fewer only at the end of the file.
    virtual Outcome<Bytes> read(std::uint64_t offset, std::size_t size) const = 0;
    [[nodiscard]] virtual Outcome<std::uint64_t> size() const = 0;
    /// Cuts the file to `size` bytes; durable after sync(). REQUIRES size <= size().
    virtual Outcome<void> truncate(std::uint64_t size) = 0;
};

/// Paths are plain file-system paths; nothing is resolved or expanded.
class Disk {
public:
    virtual ~Disk() = default;
    /// Opens for reading and appending; creates an empty file when it does not exist.
    virtual Outcome<std::unique_ptr<LogFile>> open(const std::string& path) = 0;
    /// Opens for reading only, without the right to write; fails with kNotFound when it does not exist.
    virtual Outcome<std::unique_ptr<LogFile>> open_to_read(const std::string& path) = 0;
    virtual Outcome<bool> exists(const std::string& path) = 0;
    /// Makes the directory and those above it; no error when it exists.
    virtual Outcome<void> make_directories(const std::string& path) = 0;
    /// Makes the names in a directory durable (a new file is not safe before this).
    virtual Outcome<void> sync_directory(const std::string& path) = 0;
    /// The bytes that an ordinary user may still write on the file system of `path`.
    virtual Outcome<std::uint64_t> free_bytes(const std::string& path) = 0;
};

/// The directory of the file that a path names; "." when the path names none.
inline std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace assay::ledger
