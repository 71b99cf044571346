// SPDX-License-Identifier: Apache-2.0
// Gives assay-worker its confinement: the rights that it gives up before it reads its first frame.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::worker {

/// A file that a confined worker may still open, or a folder below which it may open everything.
struct FileRule {
    enum class Use {
        kRead,
        kDevice,      ///< read, written, and asked by ioctl
        kOwnProcess,  ///< /proc/self: read, written and truncated; a descriptor of it stays open
    };
    std::filesystem::path path;
    Use use = Use::kRead;
    friend bool operator==(const FileRule&, const FileRule&) = default;
};

/// The files that a worker on this device opens by path. Its data files all come as descriptors, so these are
/// the kernel's information about the machine, and libraries that are loaded late. "cuda:N" adds three
/// things: the nodes of NVIDIA's driver (nvidiactl, nvidia-uvm, nvidia-uvm-tools and every card's, because
/// the driver counts the cards whose nodes it can open); the process's own folder in /proc, where the driver
/// names its threads; and the folders of LD_LIBRARY_PATH for the driver's library. `dev`: another folder, for
/// tests.
std::vector<FileRule> file_rules(std::string_view device, const std::filesystem::path& dev = "/dev");

/// Which system calls a worker is held to. A card's driver has a life of its own, and gets no filter.
enum class CallFilter {
    kNone,
    kWorker,  ///< worker_call_rules()
};
CallFilter call_filter(std::string_view device);

/// What became of the parts of a confinement that a kernel or a sandbox may refuse.
struct Confinement {
    int network_refused = 0;  ///< why it has no network namespace of its own (errno); 0: it has
    int filter_refused = 0;   ///< why it has no filter of calls (errno); 0: it has, or none was asked for
    CallFilter filter = CallFilter::kNone;  ///< that was asked for
    bool has_file_rules = false;
};

/// Confines this process: it dies with the parent; exec gives it no new privileges; it writes no core files
/// (they would hold a buyer's data); it keeps no descriptors except 0, 1, 2 and `socket`. If the kernel lets
/// an ordinary process have one, it gets a network namespace without interfaces. If the kernel has Landlock,
/// it can open only `files` and run no program, and has no TCP and no abstract Unix socket where Landlock
/// knows them (6.7, 6.12). With a `filter` it makes no socket, connects none, runs nothing, traces and
/// signals nobody else. REQUIRES a single-threaded process. Fails only if a step fails that every Linux
/// allows.
base::Outcome<Confinement> confine(int socket, const std::vector<FileRule>& files, CallFilter filter);

/// What a worker could do because a part was refused, each with what to do about it.
std::vector<base::Error> lacks_of(const Confinement& held);

/// Whether this kernel enforces file rules.
bool has_file_rules();

}  // namespace assay::worker
