// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/durable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace assay::parity {

namespace {

base::Failed<base::Error> write_failure(const std::filesystem::path& path) {
    return base::fail(base::ErrorKind::kFailure,
                      "cannot write " + path.string() + ": " + std::strerror(errno),
                      "check that the folder exists, that you may write to it, and that there is room");
}

bool put(int file, base::ByteView bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::write(file, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return true;
}

bool sync(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool good = ::fsync(file) == 0;
    const int reason = errno;
    ::close(file);
    errno = reason;
    return good;
}

bool sync_folder_of(const std::filesystem::path& path) {
    return sync(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
}

}  // namespace

base::Outcome<void> write_durably(const std::filesystem::path& path, std::span<const base::ByteView> parts) {
    std::filesystem::path temporary = path;
    temporary += ".tmp";
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return write_failure(temporary);
    bool good = true;
    for (const base::ByteView part : parts) good = good && put(file, part);
    good = good && ::fsync(file) == 0;
    const int reason = errno;
    const bool closed = ::close(file) == 0;
    if (!good) errno = reason;
    if (!good || !closed || ::rename(temporary.c_str(), path.c_str()) != 0) {
        auto failure = write_failure(path);
        ::unlink(temporary.c_str());
        return failure;
    }
    if (!sync_folder_of(path)) return write_failure(path);
    return {};
}

base::Outcome<void> make_durable(const std::filesystem::path& path) {
    if (!sync(path) || !sync_folder_of(path)) return write_failure(path);
    return {};
}

}  // namespace assay::parity
