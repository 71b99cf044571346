// SPDX-License-Identifier: Apache-2.0
#include "tests/node/rpc/http2_frames.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace assay::test::http2 {

std::uint32_t number(base::ByteView bytes) {
    std::uint32_t value = 0;
    for (const std::uint8_t byte : bytes) value = value << 8U | byte;
    return value;
}

void append_number(base::Bytes& out, std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

base::Bytes frame_of(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, base::ByteView payload) {
    base::Bytes frame;
    append_number(frame, payload.size(), 3);
    frame.push_back(type);
    frame.push_back(flags);
    append_number(frame, stream, 4);
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
}

bool write_all(int socket, base::ByteView bytes) {
    while (!bytes.empty()) {
        pollfd ready{socket, POLLOUT, 0};
        if (poll(&ready, 1, 2'000) <= 0) return false;
        const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (sent <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace assay::test::http2
