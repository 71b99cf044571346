// SPDX-License-Identifier: Apache-2.0
// Gives a process the bytes of all messages that its clients have sent and received since it began, by kind
// of traffic. A call has one client, so the counts of all processes of a network, added up, count every
// message once. A message counts with its encoded size, without the overhead of gRPC, HTTP/2 and TLS.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "node/seams/traffic.hpp"

namespace assay::node {

struct ByteCount {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t messages = 0;  ///< in both directions

    friend bool operator==(const ByteCount&, const ByteCount&) = default;
};

struct TrafficCounts {
    std::array<ByteCount, kTrafficKinds> by_kind;

    [[nodiscard]] const ByteCount& of(Traffic traffic) const {
        return by_kind[static_cast<std::size_t>(traffic)];
    }
    TrafficCounts& operator+=(const TrafficCounts& other);
    friend bool operator==(const TrafficCounts&, const TrafficCounts&) = default;
};

/// The counts up to now. Thread-safe.
TrafficCounts traffic_counts();

/// Called by the clients of node/rpc. Thread-safe.
void count_sent(Traffic traffic, std::uint64_t bytes);
void count_received(Traffic traffic, std::uint64_t bytes);

/// A line for each kind: its name, bytes sent, bytes received, messages.
std::string to_text(const TrafficCounts& counts);
/// Parses a text of to_text; nothing for any other text.
std::optional<TrafficCounts> parse_traffic(std::string_view text);

}  // namespace assay::node
