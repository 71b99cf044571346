// SPDX-License-Identifier: Apache-2.0
// Jobs that start from given weights: what the worker takes as their first state, and what it refuses.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "contracts/program/initial.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/tensors.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/worker_process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_job.hpp"
#include "trainer/model/model_folder.hpp"
#include "trainer/run/state_bytes.hpp"

using namespace assay;
using namespace assay::node;

namespace {

/// Initial weights of another seed than the job's.
std::vector<float> other_weights(const program::ModelConfig& model) {
    return program::initial_parameters(model, 12'345);
}

trainer::BaseState first_state(const program::ModelConfig& model) {
    return trainer::first_state(other_weights(model));
}

struct InitialFileBench {
    test::TemporaryFolder folder;
    tests::TinyJob job = tests::tiny_job();
    std::unique_ptr<WorkerProcess> worker;

    InitialFileBench() {
        std::ofstream(folder / "tokens.bin", std::ios::binary)
            .write(reinterpret_cast<const char*>(job.file.data()),
                   static_cast<std::streamsize>(job.file.size()));
        WorkerOptions options;
        options.program = std::filesystem::path(std::getenv("ASSAY_BIN_DIR")) / "assay-worker";
        auto started = WorkerProcess::start(options);
        if (!started.ok()) FAIL(started.error().what);
        worker = std::move(started).value();
    }

    void open() {
        const auto opened = open_job(*worker, job.spec, {folder / "tokens.bin", folder / "tokens.bin"});
        if (!opened.ok()) FAIL(opened.error().what);
    }

    /// The first state as the worker sees it when the job names exactly these bytes.
    base::Outcome<StateFile> offered(const base::Bytes& bytes) {
        job.spec.initial_blob = base::blob_id(bytes);
        open();
        const auto file = frames::memory_file("initial", bytes);
        REQUIRE(file.ok());
        return initial_state(*worker, *file);
    }
};

}  // namespace

TEST_CASE("a job from a model folder has the folder's weights, and its seed orders the data alone") {
    InitialFileBench bench;
    const std::vector<float> weights = other_weights(bench.job.spec.model);
    REQUIRE(
        trainer::write_model_folder(
            bench.folder / "model",
            {.config = bench.job.spec.model, .tokenizer_json = "", .provenance = {}, .max_shard_bytes = 4096},
            weights)
            .ok());
    JobFile file;
    file.spec = bench.job.spec;
    file.from = bench.folder / "model";
    LocalTrainingOptions options;
    const auto read = initial_file(file);
    if (!read.ok()) FAIL(read.error().what);
    options.initial = *read;
    REQUIRE(options.initial != nullptr);
    CHECK_FALSE(file.spec.initial_blob.is_zero());

    std::vector<base::Hash256> results;
    for (const std::uint64_t seed : {11U, 12U}) {
        bench.job.spec = file.spec;
        bench.job.spec.seed = seed;
        bench.open();
        const auto initial = initial_state(*bench.worker, options.initial);
        REQUIRE(initial.ok());
        CHECK(initial->root == program::base_state_root(program::parameter_tensors(file.spec.model), weights,
                                                        std::vector<float>(weights.size(), 0.0F), 0));
        const auto trained = train_alone(*bench.worker, bench.job.spec, options);
        REQUIRE(trained.ok());
        const auto measured =
            evaluate_model(*bench.worker, file.spec.model, weights, bench.folder / "tokens.bin");
        REQUIRE(measured.ok());
        CHECK(trained->loss.front().held_out == static_cast<double>(measured->loss));
        CHECK(trained->loss.back().held_out < trained->loss.front().held_out);
        results.push_back(trained->model_root);
    }
    CHECK(results[0] != results[1]);
}

TEST_CASE("a first state that lies on the disk is given back as it is") {
    InitialFileBench bench;
    const base::Bytes bytes = trainer::encode_base_state(first_state(bench.job.spec.model));
    bench.job.spec.initial_blob = base::blob_id(bytes);
    bench.open();
    std::ofstream(bench.folder / "initial", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const auto file = frames::open_file((bench.folder / "initial").string());
    REQUIRE(file.ok());
    const auto initial = initial_state(*bench.worker, *file);
    if (!initial.ok()) FAIL(initial.error().what);
    CHECK(frames::is_same_file(*initial->bytes, **file));
    CHECK(bench.worker->deaths() == 0);
}

TEST_CASE("a job from its seed needs no file, and gets none") {
    InitialFileBench bench;
    JobFile file;
    file.spec = bench.job.spec;
    const auto none = initial_file(file);
    REQUIRE(none.ok());
    CHECK(*none == nullptr);
    CHECK(file.spec == bench.job.spec);
    bench.open();
    const auto unasked =
        frames::memory_file("initial", trainer::encode_base_state(first_state(bench.job.spec.model)));
    REQUIRE(unasked.ok());
    const auto refused = initial_state(*bench.worker, *unasked);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().what.find("starts from its seed") != std::string::npos);
}

TEST_CASE("a first state that a job may not start from is refused by name") {
    struct Row {
        const char* reason;
        std::function<base::Bytes(trainer::BaseState)> make;
    };
    const auto encoded = [](const trainer::BaseState& state) { return trainer::encode_base_state(state); };
    const std::vector<Row> rows = {
        {"not finite: parameters, element 5",
         [&](trainer::BaseState state) {
             state.parameters[5] = std::numeric_limits<float>::quiet_NaN();
             return encoded(state);
         }},
        {"not finite: parameters, element 0",
         [&](trainer::BaseState state) {
             state.parameters[0] = -std::numeric_limits<float>::infinity();
             return encoded(state);
         }},
        {"this model needs",
         [&](trainer::BaseState state) {
             state.parameters.pop_back();
             return encoded(state);
         }},
        {"outer momentum",
         [&](trainer::BaseState state) {
             state.outer_momentum.back() = -0.0F;
             return encoded(state);
         }},
        {"at step 5",
         [&](trainer::BaseState state) {
             state.step = 5;
             return encoded(state);
         }},
        {"does not begin with ABASE001",
         [&](const trainer::BaseState&) {
             return base::Bytes{1, 2, 3};
         }},
    };
    InitialFileBench bench;
    for (const Row& row : rows) {
        CAPTURE(row.reason);
        const auto refused = bench.offered(row.make(first_state(bench.job.spec.model)));
        REQUIRE_FALSE(refused.ok());
        CAPTURE(refused.error().what);
        CHECK(refused.error().kind == base::ErrorKind::kVerification);
        CHECK(refused.error().what.find(row.reason) != std::string::npos);
    }
    // Right bytes, but not those that the job names; and none at all.
    const base::Bytes good = encoded(first_state(bench.job.spec.model));
    REQUIRE(bench.offered(good).ok());
    trainer::BaseState other = first_state(bench.job.spec.model);
    other.parameters[0] += 1.0F;
    const auto file = frames::memory_file("initial", encoded(other));
    REQUIRE(file.ok());
    const auto swapped = initial_state(*bench.worker, *file);
    REQUIRE_FALSE(swapped.ok());
    CHECK(swapped.error().what.find("has blob id") != std::string::npos);
    const auto missing = initial_state(*bench.worker);
    REQUIRE_FALSE(missing.ok());
    CHECK(missing.error().what.find("starts from a file") != std::string::npos);
}

TEST_CASE("weights that cannot be read make no job") {
    InitialFileBench bench;
    JobFile file;
    file.spec = bench.job.spec;
    file.from = bench.folder / "model";
    const auto refused = [&](base::ErrorKind kind, const std::string& reason) {
        const auto read = initial_file(file);
        REQUIRE_FALSE(read.ok());
        CAPTURE(read.error().what);
        CHECK(read.error().kind == kind);
        CHECK(read.error().what.find(reason) != std::string::npos);
        CHECK(file.spec.initial_blob.is_zero());
    };
    refused(base::ErrorKind::kNotFound, "there is no model folder");
    std::vector<float> weights = other_weights(file.spec.model);
    weights[7] = std::numeric_limits<float>::quiet_NaN();
    const auto write = [&] {
        REQUIRE(trainer::write_model_folder(
                    file.from, {.config = file.spec.model, .tokenizer_json = "", .provenance = {}}, weights)
                    .ok());
    };
    write();
    refused(base::ErrorKind::kUsage, "NaN");
    weights[7] = 0.5F;
    write();
    file.spec.model.layers = 1;
    refused(base::ErrorKind::kUsage, "changed while");
}
