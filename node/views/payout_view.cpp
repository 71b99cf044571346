// SPDX-License-Identifier: Apache-2.0
#include "node/views/payout_view.hpp"

namespace assay::node {

PayoutLines payout_lines(const contracts::StateView& state, const LineFilter& filter) {
    PayoutLines found;
    for (const contracts::Job& job : contracts::list_jobs(state)) {
        const std::uint32_t first = filter.round.value_or(0);
        const std::uint32_t last = filter.round.value_or(job.spec.rounds - 1);
        for (std::uint32_t round = first; round <= last && round < job.spec.rounds; ++round) {
            for (const auto& line : contracts::list_settlement(state, job.id, round)) {
                const bool unpaid = line.paid.is_zero() || !line.lost.is_zero();
                if (line.node != filter.node || (!unpaid && filter.unpaid_only)) continue;
                found.lines.push_back({.job = line.job,
                                       .round = line.round,
                                       .kind = line.kind,
                                       .slot = line.slot,
                                       .reason = line.reason,
                                       .work_units = line.work_units,
                                       .price = line.price,
                                       .paid = line.paid,
                                       .from_escrow = line.from_escrow,
                                       .from_prepaid = line.from_prepaid,
                                       .from_slot = line.from_slot,
                                       .replays = line.replays,
                                       .lost = line.lost,
                                       .evidence = payout_evidence(state, job, line)});
            }
        }
    }
    return found;
}

}  // namespace assay::node
