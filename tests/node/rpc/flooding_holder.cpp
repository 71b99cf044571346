// SPDX-License-Identifier: Apache-2.0
#include "tests/node/rpc/flooding_holder.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "contracts/base/bytes.hpp"
#include "tests/node/rpc/http2_frames.hpp"
#include "tests/support/catch.hpp"

namespace assay::test {

namespace {

using namespace http2;

constexpr std::size_t kPreface = 24, kFrame = 16'384;

base::Bytes answer_head() {
    base::Bytes head;
    for (const std::string text : {":status", "200", "content-type", "application/grpc"}) {
        if (text.front() == ':' || text.front() == 'c') head.push_back(0);  // a literal that is not indexed
        head.push_back(static_cast<std::uint8_t>(text.size()));
        head.insert(head.end(), text.begin(), text.end());
    }
    return head;
}

// One client: what it still takes of each stream, and what it sent.
class FloodedClient {
public:
    FloodedClient(int socket, std::atomic<std::uint64_t>& sent) : socket_(socket), sent_(sent) {
        open_ = write_all(socket_, frame_of(kSettings, 0, 0, {}));
    }
    ~FloodedClient() { close(socket_); }
    FloodedClient(const FloodedClient&) = delete;
    FloodedClient& operator=(const FloodedClient&) = delete;

    [[nodiscard]] bool is_open() const { return open_; }
    /// Reads what came, and sends one frame of each stream that has room.
    void step() {
        bool sends = false;
        for (auto& [stream, room] : streams_) {
            const std::int64_t most = std::min(room, connection_room_);
            if (most <= 0 || !open_) continue;
            const base::Bytes body(std::min<std::size_t>(kFrame, static_cast<std::size_t>(most)), 0x41);
            open_ = write_all(socket_, frame_of(kData, 0, stream, body));
            room -= static_cast<std::int64_t>(body.size());
            connection_room_ -= static_cast<std::int64_t>(body.size());
            sent_ += body.size();
            sends = true;
        }
        read_some(sends ? 0 : 20);
    }

private:
    void read_some(int patience) {
        pollfd ready{socket_, POLLIN, 0};
        if (!open_ || poll(&ready, 1, patience) <= 0) return;
        std::uint8_t buffer[16'384];
        const ssize_t got = recv(socket_, buffer, sizeof buffer, 0);
        if (got <= 0) {
            open_ = false;
            return;
        }
        input_.insert(input_.end(), buffer, buffer + got);
        if (!greeted_ && input_.size() >= kPreface) {
            input_.erase(input_.begin(), input_.begin() + kPreface);
            greeted_ = true;
        }
        while (greeted_ && input_.size() >= 9) {
            const base::ByteView all(input_);
            const std::size_t length = number(all.first(3));
            if (input_.size() < 9 + length) return;
            take_frame(input_[3], input_[4], number(all.subspan(5, 4)) & 0x7FFFFFFFU, all.subspan(9, length));
            input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(9 + length));
        }
    }
    void take_frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, base::ByteView payload) {
        if (type == kSettings && (flags & kAck) == 0) {
            for (std::size_t at = 0; at + 6 <= payload.size(); at += 6) {
                if (number(payload.subspan(at, 2)) == kInitialWindowSetting)
                    initial_room_ = number(payload.subspan(at + 2, 4));
            }
            open_ = write_all(socket_, frame_of(kSettings, kAck, 0, {}));
        } else if (type == kPing && (flags & kAck) == 0) {
            open_ = write_all(socket_, frame_of(kPing, kAck, 0, payload));
        } else if (type == kWindow) {
            (stream == 0 ? connection_room_ : streams_[stream]) += number(payload);
        } else if (type == kReset) {
            streams_.erase(stream);
        } else if (type == kHeaders) {
            const base::Bytes declared{0, 0x20, 0, 0, 0};  // 512 MiB
            open_ = write_all(socket_, frame_of(kHeaders, kEndHeaders, stream, answer_head())) &&
                    write_all(socket_, frame_of(kData, 0, stream, declared));
            streams_[stream] += initial_room_ - static_cast<std::int64_t>(declared.size());
        }
    }

    int socket_;
    std::atomic<std::uint64_t>& sent_;
    bool open_ = true;
    bool greeted_ = false;
    base::Bytes input_;
    std::map<std::uint32_t, std::int64_t> streams_;
    std::int64_t initial_room_ = 65'535;
    std::int64_t connection_room_ = 65'535;
};

}  // namespace

FloodingHolder::FloodingHolder() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    REQUIRE(bind(listener_, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0);
    REQUIRE(listen(listener_, 64) == 0);
    REQUIRE(getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size) == 0);
    port_ = ntohs(here.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
}

FloodingHolder::~FloodingHolder() {
    over_ = true;
    acceptor_.join();
    for (std::thread& one : connections_) one.join();
    close(listener_);
}

void FloodingHolder::accept_all() {
    while (!over_) {
        pollfd ready{listener_, POLLIN, 0};
        if (poll(&ready, 1, 50) <= 0) continue;
        const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket >= 0) connections_.emplace_back([this, socket] { serve(socket); });
    }
}

void FloodingHolder::serve(int socket) {
    FloodedClient client(socket, sent_);
    while (!over_ && client.is_open()) client.step();
}

}  // namespace assay::test
