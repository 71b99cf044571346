// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/bytes.hpp"

namespace assay::base {

std::string to_hex(ByteView bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::uint8_t byte : bytes) {
        text.push_back(kDigits[byte >> 4]);
        text.push_back(kDigits[byte & 15]);
    }
    return text;
}

namespace {
int digit_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}
}  // namespace

std::optional<Bytes> from_hex(std::string_view hex) {
    if (hex.size() % 2 != 0) return std::nullopt;
    Bytes bytes;
    bytes.reserve(hex.size() / 2);
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        const int high = digit_value(hex[i]);
        const int low = digit_value(hex[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
    }
    return bytes;
}

bool is_utf8(std::string_view text) {
    const ByteView bytes = as_bytes(text);
    std::size_t i = 0;
    while (i < bytes.size()) {
        const std::uint8_t lead = bytes[i];
        if (lead < 0x80) {
            ++i;
            continue;
        }
        const std::size_t follow = lead >= 0xf0 ? 3U : lead >= 0xe0 ? 2U : 1U;
        if (lead < 0xc2 || lead > 0xf4 || i + follow >= bytes.size()) return false;
        // The second byte's range closes the overlong forms, the surrogates and everything past U+10FFFF.
        const std::uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        const std::uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (bytes[i + 1] < low || bytes[i + 1] > high) return false;
        for (std::size_t k = 2; k <= follow; ++k) {
            if (bytes[i + k] < 0x80 || bytes[i + k] > 0xbf) return false;
        }
        i += follow + 1;
    }
    return true;
}

}  // namespace assay::base
