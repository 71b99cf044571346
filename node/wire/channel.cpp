// SPDX-License-Identifier: Apache-2.0
#include "node/wire/channel.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>

namespace assay::worker {

using base::ErrorKind;
using base::fail;
using base::Outcome;

namespace {

constexpr std::size_t kHeadSize = 16;
/// Linux passes at most 253 descriptors in one message (SCM_MAX_FD).
constexpr std::size_t kBatch = 250;
constexpr std::uint8_t kMarker = 0xFD;

std::atomic<std::uint64_t> bytes_sent = 0;
std::atomic<std::uint64_t> bytes_received = 0;

struct FrameHead {
    std::uint32_t length = 0;
    std::uint16_t kind = 0;
    std::uint16_t descriptors = 0;
    std::uint64_t request = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.length, self.kind, self.descriptors, self.request);
    }
};

base::Failed<base::Error> gone() {
    return fail(ErrorKind::kUnreachable, "the other side of the worker's socket is gone");
}

base::Failed<base::Error> garbled(const std::string& what) {
    return fail(ErrorKind::kFailure, "not a worker frame: " + what,
                "assay and assay-worker must come from the same build");
}

base::Failed<base::Error> stopped() {
    return fail(ErrorKind::kUnreachable, "the other side of the worker's socket stopped in a frame");
}

// Why a call on the socket gave nothing: the other side is gone, or the limit of silence has passed.
base::Failed<base::Error> no_more(ssize_t result) {
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? stopped() : gone();
}

// `limit`: the socket's limit of silence; 0: none.
Outcome<void> send_bytes(int socket, base::ByteView bytes, std::chrono::milliseconds limit) {
    while (!bytes.empty()) {
        const auto begun = std::chrono::steady_clock::now();
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return no_more(sent);
        bytes_sent += static_cast<std::uint64_t>(sent);
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
        // A call that has sent something ends without an error when the limit has passed.
        const bool late = limit.count() > 0 && std::chrono::steady_clock::now() - begun >= limit;
        if (late && !bytes.empty()) return stopped();
    }
    return {};
}

using ControlBuffer = std::array<char, CMSG_SPACE(kBatch * sizeof(int))>;

Outcome<void> send_batch(int socket, std::span<const SharedDescriptor> batch) {
    alignas(cmsghdr) ControlBuffer control{};
    std::uint8_t marker = kMarker;
    iovec part{&marker, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(batch.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(batch.size() * sizeof(int));
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const int number = batch[i]->number();
        std::memcpy(CMSG_DATA(header) + i * sizeof(int), &number, sizeof(int));
    }
    while (true) {
        const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent == 1) {
            ++bytes_sent;
            return {};
        }
        return no_more(sent);
    }
}

/// Takes ownership of every descriptor in the message, wanted or not, so that none leaks.
void collect(msghdr& message, std::vector<SharedDescriptor>& into) {
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            into.push_back(std::make_shared<const Descriptor>(Descriptor(number)));
        }
    }
}

/// Reads exactly `bytes.size()` bytes. True at a clean end before the first byte.
Outcome<bool> receive_bytes(int socket, std::span<std::uint8_t> bytes) {
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t got = ::recv(socket, bytes.data() + have, bytes.size() - have, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0 && have == 0) return true;
        if (got <= 0) return no_more(got);
        bytes_received += static_cast<std::uint64_t>(got);
        have += static_cast<std::size_t>(got);
    }
    return false;
}

Outcome<void> receive_batch(int socket, std::size_t count, std::vector<SharedDescriptor>& into) {
    alignas(cmsghdr) ControlBuffer control{};
    std::uint8_t marker = 0;
    iovec part{&marker, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = 0;
    do {
        got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return no_more(got);
    ++bytes_received;
    const std::size_t before = into.size();
    collect(message, into);
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
        return garbled("descriptors were lost; the limit of open files is too low (ulimit -n)");
    }
    if (marker != kMarker || into.size() - before != count) return garbled("descriptors are missing");
    return {};
}

}  // namespace

Outcome<void> Channel::limit_silence(std::chrono::milliseconds most) {
    timeval limit{};
    limit.tv_sec = most.count() / 1000;
    limit.tv_usec = most.count() % 1000 * 1000;
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
        if (::setsockopt(socket_.number(), SOL_SOCKET, option, &limit, sizeof limit) != 0) {
            return fail(ErrorKind::kFailure,
                        std::string("cannot limit how long a socket waits: ") + std::strerror(errno));
        }
    }
    limit_ = most;
    return {};
}

Outcome<void> Channel::send(const Envelope& envelope) {
    const base::Bytes payload = encode_message(envelope.message);
    ASSAY_CHECK(payload.size() <= kMaxPayload && envelope.bulk.size() <= kMaxDescriptors);
    const FrameHead head{static_cast<std::uint32_t>(payload.size()),
                         static_cast<std::uint16_t>(kind_of(envelope.message)),
                         static_cast<std::uint16_t>(envelope.bulk.size()), envelope.request};
    ASSAY_TRY(send_bytes(socket_.number(), base::encode(head), limit_));
    std::span<const SharedDescriptor> rest(envelope.bulk);
    while (!rest.empty()) {
        const std::size_t count = std::min(rest.size(), kBatch);
        ASSAY_TRY(send_batch(socket_.number(), rest.first(count)));
        rest = rest.subspan(count);
    }
    return send_bytes(socket_.number(), payload, limit_);
}

Outcome<Envelope> Channel::receive() {
    std::array<std::uint8_t, kHeadSize> head_bytes{};
    ASSAY_ASSIGN(const bool ended, receive_bytes(socket_.number(), head_bytes));
    if (ended) return fail(ErrorKind::kNotFound, "the other side closed the worker's socket");
    const FrameHead head = base::decode<FrameHead>(head_bytes).value();  // sixteen bytes always decode
    if (head.length > kMaxPayload) {
        return garbled("a payload of " + std::to_string(head.length) + " bytes is above the limit of " +
                       std::to_string(kMaxPayload));
    }
    if (head.descriptors > kMaxDescriptors) {
        return garbled(std::to_string(head.descriptors) + " descriptors are above the limit of " +
                       std::to_string(kMaxDescriptors));
    }
    Envelope envelope;
    envelope.request = head.request;
    while (envelope.bulk.size() < head.descriptors) {
        const std::size_t count = std::min<std::size_t>(head.descriptors - envelope.bulk.size(), kBatch);
        ASSAY_TRY(receive_batch(socket_.number(), count, envelope.bulk));
    }
    base::Bytes payload(head.length);
    if (!payload.empty()) {
        ASSAY_ASSIGN(const bool cut, receive_bytes(socket_.number(), payload));
        if (cut) return gone();
    }
    auto message = decode_message(head.kind, payload);
    if (!message.ok()) {
        return garbled("kind " + std::to_string(head.kind) + ": " +
                       std::string(base::to_text(message.error())));
    }
    envelope.message = std::move(message).value();
    const auto [least, most] = descriptor_bounds(envelope.message);
    if (envelope.bulk.size() < least || envelope.bulk.size() > most) {
        return garbled("kind " + std::to_string(head.kind) + " with " + std::to_string(envelope.bulk.size()) +
                       " descriptors");
    }
    return envelope;
}

SocketBytes socket_bytes() { return {bytes_sent.load(), bytes_received.load()}; }

Outcome<std::pair<Descriptor, Descriptor>> socket_pair() {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return fail(ErrorKind::kFailure, std::string("cannot create a socket pair: ") + std::strerror(errno),
                    "raise the limit of open files (ulimit -n)");
    }
    return std::make_pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

}  // namespace assay::worker
