// SPDX-License-Identifier: Apache-2.0
// Gives a role and its worker frames over a connected Unix stream socket, with descriptors (SCM_RIGHTS).
#pragma once

#include <chrono>
#include <vector>

#include "contracts/worker/frames.hpp"
#include "node/wire/descriptor.hpp"

namespace assay::worker {

/// One received or sent frame: a request number, a message and its bulk bytes.
struct Envelope {
    std::uint64_t request = 0;
    Message message;
    std::vector<SharedDescriptor> bulk;
};

/// Sends and receives whole frames, blocking. One thread may send while another receives; several senders
/// need their own lock.
class Channel {
public:
    explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

    /// From now on send() fails with kUnreachable when the other side takes no more of a frame for this long,
    /// and receive() when no more of it comes. receive() counts the wait for the frame to begin as well, so
    /// callers poll first. Without this call both wait as long as it takes.
    base::Outcome<void> limit_silence(std::chrono::milliseconds most);

    /// kUnreachable when the other side is gone. After a failure the stream must be closed. REQUIRES a
    /// payload of at most kMaxPayload bytes.
    base::Outcome<void> send(const Envelope& envelope);

    /// Receives the next frame. kNotFound when the other side closed between frames. kFailure for anything
    /// that is not a canonical frame with the right number of descriptors; the stream cannot be trusted after
    /// that and must be closed. Allocates nothing for a length above kMaxPayload.
    base::Outcome<Envelope> receive();

    [[nodiscard]] int number() const { return socket_.number(); }

private:
    Descriptor socket_;
    std::chrono::milliseconds limit_{0};  ///< of silence in a frame; 0: none
};

/// Bytes that this process's channels have sent and received through the kernel since it began.
struct SocketBytes {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
};
SocketBytes socket_bytes();

/// Two connected ends, close-on-exec.
base::Outcome<std::pair<Descriptor, Descriptor>> socket_pair();

}  // namespace assay::worker
