// SPDX-License-Identifier: Apache-2.0
// Gives clients and servers bytes as protobuf has them, and the sizes that both ends agree on. Internal to
// node/rpc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "contracts/base/bytes.hpp"
#include "contracts/base/hash.hpp"

namespace assay::node {

/// Longer answers are cut into pieces of this size.
inline constexpr std::size_t kPieceBytes = std::size_t{512} << 10;
/// A client gives up an answer with a total length above this.
inline constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;

inline std::string wire_text(base::ByteView bytes) { return std::string(base::as_text(bytes)); }
inline base::Bytes wire_bytes(const std::string& text) { return base::to_bytes(base::as_bytes(text)); }

/// Nothing unless there are exactly 32 bytes.
inline std::optional<base::Hash256> wire_hash(const std::string& text) {
    if (text.size() != 32) return std::nullopt;
    return base::hash_from(base::as_bytes(text));
}

}  // namespace assay::node
