// SPDX-License-Identifier: Apache-2.0
// Gives a role and its worker owning file descriptors, and bulk bytes in memory files (memfd_create). Model
// states pass between them in such files, without a copy through a socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::worker {

/// Closes the descriptor when destroyed. Move-only. -1 stands for none.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();

    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] bool valid() const { return number_ >= 0; }
    /// Releases ownership; the caller closes the number.
    [[nodiscard]] int release() { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

/// Bulk bytes with several owners. A request keeps its bytes until it is answered, so that it can be sent
/// again to a restarted worker.
using SharedDescriptor = std::shared_ptr<const Descriptor>;

/// How long sealing is retried in total.
inline constexpr std::chrono::milliseconds kSealPatience{5000};

/// Seals a memory file: nobody can change, shrink or grow it any more. The kernel refuses (EBUSY) while the
/// file is mapped writable, and while one of its pages is pinned, as memory reclaim, compaction and migration
/// do for moments. Sealing is then retried after growing pauses, for `patience` in total. kFailure after
/// that.
base::Outcome<void> seal_memory_file(const Descriptor& file,
                                     std::chrono::milliseconds patience = kSealPatience);

/// A sealed memory file with these bytes. `label` appears in /proc and has no other meaning. A file that
/// cannot be sealed within `patience` is written once more, into fresh pages. kFailure when that one cannot
/// be sealed either, or when memory or descriptors are missing; this is always a failure of this machine, not
/// of the bytes' source.
base::Outcome<SharedDescriptor> memory_file(const std::string& label, base::ByteView bytes,
                                            std::chrono::milliseconds patience = kSealPatience);

/// A regular file opened for reading; kNotFound when there is none.
base::Outcome<SharedDescriptor> open_file(const std::string& path);

/// Bytes of a descriptor that names a file or memory file. kVerification when it names something else or more
/// than `limit` bytes, which is the fault of the party that passed it; kFailure when this machine cannot
/// tell.
base::Outcome<std::size_t> file_size(const Descriptor& descriptor, std::size_t limit);

/// Checks that a passed file is a memory file that nobody can shorten or change. kVerification when it is
/// not, which is the fault of the party that passed it.
base::Outcome<void> check_sealed(const Descriptor& descriptor);

/// Whether both name the same file; false where that cannot be told.
bool is_same_file(const Descriptor& one, const Descriptor& other);

/// Whether nobody else can shorten or change these files, which came as an answer: each is sealed, or is one
/// of those that went with the request.
bool are_kept(const std::vector<SharedDescriptor>& files, const std::vector<SharedDescriptor>& given);

/// A read-only private mapping of a whole descriptor (errors as of file_size), unmapped when destroyed.
/// Copies nothing. A file that its owner shortens while it is mapped kills the reading process. So a role
/// maps sealed files of its worker (check_sealed) and files of its own; a worker is restarted.
class Mapping {
public:
    static base::Outcome<Mapping> of(const Descriptor& descriptor, std::size_t limit);
    Mapping() = default;
    Mapping(Mapping&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    [[nodiscard]] base::ByteView bytes() const { return {data_, size_}; }

private:
    const std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Copies all bytes of a descriptor; errors as of file_size.
base::Outcome<base::Bytes> read_all(const Descriptor& descriptor, std::size_t limit);

}  // namespace assay::worker
