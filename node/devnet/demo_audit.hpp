// SPDX-License-Identifier: Apache-2.0
// Gives the demo what it does after every process has stopped, in addition to the audits (file_audits.hpp):
// it gathers the files, plays its disputes again and writes the model.
#pragma once

#include "node/config/job_file.hpp"
#include "node/devnet/report.hpp"

namespace assay::node {

/// The ledger's state from executing the home's block log; kVerification when a block does not check.
base::Outcome<contracts::MemoryState> final_state(const Devnet& net);

/// Copies data and base states from the buyer's store into HOME/blobs and writes HOME/record.json.
base::Outcome<void> gather_files(const Devnet& net, const contracts::StateView& state,
                                 const contracts::Job& job);

/// Plays each ended game of the job again from the home's blocks, and measures the referee's time here.
/// kVerification when a game ends differently than on the ledger.
base::Outcome<std::vector<DisputeRow>> replay_disputes(const Devnet& net, const contracts::StateView& state,
                                                       const contracts::Job& job);

/// Fills in the held-out loss of the initial model and the text that the model writes before and after
/// training, and writes HOME/model with its certificate. `truth`: the ledger's last state with its evidence.
base::Outcome<void> finish_model(DemoReport& report, const Devnet& net, const contracts::StateView& truth,
                                 const JobFile& file, const contracts::Job& job);

}  // namespace assay::node
