// SPDX-License-Identifier: Apache-2.0
// Gives whoever fetches a job's bytes their exact sizes: its token files and its states. A holder that offers
// another size offers something else.
#pragma once

#include <cstdint>

namespace assay::program {

/// Header of a token file (trainer/data/token_file.hpp).
inline constexpr std::uint64_t kTokenFileHeader = 1024;

/// Bytes of a token of this vocabulary: 2 up to 65,536 tokens, else 4.
constexpr std::uint64_t token_bytes(std::uint32_t vocabulary) { return vocabulary <= 65'536 ? 2 : 4; }

/// Bytes of the file of so many tokens.
constexpr std::uint64_t token_file_size(std::uint64_t tokens, std::uint32_t vocabulary) {
    return kTokenFileHeader + token_bytes(vocabulary) * tokens;
}

/// Bytes of each state of a model, without an age of moments, of `parameters` numbers
/// (trainer/run/state_bytes.hpp).
constexpr std::uint64_t base_state_bytes(std::uint64_t parameters) { return 16 + 8 * parameters; }
constexpr std::uint64_t slot_state_bytes(std::uint64_t parameters) { return 24 + 12 * parameters; }

}  // namespace assay::program
