// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/seals.hpp"

namespace assay::contracts {

namespace {

/// H(tag, chain, fields…), every part in its canonical encoding and so of unambiguous length.
template <class... Fields>
Hash256 seal(std::string_view tag, std::string_view chain, const Fields&... fields) {
    base::Encoder encoder;
    encoder(std::string(chain), fields...);
    return base::hash(tag, std::move(encoder).take());
}

}  // namespace

Hash256 transaction_id(ByteView body) { return base::hash("assay/tx-id/v1", body); }

Hash256 job_id(const Hash256& submitting_transaction) {
    return base::hash("assay/job-id/v1", submitting_transaction.view());
}

Hash256 ask_seal(std::string_view chain, const Hash256& job, const PublicKey& miner, Amount price,
                 const Hash256& salt) {
    return seal("assay/seal/ask/v1", chain, job, miner, price, salt);
}

Hash256 commit_seal(std::string_view chain, const CommitStatement& statement) {
    return seal("assay/seal/commit/v1", chain, statement);
}

Hash256 audit_seal(std::string_view chain, const Hash256& job, std::uint32_t round, Stage stage,
                   const PublicKey& verifier, const std::vector<UnitClaim>& claims, const Hash256& salt) {
    return seal("assay/seal/audit/v1", chain, job, round, stage, verifier, claims, salt);
}

Hash256 merge_seal(std::string_view chain, const Hash256& job, std::uint32_t round, Stage stage,
                   const PublicKey& verifier, const MergeClaim& claim, const Hash256& salt) {
    return seal("assay/seal/merge/v1", chain, job, round, stage, verifier, claim, salt);
}

Hash256 next_link(const Hash256& link) { return base::hash("assay/beacon-link/v1", link.view()); }

Hash256 chain_tip(const Hash256& secret, std::uint32_t rounds) {
    Hash256 link = secret;
    for (std::uint32_t step = 0; step < rounds; ++step) link = next_link(link);
    return link;
}

Hash256 chain_link(const Hash256& secret, std::uint32_t rounds, std::uint32_t round) {
    ASSAY_CHECK(round < rounds);
    return chain_tip(secret, rounds - 1 - round);
}

}  // namespace assay::contracts
