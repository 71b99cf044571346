// SPDX-License-Identifier: Apache-2.0
// Disk over POSIX files, for a ledger node: write(2) in a loop, fdatasync(2), fsync(2) of directories.
#pragma once

#include "ledger/store/disk.hpp"

namespace assay::ledger {

class PosixDisk final : public Disk {
public:
    Outcome<std::unique_ptr<LogFile>> open(const std::string& path) override;
    Outcome<std::unique_ptr<LogFile>> open_to_read(const std::string& path) override;
    Outcome<bool> exists(const std::string& path) override;
    Outcome<void> make_directories(const std::string& path) override;
    Outcome<void> sync_directory(const std::string& path) override;
    Outcome<std::uint64_t> free_bytes(const std::string& path) override;
};

/// Opens an existing file without the right to write, for audits. Fails with kNotFound when it is missing.
Outcome<std::unique_ptr<LogFile>> open_read_only(const std::string& path);

}  // namespace assay::ledger
