// SPDX-License-Identifier: Apache-2.0
// Confines assay-worker: what it gives up before it reads its first frame.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::worker {

/// A file or folder that a confined worker may still open: of a folder all that is below it.
struct FileRule {
    enum class Use {
        kRead,
        kDevice,      ///< read, written, and asked by ioctl
        kOwnProcess,  ///< /proc/self: read, written and cut off; a descriptor of it stays open
    };
    std::filesystem::path path;
    Use use = Use::kRead;
    friend bool operator==(const FileRule&, const FileRule&) = default;
};

/// What a worker on this device opens by path. Its files all come as descriptors; what is left is the
/// kernel's word about the machine and libraries that are loaded late. On "cuda:N" the nodes of NVIDIA's
/// driver come on top: nvidiactl, nvidia-uvm, nvidia-uvm-tools and every card's, because the driver counts
/// the cards whose nodes it can open; the process's own folder of /proc, where the driver names its threads;
/// and where LD_LIBRARY_PATH says that its library lies. `dev`: a test names another folder.
std::vector<FileRule> file_rules(std::string_view device, const std::filesystem::path& dev = "/dev");

/// Dies with the parent; no new privileges through exec; no core files (they would hold a buyer's data); no
/// descriptors but 0, 1, 2 and `socket`; a network namespace without interfaces where the kernel lets an
/// ordinary process have one; no file opened but by `files`, and no program run, where the kernel has
/// Landlock. REQUIRES a single-threaded process. Only what every Linux grants can fail.
base::Outcome<void> confine(int socket, const std::vector<FileRule>& files);

/// Whether this kernel holds a process to its file rules.
bool has_file_rules();

}  // namespace assay::worker
