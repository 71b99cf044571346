// SPDX-License-Identifier: Apache-2.0
// Gives the demo what it does after every process has stopped, beside the audits (file_audits.hpp): bring the
// files together, play its disputes again, write the model.
#pragma once

#include "node/config/job_file.hpp"
#include "node/devnet/report.hpp"

namespace assay::node {

/// The ledger's state as executing the home's block log gives it; kVerification when it does not check.
base::Outcome<contracts::MemoryState> final_state(const Devnet& net);

/// Copies data and base states from the buyer's store into HOME/blobs and writes HOME/record.json.
base::Outcome<void> gather_files(const Devnet& net, const contracts::StateView& state,
                                 const contracts::Job& job);

/// The games of the job that have ended, each played again from the home's blocks, with the time that the
/// referee takes here. kVerification when one does not come out as the ledger has it.
base::Outcome<std::vector<DisputeRow>> replay_disputes(const Devnet& net, const contracts::StateView& state,
                                                       const contracts::Job& job);

/// Held-out loss of the initial model, text that the model writes before and after, and HOME/model with its
/// certificate. `truth` is the ledger's last state with its evidence.
base::Outcome<void> finish_model(DemoReport& report, const Devnet& net, const contracts::StateView& truth,
                                 const JobFile& file, const contracts::Job& job);

}  // namespace assay::node
