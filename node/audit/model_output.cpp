// SPDX-License-Identifier: Apache-2.0
#include "node/audit/model_output.hpp"

#include "contracts/program/tensors.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::node {

base::Outcome<base::Hash256> write_model(const std::filesystem::path& folder, const program::JobSpec& spec,
                                         base::ByteView base_state, const std::string& tokenizer_json,
                                         const trainer::Provenance& provenance,
                                         const trainer::SpecialIds& ids, std::uint64_t max_shard_bytes) {
    ASSAY_ASSIGN(const auto state,
                 trainer::decode_base_state(base_state, program::parameter_count(spec.model)));
    trainer::Provenance from = provenance;
    if (!spec.initial_blob.is_zero()) from.initial_blob = spec.initial_blob.hex();
    return trainer::write_model_folder(folder,
                                       {.config = spec.model,
                                        .tokenizer_json = tokenizer_json,
                                        .provenance = from,
                                        .ids = ids,
                                        .max_shard_bytes = max_shard_bytes},
                                       state.parameters);
}

}  // namespace assay::node
