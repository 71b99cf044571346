// SPDX-License-Identifier: Apache-2.0
// A codec of updates whose files have as many bytes as their numbers need: zigzag, then groups of seven bits,
// lowest first. No strategy has it; it shows that nothing beside a codec knows the length of an update.
#pragma once

#include <optional>
#include <span>

#include "contracts/program/strategies/strategy.hpp"

namespace assay::test {

inline std::uint64_t most_variable(std::uint64_t parameters) { return 9 * parameters; }  // 63 bits

inline bool finalise_variable(const program::RoundSettings&, std::span<const float> start,
                              std::span<const float> end, std::span<std::int64_t> update) {
    for (std::size_t i = 0; i < update.size(); ++i)
        update[i] = static_cast<std::int64_t>((start[i] - end[i]) * 1024.0F);
    return true;
}

inline std::optional<std::uint64_t> pack_variable(const program::RoundSettings&,
                                                  std::span<const std::int64_t> update,
                                                  std::span<std::uint8_t> packed) {
    std::size_t at = 0;
    for (const std::int64_t number : update) {
        const auto doubled = static_cast<std::uint64_t>(number) << 1U;
        std::uint64_t rest = number < 0 ? ~doubled : doubled;
        if (rest >> 63U != 0) return std::nullopt;
        for (; rest >= 0x80; rest >>= 7U) packed[at++] = static_cast<std::uint8_t>(rest | 0x80U);
        packed[at++] = static_cast<std::uint8_t>(rest);
    }
    return at;
}

inline std::optional<program::PackedFault> decode_variable(const program::RoundSettings&,
                                                           base::ByteView packed,
                                                           std::span<std::int64_t> update) {
    std::size_t at = 0;
    for (std::int64_t& number : update) {
        std::uint64_t rest = 0;
        std::uint8_t byte = 0x80;
        for (unsigned shift = 0; (byte & 0x80U) != 0; shift += 7) {
            if (at == packed.size()) return program::PackedFault::kLength;
            byte = packed[at++];
            // A tenth byte, or a last one without a bit, is another spelling.
            if (shift == 63 || (shift > 0 && byte == 0)) return program::PackedFault::kNumber;
            rest |= std::uint64_t{byte & 0x7fU} << shift;
        }
        const std::uint64_t half = rest >> 1U;
        number = static_cast<std::int64_t>((rest & 1U) != 0 ? ~half : half);
    }
    return at == packed.size() ? std::nullopt : std::optional(program::PackedFault::kLength);
}

inline constexpr program::UpdateCodec kVariableCodec{.word = "variable",
                                                     .magic = "AVARI001",
                                                     .exponents = {-64, 0},
                                                     .most_bytes = most_variable,
                                                     .finalise = finalise_variable,
                                                     .pack = pack_variable,
                                                     .decode = decode_variable};

}  // namespace assay::test
