// SPDX-License-Identifier: Apache-2.0
#include "node/blob/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace assay::node {
namespace {

using base::Bytes;
using base::ByteView;
using base::ErrorKind;
using base::fail;
using base::Outcome;

base::Failed<base::Error> io_error(const std::string& what, int reason) {
    const bool full = reason == ENOSPC || reason == EDQUOT;
    return fail(
        ErrorKind::kFailure, what + ": " + std::strerror(reason),
        full ? "free some disk space and start again" : "check the disk and the folder's permissions");
}

bool single_name(const std::string& name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
           name.find('\0') == std::string::npos;
}

/// Names that are tried for one new file. A process that is killed leaves one for each of its threads.
constexpr int kNameTries = 10'000;

/// Whether somebody else holds a file; if not, the descriptor does from now on. On a disk without such locks
/// nobody is known to hold anything.
bool others_hold(const FileHandle& file) {
    return flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

FileHandle::FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}
FileHandle::~FileHandle() {
    if (fd_ >= 0) close(fd_);
}

Outcome<Bytes> FileHandle::read_at(std::uint64_t offset, std::size_t size) const {
    Bytes content(size);
    for (std::size_t at = 0; at < size;) {
        const ssize_t got = pread(fd_, content.data() + at, size - at, static_cast<off_t>(offset + at));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return io_error("cannot read a file", errno);
        if (got == 0) return fail(ErrorKind::kFailure, "a file is shorter than expected", "fetch it again");
        at += static_cast<std::size_t>(got);
    }
    return content;
}

Outcome<void> FileHandle::write_at(std::uint64_t offset, ByteView content) {
    while (!content.empty()) {
        const ssize_t put = pwrite(fd_, content.data(), content.size(), static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return io_error("cannot write a file", errno);
        content = content.subspan(static_cast<std::size_t>(put));
        offset += static_cast<std::uint64_t>(put);
    }
    return {};
}

Outcome<void> FileHandle::sync() {
    if (fdatasync(fd_) != 0) return io_error("cannot sync a file", errno);
    return {};
}

Outcome<std::uint64_t> FileHandle::size() const {
    struct stat status {};
    if (fstat(fd_, &status) != 0) return io_error("cannot look at a file", errno);
    return static_cast<std::uint64_t>(status.st_size);
}

Outcome<void> make_private_folders(const std::filesystem::path& path) {
    std::filesystem::path whole;
    for (const std::filesystem::path& part : path) {
        whole /= part;
        if (mkdir(whole.c_str(), 0700) == 0) {
            if (chmod(whole.c_str(), 0700) != 0) return io_error("cannot close " + whole.string(), errno);
            continue;
        }
        const int why = errno;
        std::error_code error;
        if (!std::filesystem::is_directory(whole, error)) {
            return io_error("cannot make the folder " + whole.string(), why);
        }
    }
    return {};
}

Outcome<Folder> Folder::open(const std::filesystem::path& path) {
    ASSAY_TRY(make_private_folders(path));
    FileHandle handle(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!handle.ok()) return io_error("cannot open the folder " + path.string(), errno);
    return Folder(path, std::move(handle));
}

Outcome<Folder> Folder::subfolder(const std::string& name) const {
    ASSAY_CHECK(single_name(name));
    const bool made = mkdirat(handle_.get(), name.c_str(), 0700) == 0;
    FileHandle opened(openat(handle_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!opened.ok()) return trouble("open", name);
    if (made) ASSAY_TRY(sync());
    return Folder(path_ / name, std::move(opened));
}

Outcome<FileHandle> Folder::open_file(const std::string& name, Access access) const {
    ASSAY_CHECK(single_name(name));
    int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    switch (access) {
        case Access::kRead: flags |= O_RDONLY; break;
        case Access::kReadWrite: flags |= O_RDWR; break;
        case Access::kCreate: flags |= O_RDWR | O_CREAT; break;
        case Access::kCreateNew: flags |= O_RDWR | O_CREAT | O_EXCL; break;
    }
    FileHandle file(openat(handle_.get(), name.c_str(), flags, 0600));
    if (!file.ok()) return trouble("open", name);
    struct stat status {};
    if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return fail(ErrorKind::kFailure, (path_ / name).string() + " is not a regular file", "remove it");
    }
    return file;
}

Outcome<Bytes> Folder::read(const std::string& name) const {
    ASSAY_ASSIGN(const FileHandle file, open_file(name, Access::kRead));
    ASSAY_ASSIGN(const std::uint64_t size, file.size());
    return file.read_at(0, static_cast<std::size_t>(size));
}

Outcome<FreshFile> Folder::make_fresh(const std::string& before, const std::string& after) const {
    static std::atomic<std::uint64_t> serial{0};
    std::string name;
    for (int tries = 0; tries < kNameTries; ++tries) {
        name = before + std::to_string(getpid()) + "-" + std::to_string(++serial) + after;
        constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
        FileHandle file(openat(handle_.get(), name.c_str(), kFlags, 0600));
        if (file.ok()) {
            (void)others_hold(file);  // it is new: at most a cleaning beside it looks at it
            return FreshFile{name, std::move(file)};
        }
        if (errno != EEXIST) return trouble("make", name);
    }
    return fail(ErrorKind::kFailure,
                "cannot make " + (path_ / name).string() + ": it is there already, and so are " +
                    std::to_string(kNameTries - 1) + " before it",
                "remove what killed processes left there");
}

Outcome<std::optional<FileHandle>> Folder::open_held(const std::string& name) const {
    ASSAY_ASSIGN(FileHandle file, open_file(name, Access::kCreate));
    if (others_hold(file)) return std::optional<FileHandle>();
    // Whoever held it until now may have moved or removed it.
    struct stat opened {};
    struct stat named {};
    const bool same = fstat(file.get(), &opened) == 0 &&
                      fstatat(handle_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                      opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
    return same ? std::optional<FileHandle>(std::move(file)) : std::nullopt;
}

Outcome<void> Folder::remove_unheld(const std::string& name) const {
    // For writing, without which some disks give no lock.
    const auto file = open_file(name, Access::kReadWrite);
    if (!file.ok() && file.error().kind == ErrorKind::kNotFound) return {};
    if (!file.ok()) return base::failed(file.error());
    return others_hold(*file) ? Outcome<void>() : remove(name);
}

Outcome<void> Folder::replace(const std::string& name, ByteView content) const {
    ASSAY_ASSIGN(FreshFile fresh, make_fresh("new-", ".tmp"));
    auto written = fresh.file.write_at(0, content);
    if (written) written = fresh.file.sync();
    if (written) written = rename_to(fresh.name, *this, name);
    if (!written) unlinkat(handle_.get(), fresh.name.c_str(), 0);
    return written;
}

Outcome<void> Folder::remove(const std::string& name) const {
    ASSAY_CHECK(single_name(name));
    if (unlinkat(handle_.get(), name.c_str(), 0) != 0 && errno != ENOENT) return trouble("remove", name);
    return {};
}

Outcome<void> Folder::rename_to(const std::string& name, const Folder& target,
                                const std::string& new_name) const {
    ASSAY_CHECK(single_name(name) && single_name(new_name));
    if (renameat(handle_.get(), name.c_str(), target.handle_.get(), new_name.c_str()) != 0) {
        return trouble("rename", name);
    }
    return target.sync();
}

std::vector<std::string> Folder::names() const {
    std::vector<std::string> found;
    const int copy = openat(handle_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* directory = copy < 0 ? nullptr : fdopendir(copy);
    if (directory == nullptr) return found;
    while (const dirent* entry = readdir(directory)) {
        if (single_name(entry->d_name)) found.emplace_back(entry->d_name);
    }
    closedir(directory);
    std::sort(found.begin(), found.end());
    return found;
}

bool Folder::has(const std::string& name) const {
    struct stat status {};
    return single_name(name) && fstatat(handle_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode);
}

Outcome<void> Folder::sync() const {
    if (fsync(handle_.get()) != 0) return io_error("cannot sync the folder " + path_.string(), errno);
    return {};
}

std::uint64_t Folder::free_bytes() const {
    struct statvfs disk {};
    if (fstatvfs(handle_.get(), &disk) != 0) return 0;
    return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

base::Failed<base::Error> Folder::trouble(const std::string& doing, const std::string& name) const {
    const int reason = errno;
    if (reason == ENOENT) return fail(ErrorKind::kNotFound, "there is no " + (path_ / name).string());
    return io_error("cannot " + doing + " " + (path_ / name).string(), reason);
}

}  // namespace assay::node
