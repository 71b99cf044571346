// SPDX-License-Identifier: Apache-2.0
// Reads and writes safetensors files (huggingface/safetensors, README.md and safetensors/src/tensor.rs).
// Tensors go straight between the file and their place in memory, so a model is never in memory twice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::trainer {

/// The reference reader's cap on the JSON header.
inline constexpr std::uint64_t kSafetensorsMaxHeader = 100'000'000;

/// One tensor of a file.
struct SafetensorsEntry {
    std::string name;
    std::string type;                  ///< its name in the file: "F32", "BF16", …
    std::vector<std::uint64_t> shape;  ///< empty for a single number
    std::uint64_t count = 0;           ///< product of shape
    std::uint64_t begin = 0;           ///< first byte, counted from the start of the data
    std::uint64_t end = 0;             ///< one past the last byte
    friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

struct SafetensorsHeader {
    std::map<std::string, std::string> metadata;
    std::vector<SafetensorsEntry> tensors;  ///< sorted by `begin`
    std::uint64_t data_begin = 0;           ///< offset of the data in the file
    friend bool operator==(const SafetensorsHeader&, const SafetensorsHeader&) = default;
};

/// Reads the header from the beginning of a file of `file_bytes` bytes. As strict as the reference reader:
/// the header fits the cap and the file; UTF-8 JSON without repeated keys; known types; tensors without gaps
/// or overlap, of sizes that match their shapes, up to the end of the file. REQUIRES that `beginning` holds
/// the whole header or the whole file. Errors: kUsage.
base::Outcome<SafetensorsHeader> parse_safetensors_header(base::ByteView beginning, std::uint64_t file_bytes);

/// An open file. Only one thread may use it at a time.
class SafetensorsReader {
public:
    /// Errors: kNotFound, kUsage (not a safetensors file), kFailure (disk).
    static base::Outcome<SafetensorsReader> open(const std::filesystem::path& path);
    SafetensorsReader(SafetensorsReader&& other) noexcept;
    SafetensorsReader& operator=(SafetensorsReader&&) = delete;
    ~SafetensorsReader();

    [[nodiscard]] const SafetensorsHeader& header() const { return header_; }

    /// Reads the numbers of `entry` into `out`: F32 bit for bit; F16 and BF16 widened, which is exact.
    /// REQUIRES an entry of header() and out.size() == entry.count. Errors: kUsage (another type, a NaN or an
    /// infinity), kFailure (disk).
    [[nodiscard]] base::Outcome<void> read(const SafetensorsEntry& entry, std::span<float> out) const;

private:
    SafetensorsReader(std::filesystem::path path, int file, SafetensorsHeader header);
    std::filesystem::path path_;
    int file_ = -1;
    SafetensorsHeader header_;
};

/// A tensor to write; the numbers are borrowed.
struct SafetensorsTensor {
    std::string name;
    std::vector<std::uint64_t> shape;
    std::span<const float> values;
};

/// Writes F32 tensors by name in byte order, the header padded with spaces to a multiple of 8, metadata
/// {"format": "pt"}; fsync at the end. REQUIRES distinct names and values.size() equal to the product of
/// shape. Errors: kFailure (disk).
base::Outcome<void> write_safetensors(const std::filesystem::path& path,
                                      std::vector<SafetensorsTensor> tensors);

}  // namespace assay::trainer
