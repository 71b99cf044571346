// SPDX-License-Identifier: Apache-2.0
#include "node/audit/model_output.hpp"

#include "contracts/base/blob_id.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/tensors.hpp"
#include "node/worker/local_training.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::node {

namespace {

/// The certificate with the roots of the state's arrays, as a file.
base::Outcome<base::Bytes> certificate_file(BirthCertificate born, const trainer::BaseState& state) {
    const auto tensors = program::parameter_tensors(born.spec.model);
    born.parameters = program::array_root(tensors, state.parameters);
    born.outer = program::array_root(tensors, state.outer_momentum);
    const auto wrong = contradictions(born);
    if (wrong.empty()) return encode_certificate(born);
    return base::fail(base::ErrorKind::kVerification,
                      "what the ledger says of the model does not fit: " + wrong[0],
                      "run: assay audit ledger, on a home of this ledger");
}

}  // namespace

base::Outcome<base::Hash256> write_model(const std::filesystem::path& folder, const program::JobSpec& spec,
                                         base::ByteView base_state, const std::string& tokenizer_json,
                                         const trainer::Provenance& provenance,
                                         const trainer::SpecialIds& ids, std::uint64_t max_shard_bytes,
                                         std::optional<BirthCertificate> born) {
    ASSAY_ASSIGN(const auto state,
                 trainer::decode_base_state(base_state, program::parameter_count(spec.model)));
    trainer::Provenance from = provenance;
    if (!spec.initial_blob.is_zero()) from.initial_blob = spec.initial_blob.hex();
    base::Bytes certificate;
    if (born) {
        ASSAY_ASSIGN(certificate, certificate_file(*std::move(born), state));
    }
    return trainer::write_model_folder(folder,
                                       {.config = spec.model,
                                        .tokenizer_json = tokenizer_json,
                                        .provenance = from,
                                        .ids = ids,
                                        .max_shard_bytes = max_shard_bytes,
                                        .certificate = std::move(certificate)},
                                       state.parameters);
}

base::Outcome<FolderCertificate> read_certificate(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / trainer::kCertificateFile;
    auto file = worker::open_file(path.string());
    if (!file.ok() && file.error().kind == base::ErrorKind::kNotFound) {
        return base::fail(base::ErrorKind::kNotFound, folder.string() + " has no birth certificate",
                          "fetch the model again with: assay job fetch, or assay model export --job");
    }
    if (!file.ok()) return base::failed(file.error());
    ASSAY_ASSIGN(const base::Bytes bytes, worker::read_all(**file, kMaxCertificateBytes));
    auto certificate = decode_certificate(bytes);
    if (certificate.ok()) return FolderCertificate{*std::move(certificate), certificate_root(bytes)};
    return base::fail(
        base::ErrorKind::kVerification,
        path.string() + " is no birth certificate: " + std::string(base::to_text(certificate.error())),
        "fetch the model again");
}

base::Outcome<std::vector<MetFault>> folder_faults(const std::filesystem::path& path,
                                                   const BirthCertificate& certificate) {
    std::vector<MetFault> found;
    for (std::string& what : contradictions(certificate)) found.push_back({"certificate", std::move(what)});
    auto folder = trainer::read_model_folder(path);
    if (!folder.ok() && folder.error().kind == base::ErrorKind::kVerification) {
        found.push_back({"model", folder.error().what});
        return found;
    }
    if (!folder.ok()) return base::failed(folder.error());
    if (folder->parameters_root != certificate.parameters)
        found.push_back({"model", "its parameters have the root " + folder->parameters_root.hex() +
                                      ", the certificate is about " + certificate.parameters.hex()});
    if (folder->config != certificate.spec.model)
        found.push_back({"config.json", "it describes another model than the job's"});
    const bool has_tokenizer = !folder->tokenizer_json.empty();
    if (has_tokenizer &&
        base::blob_id(base::as_bytes(folder->tokenizer_json)) != certificate.spec.data.tokenizer)
        found.push_back({"tokenizer.json", "it is another than the job's"});
    return found;
}

}  // namespace assay::node
