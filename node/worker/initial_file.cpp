// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/blob_id.hpp"
#include "node/worker/local_training.hpp"
#include "trainer/model/model_folder.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::node {

base::Outcome<frames::SharedDescriptor> initial_file(JobFile& job) {
    if (job.from.empty()) return frames::SharedDescriptor();
    ASSAY_ASSIGN(auto folder, trainer::read_model_folder(job.from, job.spec.model.context));
    if (!(folder.config == job.spec.model)) {
        return base::fail(base::ErrorKind::kUsage,
                          "the model folder " + job.from.string() + " changed while the job file was read",
                          "try again when nothing writes to the folder");
    }
    const base::Bytes bytes = trainer::encode_base_state(trainer::first_state(std::move(folder.parameters)));
    job.spec.initial_blob = base::blob_id(bytes);
    return frames::memory_file("initial state", bytes);
}

}  // namespace assay::node
