// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/clocks.hpp"

#include <algorithm>

#include "contracts/base/wide.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

std::uint64_t player_clock(const Params& params, const Job& job) {
    std::uint64_t slowest = 0;
    const auto slower = [&](std::uint64_t speed) {
        if (speed > 0 && (slowest == 0 || speed < slowest)) slowest = speed;
    };
    for (const RosterEntry& entry : job.roster) slower(entry.speed());
    for (const EnlistedVerifier& verifier : job.verifiers) slower(verifier.speed());
    base::Uint128 heights = params.commit_window;
    if (slowest > 0)
        heights = std::min(heights, (base::Uint128{job.slot_work} * 1'000 + slowest - 1) / slowest);
    return static_cast<std::uint64_t>(heights) * 3;
}

std::uint64_t accusing_window(const Params& params, const Job& job) {
    return later(player_clock(params, job), params.dispute_move_window);
}

}  // namespace assay::contracts
