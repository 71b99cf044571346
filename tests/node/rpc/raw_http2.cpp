// SPDX-License-Identifier: Apache-2.0
#include "tests/node/rpc/raw_http2.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/node/rpc/http2_frames.hpp"
#include "tests/support/catch.hpp"

namespace assay::test {

namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

using namespace http2;

void append_header(base::Bytes& out, const std::string& name, const std::string& value) {
    REQUIRE((name.size() < 127 && value.size() < 127));  // one length byte
    out.push_back(0);
    for (const std::string* text : {&name, &value}) {
        out.push_back(static_cast<std::uint8_t>(text->size()));
        out.insert(out.end(), text->begin(), text->end());
    }
}

milliseconds left(SteadyClock::time_point until) {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(until - SteadyClock::now()));
}

}  // namespace

RawHttp2::RawHttp2(const std::string& address, const std::string& from, std::uint32_t window)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), window_(window) {
    const std::size_t colon = address.rfind(':');
    sockaddr_in here{};
    here.sin_family = AF_INET;
    REQUIRE(inet_pton(AF_INET, from.c_str(), &here.sin_addr) == 1);
    REQUIRE(bind(socket_, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
}

RawHttp2::~RawHttp2() { close(socket_); }

void RawHttp2::open_stream(const std::string& path, const std::string& encoding) {
    if (!speaking_) {
        REQUIRE(write_all(socket_, base::as_bytes(std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))));
        speaking_ = true;
        base::Bytes settings;
        append_number(settings, kInitialWindowSetting, 2);
        append_number(settings, window_, 4);
        send_frame(kSettings, 0, 0, settings);
    }
    stream_ = stream_ == 0 ? 1 : stream_ + 2;
    stream_window_ = initial_window_;
    base::Bytes head;
    append_header(head, ":method", "POST");
    append_header(head, ":scheme", "http");
    append_header(head, ":path", path);
    append_header(head, ":authority", "localhost");
    append_header(head, "te", "trailers");
    append_header(head, "content-type", "application/grpc");
    if (!encoding.empty()) append_header(head, "grpc-encoding", encoding);
    send_frame(kHeaders, kEndHeaders, stream_, head);
}

void RawHttp2::ask(const std::string& path, base::ByteView body) {
    open_stream(path);
    base::Bytes message = message_head(false, static_cast<std::uint32_t>(body.size()));
    message.insert(message.end(), body.begin(), body.end());
    send_frame(kData, kEndStream, stream_, message);
}

bool RawHttp2::listen_for(milliseconds time) {
    const auto until = SteadyClock::now() + time;
    while (!closed_ && left(until).count() > 0) read_some(left(until));
    return !closed_;
}

base::Bytes RawHttp2::message_head(bool compressed, std::uint32_t declared) {
    base::Bytes head{static_cast<std::uint8_t>(compressed ? 1 : 0)};
    append_number(head, declared, 4);
    return head;
}

FloodResult RawHttp2::flood(base::ByteView content, std::uint64_t total, milliseconds patience) {
    const auto until = SteadyClock::now() + patience;
    FloodResult result;
    std::size_t place = 0;
    while (result.sent < total) {
        const std::int64_t window = std::min(stream_window_, connection_window_);
        read_some(window > 0 ? milliseconds(0) : std::min(milliseconds(50), left(until)));
        if (refused_ || closed_) {
            result.end = FloodEnd::kRefused;
            return result;
        }
        if (left(until).count() == 0) return result;
        if (window <= 0) continue;
        const std::size_t part =
            std::min({static_cast<std::size_t>(window), largest_frame_, content.size() - place,
                      static_cast<std::size_t>(total - result.sent)});
        send_frame(kData, 0, stream_, content.subspan(place, part));
        stream_window_ -= static_cast<std::int64_t>(part);
        connection_window_ -= static_cast<std::int64_t>(part);
        result.sent += part;
        place = (place + part) % content.size();
    }
    result.end = FloodEnd::kAllSent;
    return result;
}

bool RawHttp2::finish(milliseconds patience) {
    const auto until = SteadyClock::now() + patience;
    if (!refused_ && !closed_) send_frame(kData, kEndStream, stream_, {});
    while (!refused_ && !closed_ && left(until).count() > 0) read_some(left(until));
    return refused_ || closed_;
}

bool RawHttp2::closed_within(milliseconds patience) {
    const auto until = SteadyClock::now() + patience;
    while (!closed_ && left(until).count() > 0) read_some(left(until));
    return closed_;
}

void RawHttp2::read_some(milliseconds patience) {
    pollfd ready{socket_, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return;
    std::uint8_t buffer[16'384];
    const ssize_t got = recv(socket_, buffer, sizeof buffer, 0);
    if (got <= 0) {
        closed_ = true;
        return;
    }
    input_.insert(input_.end(), buffer, buffer + got);
    while (input_.size() >= 9) {
        const base::ByteView all(input_);
        const std::size_t length = number(all.first(3));
        if (input_.size() < 9 + length) return;
        const base::Bytes payload = base::to_bytes(all.subspan(9, length));
        const std::uint8_t type = input_[3];
        const std::uint8_t flags = input_[4];
        const std::uint32_t stream = number(all.subspan(5, 4)) & 0x7FFFFFFFU;
        input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(9 + length));
        take_frame(type, flags, stream, payload);
    }
}

void RawHttp2::take_frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                          base::ByteView payload) {
    if (!speaking_) return;
    if (type == kWindow) {
        (stream == 0 ? connection_window_ : stream_window_) += number(payload);
    } else if (type == kSettings && (flags & kAck) == 0) {
        for (std::size_t at = 0; at + 6 <= payload.size(); at += 6) {
            const std::uint32_t setting = number(payload.subspan(at, 2));
            const std::uint32_t value = number(payload.subspan(at + 2, 4));
            if (setting == kInitialWindowSetting) {
                stream_window_ += std::int64_t{value} - initial_window_;
                initial_window_ = value;
            }
            if (setting == kFrameSizeSetting) largest_frame_ = value;
        }
        send_frame(kSettings, kAck, 0, {});
    } else if (type == kPing && (flags & kAck) == 0) {
        send_frame(kPing, kAck, 0, payload);
    } else if (type == kReset || type == kGoAway) {
        refused_ = true;
        if (type == kReset) ++ended_;
    } else if (type == kHeaders && (flags & kEndStream) != 0) {
        refused_ = answered_ = true;
        ++ended_;
    }
}

void RawHttp2::send_frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                          base::ByteView payload) {
    if (!write_all(socket_, frame_of(type, flags, stream, payload))) closed_ = true;
}

}  // namespace assay::test
