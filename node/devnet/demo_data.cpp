// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/demo_data.hpp"

#include <fstream>

#include "node/blob/folder.hpp"
#include "node/runtime/process.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
namespace fs = std::filesystem;

namespace {

constexpr const char* kBible = "/usr/bin/bible";

// Debian's bible-kjv prints the whole text by verse range.
base::Outcome<fs::path> bible_text(const fs::path& folder) {
    if (!fs::exists(kBible)) {
        return fail(ErrorKind::kNotFound, "no text: Debian's bible-kjv is not installed",
                    "apt-get install bible-kjv bible-kjv-text, or pass --text FILE");
    }
    const fs::path file = folder / "bible-kjv.txt";
    ProcessOptions options;
    options.program = kBible;
    options.arguments = {"-f", "gen1:1-rev22:21"};
    options.stdout_file = file;
    options.stderr_file = folder / "bible-kjv.log";
    ASSAY_ASSIGN(Process process, Process::spawn(options));
    const ExitStatus status = process.wait();
    if (!status.success()) {
        return fail(ErrorKind::kFailure, std::string(kBible) + " failed: " + to_text(status),
                    "pass --text FILE instead");
    }
    return file;
}

std::uint32_t vocabulary_for(std::uint64_t bytes) {
    if (bytes >= 1'000'000) return 2048;
    if (bytes >= 200'000) return 1024;
    return 512;
}

base::Outcome<JobFile> write_file(const DemoOptions& options, JobFile job) {
    job.manifest = "data/manifest.json";
    const fs::path file = options.home / "job.toml";
    std::ofstream(file) << job_file_text(job);
    return read_job_file(file);
}

}  // namespace

program::JobSpec demo_job(const DemoOptions& options) {
    program::JobSpec spec;
    spec.name = "demo";
    spec.slots = 5;
    spec.rounds = options.rounds;
    spec.seed = options.seed;
    spec.model = {.family = program::Family::kGpt2,
                  .layers = 4,
                  .width = 128,
                  .heads = 4,
                  .context = 128,
                  .vocabulary = 2048};
    if (options.family == program::Family::kLlama) {
        spec.model.family = options.family;
        spec.model.kv_heads = 2;
        spec.model.hidden = 384;
        spec.model.rope_theta = 10'000.0F;
    }
    spec.profile = options.profile.value_or(program::Profile::kF32);
    spec.train.inner_steps = 9;
    spec.train.batch = 4;
    spec.train.warmup_steps = 4;
    spec.train.learning_rate = 1.2e-3F;
    // Five rounds are too few for the published 0.9: the first overshoot would not be forgotten in time.
    spec.train.outer_momentum = 0.5F;
    spec.security.segment_steps = 3;
    spec.security.audit_threshold = UINT64_MAX / 10;  // newcomers are audited at rate 1 all the same
    spec.security.gain_bound = base::units(400'000);
    spec.market.max_price = base::units(2'000);
    spec.market.budget = base::units(50 * base::kUnitsPerToken);
    spec.market.deadline_blocks = 100'000;
    return spec;
}

base::Outcome<PackedText> pack_text(const DemoOptions& options) {
    PackedText packed;
    packed.folder = options.home.string() + ".packing";
    std::error_code error;
    fs::remove_all(packed.folder, error);
    ASSAY_TRY(make_private_folders(packed.folder));
    fs::path text;
    if (options.text) {
        text = *options.text;
    } else {
        ASSAY_ASSIGN(text, bible_text(packed.folder));
    }
    const auto bytes = fs::file_size(text, error);
    trainer::PackOptions packing;
    packing.texts = {text};
    packing.out = packed.folder;
    packing.form = trainer::TextForm::kPlain;
    packing.vocabulary = vocabulary_for(error ? 0 : bytes);
    packing.source = options.text ? options.text->filename().string() : "Debian bible-kjv-text";
    packing.licence = options.text ? "unknown" : "public domain";
    auto manifest = trainer::pack(packing);
    if (!manifest.ok()) {
        fs::remove_all(packed.folder, error);
        return base::failed(manifest.error());
    }
    packed.manifest = std::move(manifest).value();
    return packed;
}

base::Outcome<JobFile> write_job(const DemoOptions& options, const PackedText& packed) {
    std::error_code error;
    fs::rename(packed.folder, options.home / "data", error);
    if (error) {
        return fail(ErrorKind::kFailure,
                    "cannot move the packed text into " + options.home.string() + ": " + error.message());
    }
    JobFile job;
    job.spec = demo_job(options);
    job.spec.model.vocabulary = packed.manifest.vocabulary;
    return write_file(options, job);
}

base::Outcome<JobFile> write_profile(const DemoOptions& options, JobFile job, program::Profile profile) {
    job.spec.profile = profile;
    return write_file(options, job);
}

}  // namespace assay::node
