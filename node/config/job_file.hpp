// SPDX-License-Identifier: Apache-2.0
// Gives commands job.toml, a job as a person writes it. One table of keys (job_keys.hpp) defines the reader,
// the writer and the reference page docs/reference/job-file.md.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/model/folder_config.hpp"

namespace assay::node {

/// A job and the files that it names, as paths that can be opened from here.
struct JobFile {
    /// Complete except for `initial_root` and, with `from`, `initial_blob`, which the caller computes.
    program::JobSpec spec;
    std::filesystem::path from;  ///< model folder that the job starts from; empty: from the seed
    trainer::SpecialIds ids;     ///< special ids of that folder, for the folder of the trained model
    std::filesystem::path manifest;
    std::filesystem::path train;      ///< in the manifest's folder
    std::filesystem::path held_out;   ///< as the manifest says, or as `[data] held_out` does
    std::filesystem::path tokenizer;  ///< in the manifest's folder
};

/// Parses only the keys of a job file. No other file is opened, the paths are as written, and spec.data is
/// left empty; with `[model] from` so is spec.model, except for a context. `name` stands for the file in
/// errors. Errors: kUsage; each names the key, file and line, and a fix.
base::Outcome<JobFile> parse_job_text(std::string_view toml, std::string_view name);

/// As parse_job_text, then reads the manifest and, if the job names a model folder, its config.json. Fills
/// spec.model and spec.data and resolves paths against the job file's folder. Refuses data with another
/// vocabulary or tokenizer than the model's, or with fewer tokens than one sequence. Only a held-out file
/// that the job itself names is read whole, to name it by content; weights are not read. Errors: kNotFound,
/// kUsage.
base::Outcome<JobFile> read_job_file(const std::filesystem::path& path);

/// Text of a job.toml that reads back as the same job, with every key, and paths as given in `job`.
std::string job_file_text(const JobFile& job);

/// The reference page in Markdown: every key with type, default, range and meaning.
std::string job_file_reference();

}  // namespace assay::node
