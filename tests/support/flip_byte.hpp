// SPDX-License-Identifier: Apache-2.0
// Damage to a file, for tests that must see it found.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace assay::test {

/// Turns the bits of `mask` in one byte of the file.
inline void flip_byte(const std::filesystem::path& file, std::uint64_t offset, int mask) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(offset));
    const int byte = stream.get();
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(static_cast<char>(byte ^ mask));
}

}  // namespace assay::test
