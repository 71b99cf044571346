// SPDX-License-Identifier: Apache-2.0
// Gives commands a base state as a model folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "node/audit/birth_certificate.hpp"
#include "trainer/model/model_folder.hpp"

namespace assay::node {

/// Writes the parameters of `base_state` (a base state file of the job) with the tokenizer's text as a
/// folder that transformers loads; assay.json names the blob that the job started from. `ids` as in
/// ModelFolderOptions: those of the folder that the job started from, where that is known. Returns the root
/// of the parameters. `born`: its certificate as certify() made it; roots of parameters and momentum are
/// filled in. kVerification when the bytes are not a base state of this model, or the certificate does not
/// fit them; otherwise as write_model_folder.
base::Outcome<base::Hash256> write_model(const std::filesystem::path& folder, const program::JobSpec& spec,
                                         base::ByteView base_state, const std::string& tokenizer_json,
                                         const trainer::Provenance& provenance,
                                         const trainer::SpecialIds& ids = {},
                                         std::uint64_t max_shard_bytes = trainer::kMaxShardBytes,
                                         std::optional<BirthCertificate> born = std::nullopt);

/// The birth certificate of a model folder, and the root of its file. kNotFound: it has none, as a model that
/// was not made by a job of a ledger; kVerification: its file is none.
struct FolderCertificate {
    BirthCertificate certificate;
    base::Hash256 root;
};
base::Outcome<FolderCertificate> read_certificate(const std::filesystem::path& folder);

/// What of a folder is not what the certificate is about: weights, shape, tokenizer. Its contradictions()
/// come first. Errors as read_model_folder's, but for kVerification, which is a fault.
base::Outcome<std::vector<MetFault>> folder_faults(const std::filesystem::path& path,
                                                   const BirthCertificate& certificate);

}  // namespace assay::node
