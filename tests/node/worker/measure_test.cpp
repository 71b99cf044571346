// SPDX-License-Identifier: Apache-2.0
#include "node/worker/measure.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "node/worker/machine_bench.hpp"
#include "node/worker/worker_process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_job.hpp"

using namespace assay;
using namespace assay::node;

namespace {

JobFile tiny_job_in(const std::filesystem::path& folder) {
    const tests::TinyJob job = tests::tiny_job();
    JobFile file;
    file.spec = job.spec;
    file.train = file.held_out = folder / "tokens.bin";
    std::ofstream(file.train, std::ios::binary)
        .write(reinterpret_cast<const char*>(job.file.data()), static_cast<std::streamsize>(job.file.size()));
    return file;
}

}  // namespace

TEST_CASE("the profile that is clearly faster is chosen, and f32 when there is little in it") {
    CHECK(ProfileSpeeds{1000, 500}.faster() == program::Profile::kF32);
    CHECK(ProfileSpeeds{1000, 1000}.faster() == program::Profile::kF32);
    CHECK(ProfileSpeeds{1000, 1049}.faster() == program::Profile::kF32);
    CHECK(ProfileSpeeds{1000, 1051}.faster() == program::Profile::kI16);
    CHECK(ProfileSpeeds{1000, 3000}.faster() == program::Profile::kI16);
}

TEST_CASE("both profiles of a job are measured, whichever it names") {
    test::TemporaryFolder folder;
    JobFile job = tiny_job_in(folder.path());
    for (const program::Profile profile : {program::Profile::kF32, program::Profile::kI16}) {
        job.spec.profile = profile;
        const auto speeds = measure_profiles(job);
        if (!speeds.ok()) FAIL(speeds.error().what);
        CHECK(speeds->f32 > 0);
        CHECK(speeds->i16 > 0);
    }
}

TEST_CASE("a measurement takes a few steps of the job and says what one needs") {
    test::TemporaryFolder folder;
    const JobFile job = tiny_job_in(folder.path());
    const auto worker = WorkerProcess::start({});
    if (!worker.ok()) FAIL(worker.error().what);
    const JobData data{job.train.string(), job.held_out.string()};
    const auto found = measure_training(**worker, job.spec, data, 2);
    if (!found.ok()) FAIL(found.error().what);
    CHECK(found->tokens_per_second > 0);
    CHECK(found->opened.step_bytes > 3 * 4 * found->opened.parameters);
    const auto lost = measure_training(**worker, job.spec, {"/nowhere", "/nowhere"}, 2);
    REQUIRE_FALSE(lost.ok());
    CHECK(lost.error().kind == base::ErrorKind::kNotFound);
}

TEST_CASE("a machine is benched without a job, slower where its worker rests, and leaves nothing behind") {
    test::TemporaryFolder folder;
    for (const program::Profile profile : {program::Profile::kF32, program::Profile::kI16}) {
        WorkerOptions options;
        options.threads = 1;
        const auto whole = bench_machine(options, profile, folder.path());
        options.duty = 10;
        const auto part = bench_machine(options, profile, folder.path());
        REQUIRE(whole.ok());
        REQUIRE(part.ok());
        CHECK(*part > 0);
        CHECK(*part < *whole / 2);
    }
    CHECK(std::filesystem::is_empty(folder.path()));
    CHECK_FALSE(bench_machine({}, program::Profile::kF32, folder.path() / "nowhere").ok());
}
