// SPDX-License-Identifier: Apache-2.0
// Gives `assay model train`, `model eval` and `audit replay` the training, evaluation and sampling of one job
// without a ledger. It uses the same worker and frames as the network, and gives the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "node/config/job_file.hpp"
#include "node/config/record_file.hpp"
#include "node/wire/descriptor.hpp"
#include "node/worker/worker_client.hpp"
#include "node/worker/worker_process.hpp"

namespace assay::node {

/// Token files of a job.
struct JobData {
    std::string train;     ///< path
    std::string held_out;  ///< path
};

/// Makes `spec` the worker's job. `chain_id` matters only for drills. kUsage for a spec that breaks a rule,
/// kNotFound for data that is not there, kVerification for data that is not what the spec names.
base::Outcome<frames::Opened> open_job(WorkerClient& worker, const program::JobSpec& spec,
                                       const JobData& data, const std::string& chain_id = "local");

/// A state's root and bytes.
struct StateFile {
    base::Hash256 root;
    frames::SharedDescriptor bytes;
};

/// Reads and checks the model folder that a job starts from, makes the file of the base state of round 0 and
/// sets `job.spec.initial_blob` to its blob. Returns null for a job that starts from its seed. Call it before
/// open_job. Errors: those of read_model_folder; kUsage when the folder's model shape is no longer that of
/// the job.
base::Outcome<frames::SharedDescriptor> initial_file(JobFile& job);

/// Returns the base state of round 0 of the open job; its root is JobSpec::initial_root. `file`: the file of
/// that state for a job that names one, else null. kVerification when the file is not what the job names.
base::Outcome<StateFile> initial_state(WorkerClient& worker, const frames::SharedDescriptor& file = nullptr);

struct HeldOutLoss {
    float loss = 0;
    std::uint32_t loss_bits = 0;
    std::uint64_t tokens = 0;
};
/// Mean held-out loss of the open job's model with a base state's parameters. `max_sequences` 0: all.
base::Outcome<HeldOutLoss> evaluate_state(WorkerClient& worker, const frames::SharedDescriptor& base_state,
                                          std::uint64_t max_sequences,
                                          const std::optional<base::Hash256>& beacon = std::nullopt);

/// One row of the loss curve, after `step` inner steps of the job. `train` is the mean loss over the accepted
/// slots and the round's steps; nothing before the first round.
struct LossPoint {
    std::uint64_t step = 0;
    std::optional<double> train;
    double held_out = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("step", step);
        visit("train", train);
        visit("held_out", held_out);
    }
};

struct LocalTrainingOptions {
    /// Accepted slots and weights of each round; without it every slot is accepted with weight 1.
    std::optional<RunRecord> record;
    frames::SharedDescriptor initial;  ///< as initial_state() takes it
    /// Rounds to run; 0: all of the record, or all of the job without one.
    std::uint32_t rounds = 0;
    std::uint64_t held_out_sequences = 0;  ///< per evaluation; 0: all
    /// Called after each inner step with the inner steps done in all slots and the total number of inner
    /// steps.
    std::function<void(std::uint64_t, std::uint64_t)> progress;
};

struct LocalTrainingResult {
    base::Hash256 model_root;             ///< root of the base state after the last round
    frames::SharedDescriptor base_state;  ///< its bytes (trainer/run/state_bytes.hpp)
    std::uint32_t rounds = 0;
    std::uint64_t steps = 0;       ///< inner steps, all slots
    std::uint64_t tokens = 0;      ///< trained on
    double tokens_per_second = 0;  ///< while training; evaluation and merging not counted
    double peak_rss_mib = 0;       ///< of the worker process
    std::vector<LossPoint> loss;
};

/// Trains the open job (open_job first). With a record, each round's base root and result root must be the
/// recorded ones; kVerification names the first round where one differs. Diverged slots contribute nothing,
/// as in the network; kVerification for a record that accepts one.
base::Outcome<LocalTrainingResult> train_alone(WorkerClient& worker, const program::JobSpec& spec,
                                               const LocalTrainingOptions& options);

/// Continues `prompt` by `count` tokens.
base::Outcome<std::vector<std::uint32_t>> sample_tokens(WorkerClient& worker,
                                                        const frames::SharedDescriptor& base_state,
                                                        const frames::Sample& request);

/// Loss of bare parameters on a token file, for `assay model eval`. Opens a job with only the model and that
/// file as held-out data, and leaves it open. With a beacon, the loss is over the sequences that it draws,
/// else over the first `max_sequences` (0: all).
base::Outcome<HeldOutLoss> evaluate_model(WorkerClient& worker, const program::ModelConfig& model,
                                          std::span<const float> parameters, const std::string& tokens,
                                          std::uint64_t max_sequences = 0,
                                          const std::optional<base::Hash256>& beacon = std::nullopt);

}  // namespace assay::node
