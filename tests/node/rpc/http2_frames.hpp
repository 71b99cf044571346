// SPDX-License-Identifier: Apache-2.0
// Frames of HTTP/2 (RFC 9113) by hand, for both sides of the floods in these tests.
#pragma once

#include <cstdint>

#include "contracts/base/bytes.hpp"

namespace assay::test::http2 {

constexpr std::uint8_t kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoAway = 7,
                       kWindow = 8;
constexpr std::uint8_t kEndStream = 1, kAck = 1, kEndHeaders = 4;
constexpr std::uint16_t kInitialWindowSetting = 4, kFrameSizeSetting = 5;

/// A big-endian number of at most four bytes.
std::uint32_t number(base::ByteView bytes);
/// The lowest `bytes` bytes of `value`, big-endian.
void append_number(base::Bytes& out, std::uint64_t value, int bytes);
base::Bytes frame_of(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, base::ByteView payload);
/// False when the other side has closed, or takes nothing for two seconds: it must not hold the test.
bool write_all(int socket, base::ByteView bytes);

}  // namespace assay::test::http2
