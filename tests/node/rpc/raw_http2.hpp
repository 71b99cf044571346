// SPDX-License-Identifier: Apache-2.0
// A hand-written HTTP/2 client, for what no honest gRPC client would send. Frames as RFC 9113, headers as
// literals without indexing (RFC 7541 §6.2.2), gRPC messages as in the gRPC-over-HTTP/2 protocol. It keeps
// the server's flow control, as a patient attacker would: breaking it would only get the connection closed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "contracts/base/bytes.hpp"

namespace assay::test {

/// Why a flood of bytes ended.
enum class FloodEnd : std::uint8_t {
    kAllSent,  ///< everything asked for was taken
    kRefused,  ///< the server reset the stream, answered it or closed the connection
    kTimeout,  ///< time was up with bytes left: the server reads no further
};

struct FloodResult {
    FloodEnd end = FloodEnd::kTimeout;
    std::uint64_t sent = 0;  ///< message bytes handed to the socket
};

/// One TCP connection. It never asks for more bytes than the server may send at first, and so reads each
/// answer's beginning only. Aborts the test when the server cannot be reached.
class RawHttp2 {
public:
    /// `from`: the address to call from, any of 127.0.0.0/8. `window`: bytes of each answer that the server
    /// may send.
    explicit RawHttp2(const std::string& address, const std::string& from = "127.0.0.1",
                      std::uint32_t window = 65'535);
    ~RawHttp2();
    RawHttp2(const RawHttp2&) = delete;
    RawHttp2& operator=(const RawHttp2&) = delete;

    /// The head of a POST to `path`, preface and settings first; `encoding` is grpc-encoding's value, if any.
    /// What follows concerns the stream opened last.
    void open_stream(const std::string& path, const std::string& encoding = {});

    /// A whole call: opens a stream and sends one message of `body`. The answer is left unread.
    void ask(const std::string& path, base::ByteView body);

    /// Reads what comes for that long; true while the connection is open.
    bool listen_for(std::chrono::milliseconds time);
    /// Frames so far with which the server ended a stream: an answer, a reset, or one after the other.
    [[nodiscard]] int ended() const { return ended_; }

    /// The five bytes before a gRPC message, whatever follows them.
    static base::Bytes message_head(bool compressed, std::uint32_t declared);

    /// Sends `content` (after it, itself again and again) until `total` bytes are out, the server refuses, or
    /// time is up.
    FloodResult flood(base::ByteView content, std::uint64_t total, std::chrono::milliseconds patience);

    /// Ends our side of the stream and waits until the server ends its own; false when time is up first.
    bool finish(std::chrono::milliseconds patience);

    /// Whether the stream was ended by a gRPC answer (trailers), and not by a reset or a lost connection.
    [[nodiscard]] bool answered() const { return answered_; }

    /// Waits for the end of the connection, reading what comes; false when time is up first.
    bool closed_within(std::chrono::milliseconds patience);

private:
    void read_some(std::chrono::milliseconds patience);
    void take_frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, base::ByteView payload);
    void send_frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, base::ByteView payload);

    int socket_ = -1;
    std::uint32_t window_;
    std::uint32_t stream_ = 0;  ///< the one opened last; they are odd
    int ended_ = 0;
    base::Bytes input_;
    std::int64_t stream_window_ = 65'535;
    std::int64_t connection_window_ = 65'535;
    std::int64_t initial_window_ = 65'535;
    std::size_t largest_frame_ = 16'384;
    bool speaking_ = false;  ///< the preface is out: frames may be sent
    bool answered_ = false;
    bool refused_ = false;
    bool closed_ = false;
};

}  // namespace assay::test
