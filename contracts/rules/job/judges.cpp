// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/judges.hpp"

#include <algorithm>

#include "contracts/rules/identity/tables.hpp"

namespace assay::contracts {

std::vector<PublicKey> owners_of_judges(const StateView& state, const Job& job) {
    std::vector<PublicKey> owners;
    for (const EnlistedVerifier& verifier : job.verifiers)
        if (!verifier.dropped && !read_node_key(state, verifier.node)->revoked)
            owners.push_back(verifier.owner);
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    return owners;
}

bool can_be_judged(const std::vector<PublicKey>& judges, const PublicKey& owner, const Params& params) {
    const std::size_t own = std::binary_search(judges.begin(), judges.end(), owner) ? 1 : 0;
    return judges.size() - own >= params.panel_owners_least;
}

}  // namespace assay::contracts
