// SPDX-License-Identifier: Apache-2.0
#include "node/wire/descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace assay::worker {

using base::ErrorKind;
using base::fail;
using base::Outcome;

namespace {

constexpr std::chrono::milliseconds kFirstPause{1};
constexpr std::chrono::milliseconds kLongestPause{256};

std::string reason() { return std::strerror(errno); }

Outcome<void> write_all(int file, base::ByteView bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            return fail(
                ErrorKind::kFailure,
                "cannot write " + std::to_string(bytes.size()) + " bytes to a memory file: " + reason(),
                "free some memory, or run fewer workers on this machine");
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

Outcome<Descriptor> written_file(const std::string& label, base::ByteView bytes) {
    Descriptor file(::memfd_create(label.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file.valid()) {
        return fail(ErrorKind::kFailure, "cannot create a memory file: " + reason(),
                    "raise the limit of open files (ulimit -n) or free some memory");
    }
    ASSAY_TRY(write_all(file.number(), bytes));
    return file;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        if (valid()) ::close(number_);
        number_ = std::exchange(other.number_, -1);
    }
    return *this;
}

Descriptor::~Descriptor() {
    if (valid()) ::close(number_);
}

Outcome<void> seal_memory_file(const Descriptor& file, std::chrono::milliseconds patience) {
    using Clock = std::chrono::steady_clock;
    constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
    const auto until = Clock::now() + patience;
    for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
        if (::fcntl(file.number(), F_ADD_SEALS, kSeals) == 0) return {};
        const bool busy = errno == EBUSY || errno == EINTR;
        const std::string why = reason();
        if (!busy || Clock::now() >= until) {
            return fail(ErrorKind::kFailure,
                        "cannot seal a memory file: " + why +
                            (busy ? ", for " + std::to_string(patience.count()) + " ms" : ""),
                        "free some memory, or run fewer workers on this machine, and try again");
        }
        std::this_thread::sleep_for(pause);
    }
}

Outcome<SharedDescriptor> memory_file(const std::string& label, base::ByteView bytes,
                                      std::chrono::milliseconds patience) {
    ASSAY_ASSIGN(Descriptor file, written_file(label, bytes));
    if (!seal_memory_file(file, patience)) {
        file = Descriptor();  // two of them need not fit into memory at once
        ASSAY_ASSIGN(file, written_file(label, bytes));
        ASSAY_TRY(seal_memory_file(file, patience));
    }
    return std::make_shared<const Descriptor>(std::move(file));
}

Outcome<SharedDescriptor> open_file(const std::string& path) {
    // Without O_NONBLOCK a pipe would keep us waiting for its writer; whoever maps the file refuses it.
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.valid()) return std::make_shared<const Descriptor>(std::move(file));
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return fail(missing ? ErrorKind::kNotFound : ErrorKind::kFailure, "cannot open " + path + ": " + reason(),
                missing ? "check the path" : "check that this user may read the file");
}

Outcome<void> check_sealed(const Descriptor& descriptor) {
    constexpr int kNeeded = F_SEAL_SHRINK | F_SEAL_WRITE;
    const int seals = ::fcntl(descriptor.number(), F_GET_SEALS);  // fails for what is no memory file
    if (seals >= 0 && (seals & kNeeded) == kNeeded) return {};
    return fail(ErrorKind::kVerification, "a passed file is no memory file that is sealed");
}

bool is_same_file(const Descriptor& one, const Descriptor& other) {
    struct stat first {};
    struct stat second {};
    if (::fstat(one.number(), &first) != 0 || ::fstat(other.number(), &second) != 0) return false;
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool are_kept(const std::vector<SharedDescriptor>& files, const std::vector<SharedDescriptor>& given) {
    return std::all_of(files.begin(), files.end(), [&](const SharedDescriptor& file) {
        const auto is_it = [&](const SharedDescriptor& own) { return is_same_file(*file, *own); };
        return check_sealed(*file).ok() || std::any_of(given.begin(), given.end(), is_it);
    });
}

Outcome<std::size_t> file_size(const Descriptor& descriptor, std::size_t limit) {
    struct stat status {};
    if (::fstat(descriptor.number(), &status) != 0) {
        return fail(ErrorKind::kFailure, "cannot look at a passed file: " + reason());
    }
    if (!S_ISREG(status.st_mode)) {
        return fail(ErrorKind::kVerification, "a passed descriptor is not a regular or memory file");
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size > limit) {
        return fail(ErrorKind::kVerification, "a passed file has " + std::to_string(size) +
                                                  " bytes, more than the " + std::to_string(limit) +
                                                  " allowed");
    }
    return size;
}

Outcome<Mapping> Mapping::of(const Descriptor& descriptor, std::size_t limit) {
    ASSAY_ASSIGN(const std::size_t size, file_size(descriptor, limit));
    Mapping mapping;
    if (size == 0) return mapping;
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number(), 0);
    if (data == MAP_FAILED) {
        return fail(ErrorKind::kFailure, "cannot map a passed file: " + reason());
    }
    mapping.data_ = static_cast<const std::uint8_t*>(data);
    mapping.size_ = size;
    return mapping;
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

Mapping::~Mapping() {
    if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

Outcome<base::Bytes> read_all(const Descriptor& descriptor, std::size_t limit) {
    ASSAY_ASSIGN(const Mapping mapping, Mapping::of(descriptor, limit));
    return base::to_bytes(mapping.bytes());
}

}  // namespace assay::worker
