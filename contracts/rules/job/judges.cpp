// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/judges.hpp"

#include <algorithm>

#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

std::vector<PublicKey> owners_of(const StateView& state, const std::vector<EnlistedVerifier>& verifiers) {
    std::vector<PublicKey> owners;
    for (const EnlistedVerifier& verifier : verifiers)
        if (!verifier.dropped && !read_node_key(state, verifier.node)->revoked)
            owners.push_back(verifier.owner);
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    return owners;
}

}  // namespace

std::vector<PublicKey> owners_of_judges(const StateView& state, const Job& job) {
    return owners_of(state, job.verifiers);
}

std::vector<PublicKey> owners_of_judges(const StateView& state, const Hash256& job) {
    return owners_of(state,
                     list_values<EnlistedVerifier>(state, KeyBuilder(Table::kPanel).add(job.view()).take()));
}

bool can_be_judged(const std::vector<PublicKey>& judges, const PublicKey& owner, const Params& params) {
    const std::size_t own = std::binary_search(judges.begin(), judges.end(), owner) ? 1 : 0;
    return judges.size() - own >= params.panel_owners_least;
}

}  // namespace assay::contracts
