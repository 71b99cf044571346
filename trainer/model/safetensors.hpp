// SPDX-License-Identifier: Apache-2.0
// safetensors (huggingface/safetensors, README.md and safetensors/src/tensor.rs), binary32 tensors only.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"

namespace assay::trainer {

/// The reference reader's cap on the JSON header.
inline constexpr std::uint64_t kSafetensorsMaxHeader = 100'000'000;

/// One tensor of a file. On reading, `offset` counts floats from the start of the data; on writing it is
/// where the tensor's floats lie in the array passed along.
struct SafetensorsEntry {
    std::string name;
    std::vector<std::uint64_t> shape;  ///< empty for a single number
    std::uint64_t offset = 0;
    std::uint64_t count = 0;  ///< product of shape
    friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

struct SafetensorsFile {
    std::map<std::string, std::string> metadata;
    std::vector<SafetensorsEntry> tensors;  ///< by offset
    std::vector<float> data;
};

/// The file's bytes: tensors by name in byte order, header padded with spaces to a multiple of 8, metadata
/// {"format": "pt"}. REQUIRES distinct names and ranges inside `data`.
base::Bytes safetensors_bytes(std::vector<SafetensorsEntry> tensors, std::span<const float> data);

/// Strict, as the reference reader: header size against the cap and the file before anything is allocated,
/// UTF-8 JSON without repeated keys, no holes, no overlap, sizes that match shapes, end at the end of the
/// file; and F32 only. Errors: kUsage.
base::Outcome<SafetensorsFile> parse_safetensors(base::ByteView file);

}  // namespace assay::trainer
