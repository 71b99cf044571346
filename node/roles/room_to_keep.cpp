// SPDX-License-Identifier: Apache-2.0
#include "node/roles/room_to_keep.hpp"

#include <algorithm>
#include <cstdio>

#include "node/roles/following_role.hpp"
#include "node/roles/open_rounds.hpp"

namespace assay::node {

namespace {

std::string size_text(std::uint64_t bytes) {
    char text[48];
    std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
    return text;
}

bool concerns(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& node) {
    if (!contracts::is_over(job.phase) && takes_part(job, node)) return true;
    const bool bids =
        job.phase == contracts::JobPhase::kAskCommit || job.phase == contracts::JobPhase::kAskReveal;
    if (bids && contracts::read_ask(state, job.id, node)) return true;
    return !open_rounds(state, job, node).empty();
}

}  // namespace

std::optional<std::string> no_room_to_keep(const contracts::StateView& state, const contracts::Job& job,
                                           const base::PublicKey& node, const StoreRoom& room,
                                           const MostKept& most) {
    std::uint64_t others = 0;
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto other = contracts::read_job(state, id);
        if (id == job.id || !other || !concerns(state, *other, node)) continue;
        others += std::min(most(*other), UINT64_MAX - others);
    }
    const std::uint64_t need = most(job);
    if (StoreRoom{room.whole, std::max(room.pinned, others)}.holds(need)) return std::nullopt;
    return "it can make us keep " + size_text(need) + " until its last window closes, and the store holds " +
           size_text(room.whole) + ", of which " + size_text(room.pinned) +
           " have to stay and other jobs can take " + size_text(others) + " (" + std::string(kNoRoomToKeep) +
           "); give it more with --store-quota, or free some disk space";
}

}  // namespace assay::node
