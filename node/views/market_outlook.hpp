// SPDX-License-Identifier: Apache-2.0
// Gives views what keeps a job or a miner from success in the next clearing of the market: each obstacle with
// its token and its numbers, from the state alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/views/fitting_lots.hpp"
#include "node/views/lot_class.hpp"
#include "node/views/market_wait.hpp"
#include "node/views/obstacle.hpp"

namespace assay::node {

/// Bytes that a step of a job needs; nothing when that is not known.
using StepBytes = std::function<std::optional<std::uint64_t>(const program::JobSpec& spec)>;

/// Lots that are offered for the next clearing, or left in an epoch, by node.
std::map<base::PublicKey, contracts::LotClass> lots_on_offer(const contracts::StateView& state);

struct JobOutlook {
    base::Hash256 job;
    std::string name;
    std::string phase;
    std::uint32_t gang = 0, most = 0;
    std::uint64_t leased = 0;       ///< lots of the running epoch
    std::uint64_t leased_next = 0;  ///< of the next one
    FittingLots lots;
    std::vector<Obstacle> obstacles;  ///< empty: no obstacle
    std::optional<WaitView> wait;     ///< at the job's cap; for a job without its whole gang

    template <class Visit>
    void fields(Visit& visit) const {
        visit("job", job);
        visit("name", name);
        visit("phase", phase);
        visit("gang", gang);
        visit("most", most);
        visit("leased", leased);
        visit("leased_next", leased_next);
        visit("lots", lots);
        visit("obstacles", obstacles);
        visit("wait", wait);
    }
};

/// `height`: of the state.
JobOutlook job_outlook(const contracts::StateView& state, std::uint64_t height, const contracts::Job& job,
                       const StepBytes& step_bytes);

/// A miner's lot that a job has.
struct MinerLease {
    base::Hash256 job;
    base::Amount price;
    std::uint64_t epoch = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("job", job);
        visit("price", price);
        visit("epoch", epoch);
    }
};

struct MinerOutlook {
    base::PublicKey node;
    std::optional<contracts::LotClass> kind;  ///< of its opened ask
    std::optional<base::Amount> ask;
    std::uint32_t epochs = 0;  ///< in which the ask is still offered
    std::vector<MinerLease> leases;
    std::vector<Obstacle> obstacles;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("node", node);
        visit("class", kind ? std::optional(class_code(*kind)) : std::nullopt);
        visit("ask", ask);
        visit("epochs", epochs);
        visit("leases", leases);
        visit("obstacles", obstacles);
    }
};

/// The same for a miner and the jobs that go on. REQUIRES a registered miner.
MinerOutlook miner_outlook(const contracts::StateView& state, std::uint64_t height,
                           const base::PublicKey& node, const StepBytes& step_bytes);

}  // namespace assay::node
