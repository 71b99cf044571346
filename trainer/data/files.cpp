// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace assay::trainer {
namespace {

using base::ErrorKind;

/// Closes on every way out.
class FileDescriptor {
public:
    explicit FileDescriptor(int number) : number_(number) {}
    ~FileDescriptor() {
        if (number_ >= 0) ::close(number_);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    [[nodiscard]] int get() const { return number_; }
    /// The result of close itself: some file systems report a full disk only there.
    int close() {
        const int result = ::close(number_);
        number_ = -1;
        return result;
    }

private:
    int number_;
};

std::string reason() { return std::strerror(errno); }

base::Failed<base::Error> write_failure(const std::filesystem::path& path) {
    const bool full = errno == ENOSPC || errno == EDQUOT;
    return base::fail(ErrorKind::kFailure, "cannot write " + path.string() + ": " + reason(),
                      full ? "free some disk space, or choose a folder on another disk"
                           : "check that the folder exists and that you may write to it");
}

}  // namespace

base::Outcome<base::Bytes> read_file(const std::filesystem::path& path, std::uint64_t limit) {
    // Without O_NONBLOCK a pipe would keep us waiting for its writer.
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return base::fail(ErrorKind::kNotFound, "there is no file " + path.string(), "check the path");
        }
        return base::fail(ErrorKind::kFailure, "cannot open " + path.string() + ": " + reason(),
                          "check that you may read the file");
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
        return base::fail(ErrorKind::kFailure, "cannot read " + path.string() + ": " + reason(), {});
    }
    if (!S_ISREG(status.st_mode)) {
        return base::fail(ErrorKind::kUsage, path.string() + " is not a file", "name a file");
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > limit) {
        return base::fail(ErrorKind::kUsage,
                          path.string() + " has " + std::to_string(size) + " bytes; at most " +
                              std::to_string(limit) + " are read",
                          "use a smaller file");
    }
    base::Bytes bytes(static_cast<std::size_t>(size));
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            return base::fail(ErrorKind::kFailure, "cannot read " + path.string() + ": " + reason(), {});
        }
        if (got == 0) {
            return base::fail(ErrorKind::kFailure, path.string() + " became shorter while it was read",
                              "try again when nothing writes to the file");
        }
        done += static_cast<std::size_t>(got);
    }
    return bytes;
}

base::Outcome<void> write_file(const std::filesystem::path& path, base::ByteView bytes) {
    std::filesystem::path temporary = path;
    temporary += ".tmp";
    FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.get() < 0) return write_failure(path);
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t put = ::write(file.get(), bytes.data() + done, bytes.size() - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) {
            auto failure = write_failure(path);
            ::unlink(temporary.c_str());
            return failure;
        }
        done += static_cast<std::size_t>(put);
    }
    if (::fsync(file.get()) != 0 || file.close() != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
        auto failure = write_failure(path);
        ::unlink(temporary.c_str());
        return failure;
    }
    return {};
}

base::Outcome<void> make_folder(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error || !std::filesystem::is_directory(path, error)) {
        const std::string why = error ? error.message() : "something else has that name";
        return base::fail(ErrorKind::kFailure, "cannot make the folder " + path.string() + ": " + why,
                          "choose another folder, or check that you may write there");
    }
    return {};
}

}  // namespace assay::trainer
