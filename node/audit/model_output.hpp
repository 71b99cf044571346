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

/// Writes the parameters of `base_state` (a base state file of the job) with the tokenizer's text as a folder
/// that transformers loads; assay.json names the blob that the job started from. `ids` as in
/// ModelFolderOptions: those of the folder that the job started from, if known. `born`: its certificate from
/// certify(); roots of parameters and momentum are filled in. Returns the root of the parameters.
/// kVerification when the bytes are not a base state of this model, or the certificate does not fit them;
/// otherwise as write_model_folder.
base::Outcome<base::Hash256> write_model(const std::filesystem::path& folder, const program::JobSpec& spec,
                                         base::ByteView base_state, const std::string& tokenizer_json,
                                         const trainer::Provenance& provenance,
                                         const trainer::SpecialIds& ids = {},
                                         std::uint64_t max_shard_bytes = trainer::kMaxShardBytes,
                                         std::optional<BirthCertificate> born = std::nullopt);

/// The birth certificate of a model folder, and the root of its file. kNotFound when it has none, as for a
/// model that no ledger's job made; kVerification when its file is no certificate.
struct FolderCertificate {
    BirthCertificate certificate;
    base::Hash256 root;
};
base::Outcome<FolderCertificate> read_certificate(const std::filesystem::path& folder);

/// Lists what in a folder does not match the certificate: weights, shape, tokenizer. The certificate's
/// contradictions() come first. Errors: those of read_model_folder, except kVerification, which becomes a
/// fault.
base::Outcome<std::vector<MetFault>> folder_faults(const std::filesystem::path& path,
                                                   const BirthCertificate& certificate);

}  // namespace assay::node
