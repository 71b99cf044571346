// SPDX-License-Identifier: Apache-2.0
// Manifest is the content of manifest.json, which names the files of a packed data set by their content.
// Schema "assay.data/v2" (docs/formats/data.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"

namespace assay::trainer {

inline constexpr std::uint64_t kMaxManifestFile = std::uint64_t{1} << 20;  ///< bytes of a manifest.json

/// A file in the manifest's folder. `tokens` is 0 for files that hold none.
struct DataFile {
    std::string name;  ///< a plain file name: no folder, no ".."
    std::uint64_t bytes = 0;
    std::uint64_t tokens = 0;
    base::Hash256 id;  ///< blob id (contracts/base/blob_id.hpp)
    friend bool operator==(const DataFile&, const DataFile&) = default;
};

struct Manifest {
    std::string source;   ///< where the text comes from, in the packer's words
    std::string licence;  ///< SPDX identifier or words; "unknown" when not told
    std::string split;    ///< how the held-out part was chosen, for people
    std::uint64_t text_bytes = 0;
    std::uint64_t documents = 0;
    std::uint32_t vocabulary = 0;
    DataFile tokenizer;
    DataFile train;
    DataFile held_out;
    friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// The same manifest always gives the same bytes.
std::string manifest_to_json(const Manifest& manifest);

/// Strict: unknown, missing or repeated keys, wrong types, sizes that do not fit the token counts and file
/// names that leave the folder are refused. Errors: kUsage.
base::Outcome<Manifest> manifest_from_json(std::string_view json);

base::Outcome<Manifest> read_manifest(const std::filesystem::path& path);

/// Recomputes size, blob id and token range of the three files in `folder`, and checks that tokenizer.json
/// has the manifest's vocabulary. Errors: kNotFound for a missing file, kVerification for one that differs.
base::Outcome<void> check_data_files(const Manifest& manifest, const std::filesystem::path& folder);

/// A short table for people.
std::string show(const Manifest& manifest);

}  // namespace assay::trainer
