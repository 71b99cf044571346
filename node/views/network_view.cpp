// SPDX-License-Identifier: Apache-2.0
#include "node/views/network_view.hpp"

#include "node/views/supply.hpp"

namespace assay::node {

NetworkView network_view(const contracts::StateView& state) {
    const contracts::Supply supply = contracts::read_supply(state);
    return {.miners = contracts::list_miners(state).size(),
            .verifiers = contracts::list_verifiers(state).size(),
            .jobs = contracts::list_job_ids(state).size(),
            .jobs_active = contracts::list_active_jobs(state).size(),
            .money = {.supply = supply, .delta = supply_delta(supply)}};
}

}  // namespace assay::node
