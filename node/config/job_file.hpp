// SPDX-License-Identifier: Apache-2.0
// Gives commands job.toml, a job as a person writes it. One table of keys (job_keys.hpp) drives reader,
// writer and the reference page docs/reference/job-file.md.
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
    /// Complete but for `initial_root` and, with `from`, `initial_blob`, which the caller computes.
    program::JobSpec spec;
    std::filesystem::path from;  ///< model folder that the job starts from; empty: from the seed
    trainer::SpecialIds ids;     ///< of that folder, for the folder that the trained model becomes
    std::filesystem::path manifest;
    std::filesystem::path train;      ///< beside the manifest
    std::filesystem::path held_out;   ///< as the manifest says, or as `[data] held_out` does
    std::filesystem::path tokenizer;  ///< beside the manifest
};

/// The keys of a job file and nothing else: no other file is opened, spec.data is left empty (with
/// `[model] from`, spec.model too, but for a context), and the paths are as written. `name` stands for the
/// file in errors. Errors: kUsage; each names the key, file and line, and a fix.
base::Outcome<JobFile> parse_job_text(std::string_view toml, std::string_view name);

/// parse_job_text, then the model folder's config.json, if the job names one, and the manifest: fills
/// spec.model and spec.data and resolves paths against the job file's folder; refuses data whose vocabulary
/// or tokenizer is not the model's or that has fewer tokens than one sequence. Only a held-out file named by
/// the job itself is read whole, to name it by content; weights are not read.
/// Errors: kNotFound, kUsage.
base::Outcome<JobFile> read_job_file(const std::filesystem::path& path);

/// job.toml that reads back as the same job: every key, with paths as given in `job`.
std::string job_file_text(const JobFile& job);

/// The reference page in Markdown: every key with type, default, range and meaning.
std::string job_file_reference();

}  // namespace assay::node
