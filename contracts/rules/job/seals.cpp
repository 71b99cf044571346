// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/seals.hpp"

#include "contracts/rules/state/seal.hpp"

namespace assay::contracts {

Hash256 job_id(const Hash256& submitting_transaction) {
    return base::hash("assay/job-id/v1", submitting_transaction.view());
}

Hash256 ask_seal(std::string_view chain, const Hash256& job, const PublicKey& miner, Amount price,
                 const Hash256& salt) {
    return seal_of("assay/seal/ask/v1", chain, job, miner, price, salt);
}

}  // namespace assay::contracts
