// SPDX-License-Identifier: Apache-2.0
#include "node/key/key_file_disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "node/key/owned_fd.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using base::Outcome;

constexpr std::size_t kSecretBytesMax = 64 * 1024;

std::string name_of(SecretKind kind) {
    switch (kind) {
        case SecretKind::kKeyFile: return "key file";
        case SecretKind::kPassphraseFile: return "passphrase file";
        case SecretKind::kSeedFile: break;
    }
    return "seed file";
}

Outcome<void> check_owner(int fd, const std::filesystem::path& path, const std::string& name) {
    struct stat status {};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return fail(ErrorKind::kKey, "the " + name + " " + path.string() + " is not a regular file",
                    "give the path of the file itself");
    }
    if (status.st_uid != geteuid()) {
        return fail(ErrorKind::kKey, "the " + name + " " + path.string() + " belongs to another user",
                    "run as its owner, or copy it to a file of your own with mode 0600");
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return fail(ErrorKind::kKey, "the " + name + " " + path.string() + " is open to group or others",
                    "chmod 600 " + path.string() + " (and consider the key as seen by others)");
    }
    return {};
}

}  // namespace

Outcome<base::Bytes> read_secret_file(const std::filesystem::path& path, SecretKind kind) {
    const std::string name = name_of(kind);
    const OwnedFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file.ok()) {
        const int reason = errno;
        if (reason == ENOENT || reason == ENOTDIR) {
            return fail(ErrorKind::kNotFound, "there is no " + name + " " + path.string(),
                        kind == SecretKind::kKeyFile ? "make one with `assay key new`" : "check the path");
        }
        if (reason == ELOOP) {
            return fail(ErrorKind::kKey, "the " + name + " " + path.string() + " is a symbolic link",
                        "give the path of the file itself");
        }
        return fail(ErrorKind::kKey,
                    "cannot open the " + name + " " + path.string() + ": " + std::strerror(reason),
                    "check its owner and permissions (0600)");
    }
    ASSAY_TRY(check_owner(file.get(), path, name));
    base::Bytes content(kSecretBytesMax + 1);
    std::size_t size = 0;
    while (size < content.size()) {
        const ssize_t got = read(file.get(), content.data() + size, content.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            return fail(ErrorKind::kKey,
                        "cannot read the " + name + " " + path.string() + ": " + std::strerror(errno));
        }
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    if (size > kSecretBytesMax) {
        return fail(ErrorKind::kKey, path.string() + " is too large for a " + name, "check the path");
    }
    content.resize(size);
    return content;
}

Outcome<void> create_secret_file(const std::filesystem::path& path, base::ByteView content) {
    const OwnedFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.ok()) {
        const int reason = errno;
        if (reason == EEXIST) {
            return fail(ErrorKind::kKey, path.string() + " exists already; a key is never overwritten",
                        "choose another path, or move the old key away");
        }
        return fail(ErrorKind::kKey, "cannot create " + path.string() + ": " + std::strerror(reason),
                    "check that the folder exists and that you may write to it");
    }
    std::string trouble;
    if (fchmod(file.get(), 0600) != 0) trouble = std::strerror(errno);  // whatever the umask says
    for (std::size_t at = 0; trouble.empty() && at < content.size();) {
        const ssize_t put = write(file.get(), content.data() + at, content.size() - at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) trouble = std::strerror(errno);
        at += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
    }
    if (trouble.empty() && fsync(file.get()) != 0) trouble = std::strerror(errno);
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    const OwnedFd directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (trouble.empty() && (!directory.ok() || fsync(directory.get()) != 0)) trouble = std::strerror(errno);
    if (trouble.empty()) return {};
    unlink(path.c_str());
    return fail(ErrorKind::kKey, "cannot write " + path.string() + ": " + trouble,
                "free some disk space and try again");
}

}  // namespace assay::node
