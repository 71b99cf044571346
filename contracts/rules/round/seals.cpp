// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/seals.hpp"

#include "contracts/rules/state/seal.hpp"

namespace assay::contracts {

Hash256 commit_seal(std::string_view chain, const CommitStatement& statement) {
    return seal_of("assay/seal/commit/v1", chain, statement);
}

Hash256 audit_seal(std::string_view chain, const Hash256& job, std::uint32_t round, Stage stage,
                   const PublicKey& verifier, const std::vector<UnitClaim>& claims, const Hash256& salt) {
    return seal_of("assay/seal/audit/v1", chain, job, round, stage, verifier, claims, salt);
}

Hash256 merge_seal(std::string_view chain, const Hash256& job, std::uint32_t round, Stage stage,
                   const PublicKey& verifier, const MergeClaim& claim, const Hash256& salt) {
    return seal_of("assay/seal/merge/v1", chain, job, round, stage, verifier, claim, salt);
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
