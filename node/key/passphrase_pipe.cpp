// SPDX-License-Identifier: Apache-2.0
#include "node/key/passphrase_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace assay::node {

// read_passphrase gives 1024 bytes at most, less than a pipe's room, so that writing it waits for nobody.
base::Outcome<OwnedFd> passphrase_pipe(const Passphrase& passphrase) {
    const auto cannot = [] {
        return base::fail(base::ErrorKind::kFailure, "no pipe for the passphrase of a child",
                          "end other programs");
    };
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot();
    OwnedFd reading(ends[0]);
    const OwnedFd writing(ends[1]);
    const std::string& text = passphrase.text();
    if (::write(writing.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        return cannot();
    return reading;
}

}  // namespace assay::node
