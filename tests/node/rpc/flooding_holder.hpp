// SPDX-License-Identifier: Apache-2.0
// A hand-written HTTP/2 server, as a hostile holder of blobs would be: it answers every call with a message
// that declares half a gigabyte, and sends it as fast as the client takes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace assay::test {

/// Listens on a free port of the loopback until destroyed.
class FloodingHolder {
public:
    FloodingHolder();
    ~FloodingHolder();
    FloodingHolder(const FloodingHolder&) = delete;
    FloodingHolder& operator=(const FloodingHolder&) = delete;

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    /// Bytes of answers that were handed to the sockets so far.
    [[nodiscard]] std::uint64_t sent() const { return sent_; }

private:
    void accept_all();
    void serve(int socket);

    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<bool> over_ = false;
    std::atomic<std::uint64_t> sent_ = 0;
    std::vector<std::thread> connections_;
    std::thread acceptor_;
};

}  // namespace assay::test
