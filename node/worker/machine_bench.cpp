// SPDX-License-Identifier: Apache-2.0
#include "node/worker/machine_bench.hpp"

#include <fstream>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/program.hpp"
#include "node/worker/measure.hpp"
#include "trainer/data/token_file.hpp"

namespace assay::node {

namespace {

constexpr std::uint32_t kSteps = 8;
constexpr std::uint32_t kTokens = 20'000;

/// One slot of a model that every machine holds, on tokens that follow from their places.
program::JobSpec bench_spec(program::Profile profile) {
    program::JobSpec spec;
    spec.name = "bench";
    spec.profile = profile;
    spec.slots = 1;
    spec.rounds = 1;
    spec.seed = 1;
    spec.model = {.family = program::Family::kGpt2,
                  .layers = 2,
                  .width = 128,
                  .heads = 4,
                  .context = 64,
                  .vocabulary = 512};
    spec.train.inner_steps = kSteps;
    spec.train.batch = 4;
    spec.train.learning_rate = 1e-3F;
    spec.security.segment_steps = kSteps;
    spec.market = {base::units(1), base::units(1), 1};
    return spec;
}

/// Removes the file with itself.
struct BenchFile {
    std::filesystem::path path;
    ~BenchFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

}  // namespace

base::Outcome<double> bench_machine(const WorkerOptions& options, program::Profile profile,
                                    const std::filesystem::path& folder) {
    program::JobSpec spec = bench_spec(profile);
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t i = 0; i < kTokens; ++i) tokens.push_back(i * 7 % spec.model.vocabulary);
    const base::Bytes file = trainer::token_file_bytes(tokens, spec.model.vocabulary);
    spec.data.train = spec.data.held_out = base::blob_id(file);
    spec.data.train_tokens = spec.data.held_out_tokens = kTokens;
    const BenchFile scratch{folder / "machine-bench.bin"};
    std::ofstream(scratch.path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
    std::error_code error;
    if (std::filesystem::file_size(scratch.path, error) != file.size() || error)
        return base::fail(base::ErrorKind::kFailure, "cannot write " + scratch.path.string(),
                          "free space, or choose another --home");
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start(options));
    ASSAY_ASSIGN(const Measured measured,
                 measure_training(*worker, spec, {scratch.path.string(), scratch.path.string()}, kSteps));
    const double slot_tokens = double{kSteps} * spec.train.batch * spec.model.context;
    return static_cast<double>(program::work_units(spec)) * measured.tokens_per_second / slot_tokens;
}

}  // namespace assay::node
