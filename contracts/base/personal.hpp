// SPDX-License-Identifier: Apache-2.0
// The personalisation of every kind of Merkle leaf and node: the last 16 bytes of BLAKE2b's parameter block.
// A hash for one kind is never valid for another. Unlike a prefix byte, it costs no extra block: a tile of
// 16×16 binary32 is eight blocks, a node is one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::base {

/// A name of at most 16 bytes of ASCII, filled up with zeros. All zero: no personalisation.
struct Personal {
    std::array<std::uint8_t, 16> bytes{};

    constexpr Personal() = default;
    explicit constexpr Personal(std::string_view name) {
        for (std::size_t i = 0; i < name.size(); ++i) bytes.at(i) = static_cast<std::uint8_t>(name[i]);
    }
    friend bool operator==(const Personal&, const Personal&) = default;
};

// Frozen. Values are listed in docs/formats/README.md.
namespace personal {
inline constexpr Personal kNode{"assay/node"};            ///< left ‖ right, 64 bytes
inline constexpr Personal kLeaf{"assay/leaf"};            ///< an item of a list that has no kind of its own
inline constexpr Personal kPiece{"assay/piece"};          ///< up to 4 KiB of a blob
inline constexpr Personal kTile{"assay/tile"};            ///< 16×16 binary32, 1,024 bytes
inline constexpr Personal kUpdateTile{"assay/update"};    ///< 16×16 int64 of an update, 2,048 bytes
inline constexpr Personal kSumTile{"assay/sums"};         ///< 16×16 int64 sums (profile i16)
inline constexpr Personal kDigits{"assay/digits"};        ///< int8 digits with exponents (profile i16)
inline constexpr Personal kMaximum{"assay/maximum"};      ///< a maximum's index
inline constexpr Personal kTensor{"assay/tensor"};        ///< name, shape and root of a tensor
inline constexpr Personal kComponent{"assay/component"};  ///< place and content of a state's component
}  // namespace personal

/// All of them, for tests and pages.
inline constexpr std::array kPersonals{
    personal::kNode,    personal::kLeaf,   personal::kPiece,   personal::kTile,   personal::kUpdateTile,
    personal::kSumTile, personal::kDigits, personal::kMaximum, personal::kTensor, personal::kComponent};

}  // namespace assay::base
