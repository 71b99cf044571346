// SPDX-License-Identifier: Apache-2.0
#include "node/worker/local_training.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "node/worker/worker_process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tiny_job.hpp"
#include "trainer/run/state_bytes.hpp"

using namespace assay;
using namespace assay::node;

namespace {

struct LocalTrainingBench {
    tests::TinyJob job = tests::tiny_job();
    std::filesystem::path file = std::filesystem::temp_directory_path() /
                                 ("assay-local-training-" + std::to_string(::getpid()) + ".bin");
    std::unique_ptr<WorkerProcess> worker;

    LocalTrainingBench() {
        std::ofstream out(file, std::ios::binary);
        out.write(reinterpret_cast<const char*>(job.file.data()),
                  static_cast<std::streamsize>(job.file.size()));
        out.close();
        WorkerOptions options;
        options.program = std::filesystem::path(std::getenv("ASSAY_BIN_DIR")) / "assay-worker";
        auto started = WorkerProcess::start(options);
        if (!started.ok()) FAIL(started.error().what);
        worker = std::move(started).value();
        const auto opened = open_job(*worker, job.spec, {file.string(), file.string()});
        if (!opened.ok()) FAIL(opened.error().what);
    }
    ~LocalTrainingBench() { std::filesystem::remove(file); }
    LocalTrainingBench(const LocalTrainingBench&) = delete;
    LocalTrainingBench& operator=(const LocalTrainingBench&) = delete;

    LocalTrainingResult train(const LocalTrainingOptions& options) {
        auto result = train_alone(*worker, job.spec, options);
        if (!result.ok()) FAIL(result.error().what);
        return std::move(result).value();
    }
};

RunRecord everything_accepted(const program::JobSpec& spec, const std::vector<base::Hash256>& roots) {
    RunRecord record;
    record.slots = spec.slots;
    for (std::uint32_t round = 0; round + 1 < roots.size(); ++round) {
        record.rounds.push_back({round, roots[round], {{0, 1}, {1, 1}}, std::nullopt, roots[round + 1]});
    }
    return record;
}

}  // namespace

TEST_CASE("a job trained alone lowers its held-out loss and counts its work") {
    LocalTrainingBench bench;
    std::uint64_t last = 0;
    LocalTrainingOptions options;
    options.progress = [&](std::uint64_t done, std::uint64_t all) {
        CHECK(done <= all);
        last = done;
    };
    const auto result = bench.train(options);
    CHECK(result.rounds == 2);
    CHECK(result.steps == 2 * 2 * 5);
    CHECK(last == result.steps);
    CHECK(result.tokens == result.steps * 2 * 12);
    CHECK(result.tokens_per_second > 0);
    CHECK(result.peak_rss_mib > 0);
    REQUIRE(result.loss.size() == 3);
    CHECK_FALSE(result.loss[0].train.has_value());
    REQUIRE(result.loss[1].train.has_value());
    CHECK(result.loss[2].step == 10);
    CHECK(result.loss[2].held_out < result.loss[0].held_out);
}

TEST_CASE("a record in which everything was accepted gives the same model, and a false one is refused") {
    LocalTrainingBench bench;
    const auto initial = initial_state(*bench.worker);
    REQUIRE(initial.ok());
    LocalTrainingOptions one;
    one.rounds = 1;
    const auto first = bench.train(one);
    const auto whole = bench.train({});
    CHECK(first.model_root != whole.model_root);

    LocalTrainingOptions options;
    options.record = everything_accepted(bench.job.spec, {initial->root, first.model_root, whole.model_root});
    CHECK(bench.train(options).model_root == whole.model_root);

    options.record->rounds[1].accepted = {{0, 1}};
    const auto other = train_alone(*bench.worker, bench.job.spec, options);
    REQUIRE_FALSE(other.ok());
    CHECK(other.error().kind == base::ErrorKind::kVerification);
    CHECK(other.error().what.find("round 1") != std::string::npos);
}

TEST_CASE("a round in which nothing was accepted leaves the state as it is") {
    LocalTrainingBench bench;
    RunRecord record;
    record.slots = 2;
    const auto initial = initial_state(*bench.worker);
    REQUIRE(initial.ok());
    record.rounds.push_back({0, initial->root, {}, std::nullopt, initial->root});
    LocalTrainingOptions options;
    options.record = record;
    const auto result = bench.train(options);
    CHECK(result.model_root == initial->root);
    CHECK(result.steps == 0);
    CHECK(result.loss[0].held_out == result.loss[1].held_out);
}

TEST_CASE("bare parameters are evaluated as the job's own") {
    LocalTrainingBench bench;
    const auto initial = initial_state(*bench.worker);
    REQUIRE(initial.ok());
    const auto expected = evaluate_state(*bench.worker, initial->bytes, 0);
    REQUIRE(expected.ok());
    const auto bytes = frames::read_all(*initial->bytes, frames::kMaxBulk);
    REQUIRE(bytes.ok());
    const auto state = trainer::decode_base_state(*bytes, (bytes->size() - 16) / 8);
    REQUIRE(state.ok());
    const auto loss =
        evaluate_model(*bench.worker, bench.job.spec.model, state->parameters, bench.file.string());
    REQUIRE(loss.ok());
    CHECK(loss->loss_bits == expected->loss_bits);
    CHECK(loss->tokens == expected->tokens);
}
