// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/clocks.hpp"

#include <algorithm>
#include <limits>

#include "contracts/base/wide.hpp"
#include "contracts/rules/round/seal_window.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

std::uint64_t player_clock(const Params& params, const Job& job, const Round& round,
                           const std::vector<SlotRound>& slots) {
    std::uint64_t slowest = 0;
    const auto slower = [&](std::uint64_t speed) {
        if (speed > 0 && (slowest == 0 || speed < slowest)) slowest = speed;
    };
    for (const RosterEntry& entry : job.roster) slower(entry.speed());
    for (const EnlistedVerifier& verifier : job.verifiers) slower(verifier.speed());
    if (slowest == 0) slower(slowest_miner(job, round, slots));
    base::Uint128 heights = params.commit_window;
    if (slowest > 0)
        heights = std::min(heights, (base::Uint128{job.slot_work} * 1'000 + slowest - 1) / slowest);
    // Miners that seal what they never computed are as fast as they please, and accusers are measured by no
    // round: whoever could audit in time must be able to play, too.
    return std::max(static_cast<std::uint64_t>(heights) * 3, params.audit_seal_window);
}

std::uint64_t accusing_window(const Params& params, const Job& job, const Round& round,
                              const std::vector<SlotRound>& slots, std::uint64_t place) {
    const base::Uint128 clocks = base::Uint128{player_clock(params, job, round, slots)} * place;
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return later(clocks > most ? most : static_cast<std::uint64_t>(clocks), params.dispute_move_window);
}

}  // namespace assay::contracts
