// SPDX-License-Identifier: Apache-2.0
// Bytes, views of bytes, and their hexadecimal form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::base {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

/// The bytes of a text, without a terminating zero. The view lives as long as `text` does.
inline ByteView as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// The text whose characters are `bytes`; no check that they are UTF-8.
inline std::string_view as_text(ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline Bytes to_bytes(ByteView view) { return {view.begin(), view.end()}; }

/// Lower-case hexadecimal, two digits a byte.
std::string to_hex(ByteView bytes);

/// The bytes spelled by `hex`; nothing when a digit is missing or is not 0-9, a-f (capitals are refused:
/// one value has one spelling).
std::optional<Bytes> from_hex(std::string_view hex);

/// True when `text` is well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

}  // namespace assay::base
