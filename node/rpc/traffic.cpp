// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/traffic.hpp"

#include <atomic>
#include <charconv>
#include <utility>

namespace assay::node {
namespace {

struct Counter {
    std::atomic<std::uint64_t> sent = 0;
    std::atomic<std::uint64_t> received = 0;
    std::atomic<std::uint64_t> messages = 0;
};

Counter& counter(Traffic traffic) {
    static std::array<Counter, kTrafficKinds> counters;
    return counters[static_cast<std::size_t>(traffic)];
}

constexpr auto kRelaxed = std::memory_order_relaxed;

/// Takes `before` and a number off the front of `text`; false when they are not there.
bool take_number(std::string_view& text, std::string_view before, std::uint64_t& number) {
    if (!text.starts_with(before)) return false;
    text.remove_prefix(before.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

}  // namespace

TrafficCounts& TrafficCounts::operator+=(const TrafficCounts& other) {
    for (std::size_t i = 0; i < by_kind.size(); ++i) {
        by_kind[i].sent += other.by_kind[i].sent;
        by_kind[i].received += other.by_kind[i].received;
        by_kind[i].messages += other.by_kind[i].messages;
    }
    return *this;
}

TrafficCounts traffic_counts() {
    TrafficCounts counts;
    for (std::uint8_t i = 0; i < kTrafficKinds; ++i) {
        const Counter& one = counter(static_cast<Traffic>(i));
        counts.by_kind[i] = {one.sent.load(kRelaxed), one.received.load(kRelaxed),
                             one.messages.load(kRelaxed)};
    }
    return counts;
}

void count_sent(Traffic traffic, std::uint64_t bytes) {
    counter(traffic).sent.fetch_add(bytes, kRelaxed);
    counter(traffic).messages.fetch_add(1, kRelaxed);
}

void count_received(Traffic traffic, std::uint64_t bytes) {
    counter(traffic).received.fetch_add(bytes, kRelaxed);
    counter(traffic).messages.fetch_add(1, kRelaxed);
}

std::string to_text(const TrafficCounts& counts) {
    std::string text;
    for (std::uint8_t i = 0; i < kTrafficKinds; ++i) {
        const ByteCount& one = counts.by_kind[i];
        text.append(to_text(static_cast<Traffic>(i)))
            .append(" " + std::to_string(one.sent) + " " + std::to_string(one.received) + " " +
                    std::to_string(one.messages) + "\n");
    }
    return text;
}

std::optional<TrafficCounts> parse_traffic(std::string_view text) {
    TrafficCounts counts;
    const std::string_view whole = text;
    for (std::uint8_t i = 0; i < kTrafficKinds; ++i) {
        ByteCount& one = counts.by_kind[i];
        const std::string name = std::string(to_text(static_cast<Traffic>(i))) + " ";
        if (!take_number(text, name, one.sent) || !take_number(text, " ", one.received) ||
            !take_number(text, " ", one.messages) || !text.starts_with("\n")) {
            return std::nullopt;
        }
        text.remove_prefix(1);
    }
    // One spelling for each number: no leading zeros, and nothing behind the last line.
    if (to_text(counts) != whole) return std::nullopt;
    return counts;
}

}  // namespace assay::node
