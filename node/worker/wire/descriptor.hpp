// SPDX-License-Identifier: Apache-2.0
// Gives a role and its worker file descriptors that own what they name, and bulk bytes in memory files
// (memfd_create), which is how model states cross between a role and its worker without being copied
// through a socket.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

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
    /// Gives the number away; the caller closes it.
    [[nodiscard]] int release() { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

/// Bulk bytes that several owners hold: a request keeps its own until it is answered, so that it can be sent
/// again to a restarted worker.
using SharedDescriptor = std::shared_ptr<const Descriptor>;

/// A sealed memory file (nobody can change or shrink it any more) with these bytes. `label` shows up in
/// /proc and means nothing else.
base::Outcome<SharedDescriptor> memory_file(const std::string& label, base::ByteView bytes);

/// A regular file opened for reading; kNotFound when there is none.
base::Outcome<SharedDescriptor> open_file(const std::string& path);

/// Bytes of a descriptor that names a file or memory file; kFailure above `limit` bytes.
base::Outcome<std::size_t> file_size(const Descriptor& descriptor, std::size_t limit);

/// A read-only private mapping of a whole descriptor, unmapped when destroyed. Copies nothing. A file that
/// its owner shortens while it is mapped kills the reading process: that is the worker, which is restarted.
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

/// Copies all bytes of a descriptor; kFailure above `limit` bytes.
base::Outcome<base::Bytes> read_all(const Descriptor& descriptor, std::size_t limit);

}  // namespace assay::worker
