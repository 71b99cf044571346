// SPDX-License-Identifier: Apache-2.0
// Gives measurements of networks Relay, a TCP port on loopback that passes every connection on to another
// port and counts the bytes at the socket.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "contracts/base/error.hpp"

namespace assay::node {

struct RelayCounts {
    std::uint64_t connections = 0;
    std::uint64_t to_target = 0;    ///< bytes that the target's socket took
    std::uint64_t from_target = 0;  ///< bytes that the callers' sockets took
};

/// Ends its connections on destruction. Its own thread serves all of them.
class Relay {
public:
    /// Listens on a free port of 127.0.0.1, and connects to 127.0.0.1:`target_port` for each caller. A caller
    /// is cut off when nobody listens there. kFailure when the system gives no socket.
    static base::Outcome<std::unique_ptr<Relay>> start(std::uint16_t target_port);
    virtual ~Relay() = default;

    /// "127.0.0.1:PORT", for callers.
    [[nodiscard]] virtual std::string address() const = 0;
    /// Up to now. Thread-safe.
    [[nodiscard]] virtual RelayCounts counts() const = 0;
};

}  // namespace assay::node
