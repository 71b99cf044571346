// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/blob_id.hpp"
#include "node/worker/local_training.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::node {

using base::Outcome;

namespace {

/// A job that is nothing but a model and one token file.
program::JobSpec bare_job(const program::ModelConfig& model, const base::Hash256& file,
                          std::uint64_t tokens) {
    program::JobSpec spec;
    spec.name = "evaluate";
    spec.slots = 1;
    spec.rounds = 1;
    spec.model = model;
    spec.train.inner_steps = 1;
    spec.train.batch = 1;
    spec.train.learning_rate = 1e-3F;
    spec.data.train = file;
    spec.data.held_out = file;
    spec.data.train_tokens = tokens;
    spec.data.held_out_tokens = tokens;
    spec.market = {base::units(1), base::units(1), 1};
    spec.security.segment_steps = 1;
    return spec;
}

}  // namespace

Outcome<HeldOutLoss> evaluate_model(WorkerClient& worker, const program::ModelConfig& model,
                                    std::span<const float> parameters, const std::string& tokens,
                                    std::uint64_t max_sequences, const std::optional<base::Hash256>& beacon) {
    ASSAY_ASSIGN(const auto file, frames::open_file(tokens));
    ASSAY_ASSIGN(const auto mapping, frames::Mapping::of(*file, frames::kMaxBulk));
    ASSAY_ASSIGN(const auto parsed, trainer::parse_token_file(mapping.bytes(), model.vocabulary));
    const auto spec = bare_job(model, base::blob_id(mapping.bytes()), parsed.size());
    ASSAY_TRY(call(worker, frames::OpenJob{"local", spec}, {file, file}));
    const auto state = trainer::first_state({parameters.begin(), parameters.end()});
    ASSAY_ASSIGN(const auto bytes, frames::memory_file("base state", trainer::encode_base_state(state)));
    return evaluate_state(worker, bytes, max_sequences, beacon);
}

}  // namespace assay::node
