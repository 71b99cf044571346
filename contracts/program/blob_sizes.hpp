// SPDX-License-Identifier: Apache-2.0
// The exact sizes of a job's token files and states, for everyone that fetches them. A holder that offers
// another size offers something else.
#pragma once

#include <cstdint>

namespace assay::program {

/// Header of a token file (trainer/data/token_file.hpp).
inline constexpr std::uint64_t kTokenFileHeader = 1024;

/// Bytes of a token of this vocabulary: 2 up to 65,536 tokens, else 4.
constexpr std::uint64_t token_bytes(std::uint32_t vocabulary) { return vocabulary <= 65'536 ? 2 : 4; }

/// Bytes of the token file of so many tokens.
constexpr std::uint64_t token_file_size(std::uint64_t tokens, std::uint32_t vocabulary) {
    return kTokenFileHeader + token_bytes(vocabulary) * tokens;
}

/// Bytes of an array's file.
constexpr std::uint64_t array_bytes(std::uint64_t parameters) { return 4 * parameters; }
/// Bytes of the file of a head (contracts/program/state_head.hpp) of so many arrays: magic, step, cursor, age
/// if `aged`, and for each array its number, root and blob.
constexpr std::uint64_t state_head_bytes(std::uint64_t arrays, bool aged) {
    return 8 + 8 + 8 + (aged ? 9 : 1) + 4 + (1 + 32 + 32) * arrays;
}
/// Bytes of a base state's file, of `parameters` numbers (trainer/run/state_bytes.hpp).
constexpr std::uint64_t base_state_bytes(std::uint64_t parameters) { return 16 + 8 * parameters; }

/// No file of a legal job is larger: every store takes such a file, and a holder's description of it, 32
/// bytes for each MiB, is a message that every node takes. The base state is a job's largest file.
inline constexpr std::uint64_t kMaxFileBytes = 1ULL << 36;

}  // namespace assay::program
