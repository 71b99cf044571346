// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/home.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "node/blob/folder.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;

std::optional<std::filesystem::path> from_environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::filesystem::path(value);
}

std::string read_holder(int fd) {
    std::array<char, 128> text{};
    const ssize_t got = pread(fd, text.data(), text.size(), 0);
    std::string holder(text.data(), static_cast<std::size_t>(got > 0 ? got : 0));
    while (!holder.empty() && holder.back() == '\n') holder.pop_back();
    return holder.empty() ? "another process" : holder;
}

}  // namespace

base::Outcome<Home> find_home(const std::optional<std::filesystem::path>& flag) {
    std::filesystem::path root;
    if (flag) {
        root = *flag;
    } else if (const auto home = from_environment("ASSAY_HOME")) {
        root = *home;
    } else if (const auto data = from_environment("XDG_DATA_HOME"); data && data->is_absolute()) {
        root = *data / "assay";
    } else if (const auto user = from_environment("HOME")) {
        root = *user / ".local" / "share" / "assay";
    }
    if (root.empty()) {
        return fail(ErrorKind::kUsage, "no home folder is known: HOME is not set", "give --home DIR");
    }
    std::error_code error;
    root = std::filesystem::absolute(root, error);
    if (error)
        return fail(ErrorKind::kUsage, "cannot resolve the home folder: " + error.message(),
                    "give --home DIR");
    return Home{root};
}

base::Outcome<void> create_home(const Home& home) {
    for (const auto& folder :
         {home.root, home.ledger(), home.blobs(), home.keys(), home.logs(), home.jobs(), home.state()}) {
        if (const auto made = make_private_folders(folder); !made) {
            return fail(ErrorKind::kFailure, made.error().what,
                        "choose a folder that you may write to with --home DIR");
        }
    }
    return {};
}

base::Outcome<HomeLock> HomeLock::take(const Home& home, std::string_view program) {
    const auto path = home.root / "lock";
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return fail(ErrorKind::kFailure, "cannot open " + path.string(),
                    "check that you may write to the home folder");
    }
    HomeLock lock(fd);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        return fail(ErrorKind::kFailure,
                    "the home " + home.root.string() + " is already in use by " + read_holder(fd),
                    "stop it first, or give another folder with --home DIR");
    }
    const std::string text = "process " + std::to_string(getpid()) + " (" + std::string(program) + ")\n";
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text.data(), text.size(), 0) < 0) {
        return fail(ErrorKind::kFailure, "cannot write " + path.string(),
                    "free some disk space and try again");
    }
    return lock;
}

HomeLock::HomeLock(HomeLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
HomeLock& HomeLock::operator=(HomeLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}
HomeLock::~HomeLock() {
    if (fd_ >= 0) close(fd_);  // releases the lock; a crash does the same
}

}  // namespace assay::node
