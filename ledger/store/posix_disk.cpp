// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/posix_disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

namespace {

base::Failed<base::Error> system_failure(const std::string& doing, const std::string& path, int number) {
    std::string fix;
    if (number == ENOSPC || number == EDQUOT) fix = "free space on that file system and start again";
    if (number == EACCES || number == EPERM) fix = "give this user the right to use that path";
    if (number == EIO) fix = "check the disk (dmesg, smartctl), then start again";
    return fail(ErrorKind::kFailure, "cannot " + doing + " " + path + ": " + std::strerror(number), fix);
}

class PosixLogFile final : public LogFile {
public:
    PosixLogFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
    ~PosixLogFile() override { ::close(descriptor_); }
    PosixLogFile(const PosixLogFile&) = delete;
    PosixLogFile& operator=(const PosixLogFile&) = delete;

    Outcome<void> append(ByteView bytes) override {
        while (!bytes.empty()) {
            const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return system_failure("write", path_, written < 0 ? errno : EIO);
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        }
        return {};
    }

    Outcome<void> sync() override {
        // Not retried on EINTR or anything else: Linux reports a lost page once.
        if (::fdatasync(descriptor_) != 0) return system_failure("sync", path_, errno);
        return {};
    }

    Outcome<Bytes> read(std::uint64_t offset, std::size_t size) const override {
        ASSAY_ASSIGN(const std::uint64_t end, this->size());
        if (offset >= end) return Bytes{};
        Bytes out(static_cast<std::size_t>(std::min<std::uint64_t>(size, end - offset)));
        std::size_t done = 0;
        while (done < out.size()) {
            const ssize_t got =
                ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return system_failure("read", path_, errno);
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        out.resize(done);
        return out;
    }

    Outcome<std::uint64_t> size() const override {
        struct stat status {};
        if (::fstat(descriptor_, &status) != 0) return system_failure("examine", path_, errno);
        return static_cast<std::uint64_t>(status.st_size);
    }

    Outcome<void> truncate(std::uint64_t size) override {
        if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0)
            return system_failure("cut", path_, errno);
        return {};
    }

private:
    int descriptor_;
    std::string path_;
};

Outcome<std::unique_ptr<LogFile>> open_file(const std::string& path, int flags) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        if (errno == ENOENT) {
            return fail(ErrorKind::kNotFound, "there is no file " + path,
                        "give the path of one that is there");
        }
        return system_failure("open", path, errno);
    }
    return std::unique_ptr<LogFile>(std::make_unique<PosixLogFile>(descriptor, path));
}

}  // namespace

Outcome<std::unique_ptr<LogFile>> PosixDisk::open(const std::string& path) {
    return open_file(path, O_RDWR | O_CREAT | O_APPEND);
}

Outcome<std::unique_ptr<LogFile>> PosixDisk::open_to_read(const std::string& path) {
    return open_read_only(path);
}

Outcome<std::unique_ptr<LogFile>> open_read_only(const std::string& path) {
    return open_file(path, O_RDONLY);
}

Outcome<bool> PosixDisk::exists(const std::string& path) {
    if (::access(path.c_str(), F_OK) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return system_failure("examine", path, errno);
}

Outcome<void> PosixDisk::make_directories(const std::string& path) {
    // For their owner alone, whatever the umask: a ledger's folder may be the first that is made of a home.
    std::filesystem::path whole;
    for (const std::filesystem::path& part : std::filesystem::path(path)) {
        whole /= part;
        if (::mkdir(whole.c_str(), 0700) == 0) {
            if (::chmod(whole.c_str(), 0700) != 0) return system_failure("close", whole.string(), errno);
            continue;
        }
        const int number = errno;
        std::error_code error;
        if (!std::filesystem::is_directory(whole, error))
            return system_failure("make the directory", whole.string(), number);
    }
    return {};
}

Outcome<void> PosixDisk::sync_directory(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return system_failure("open the directory", path, errno);
    const int result = ::fsync(descriptor);
    const int number = errno;
    ::close(descriptor);
    if (result != 0) return system_failure("sync the directory", path, number);
    return {};
}

Outcome<std::uint64_t> PosixDisk::free_bytes(const std::string& path) {
    struct statvfs status {};
    if (::statvfs(path.c_str(), &status) != 0) return system_failure("examine", path, errno);
    return static_cast<std::uint64_t>(status.f_bavail) * static_cast<std::uint64_t>(status.f_frsize);
}

}  // namespace assay::ledger
