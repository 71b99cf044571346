// SPDX-License-Identifier: Apache-2.0
// Gives `verifier why` what keeps a verifier from enlisting, from the state alone: for all jobs, and for each
// job that takes enlistments now. Limits that its owner set and what its machine holds are not on the ledger.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/views/obstacle.hpp"

namespace assay::node {

/// A job for which the verifier could enlist now, or could if it were not for the obstacles.
struct OpenEnlistment {
    base::Hash256 job;
    std::string name;
    contracts::JobPhase phase = contracts::JobPhase::kAskCommit;
    base::Amount lock_least;          ///< that an enlistment locks
    base::Amount link_bond;           ///< behind the beacon links, beside it
    std::uint64_t until = 0;          ///< last block of the asking; a job that leases may take some later
    std::vector<Obstacle> obstacles;  ///< empty: the ledger takes its enlistment

    template <class Visit>
    void fields(Visit& visit) const {
        visit("job", job);
        visit("name", name);
        visit("phase", phase);
        visit("lock_least", lock_least);
        visit("link_bond", link_bond);
        visit("until", until);
        visit("obstacles", obstacles);
    }
};

struct VerifierOutlook {
    base::PublicKey node;
    std::vector<base::Hash256> enlisted;  ///< jobs that have not ended and for which it is enlisted
    std::vector<OpenEnlistment> open;     ///< the others that take enlistments
    std::vector<Obstacle> obstacles;      ///< to all enlistments

    template <class Visit>
    void fields(Visit& visit) const {
        visit("node", node);
        visit("enlisted", enlisted);
        visit("open", open);
        visit("obstacles", obstacles);
    }
};

/// REQUIRES a registered verifier.
VerifierOutlook verifier_outlook(const contracts::StateView& state, const base::PublicKey& node);

}  // namespace assay::node
