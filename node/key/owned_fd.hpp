// SPDX-License-Identifier: Apache-2.0
// Gives code that handles secrets OwnedFd, a file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace assay::node {

/// Move-only; -1 stands for none.
class OwnedFd {
public:
    explicit OwnedFd(int fd) : fd_(fd) {}
    OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    OwnedFd& operator=(OwnedFd&&) = delete;
    ~OwnedFd() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool ok() const { return fd_ >= 0; }

private:
    int fd_;
};

}  // namespace assay::node
