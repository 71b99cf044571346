// SPDX-License-Identifier: Apache-2.0
#include "node/roles/open_rounds.hpp"

#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "node/roles/state_blobs.hpp"

namespace assay::node {

namespace {

bool is_enlisted(const contracts::Job& job, const base::PublicKey& node) {
    return std::any_of(job.verifiers.begin(), job.verifiers.end(),
                       [&](const auto& entry) { return entry.node == node; });
}

/// Reads it of the state.
KeptRound read_kept(const contracts::StateView& state, const contracts::Job& job,
                    const contracts::RoundProgress& round, std::uint32_t number,
                    const base::PublicKey& node) {
    KeptRound kept{.base = round.base_blob, .blobs = {}};
    const bool enlisted = is_enlisted(job, node);
    const bool settled = round.phase == contracts::RoundPhase::kSettled;
    for (std::uint32_t slot = 0; slot < job.spec.slots; ++slot) {
        const auto claim = contracts::read_claim(state, {job.id, number, contracts::ClaimKind::kSlot, slot});
        const bool own = claim && claim->node == node;
        if (!enlisted && !own) continue;
        // A claim whose unit began with a false start is played from that start: no replay gives it.
        const auto serve = enlisted ? contracts::read_serve(state, job.id, number, slot) : std::nullopt;
        for (const auto& start : serve ? serve->starts : std::vector<contracts::RunStart>{})
            kept.blobs.insert(start.blob);
        kept.blobs.insert(contracts::carried_in(state, job.id, number, slot).blob);
        const bool merged = std::binary_search(round.merged_slots.begin(), round.merged_slots.end(), slot);
        if (settled && !merged && !own) continue;
        if (const auto reveal = contracts::read_reveal(state, job.id, number, slot)) {
            kept.blobs.insert(reveal->update_blob);
            kept.blobs.insert(reveal->carried_blob);
        }
    }
    kept.blobs.erase(BlobId{});
    return kept;
}

}  // namespace

std::vector<std::uint32_t> open_rounds(const contracts::StateView& state, const contracts::Job& job,
                                       const base::PublicKey& node) {
    if (is_enlisted(job, node)) return contracts::list_open_rounds(state, job.id);
    std::set<std::uint32_t> rounds;
    for (const auto kind : {contracts::ClaimKind::kSlot, contracts::ClaimKind::kMerge}) {
        contracts::for_each_claim_of(state, job.id, node, kind, [&](const contracts::ClaimId& id) {
            rounds.insert(id.round);
            return true;
        });
    }
    return {rounds.begin(), rounds.end()};
}

KeptRound OpenRounds::kept(const contracts::StateView& state, const contracts::Job& job, std::uint32_t round,
                           const base::PublicKey& node) {
    const auto known = read_.find({job.id, round});
    if (known != read_.end()) return known->second;
    const auto progress = contracts::read_round_progress(state, job.id, round);
    if (!progress) return {};
    KeptRound kept = read_kept(state, job, *progress, round, node);
    add_arrays(files_, kept.blobs);
    if (progress->phase == contracts::RoundPhase::kSettled) read_[{job.id, round}] = kept;
    return kept;
}

void OpenRounds::forget_all_but(const Rounds& rounds) {
    std::erase_if(read_, [&](const auto& entry) {
        const auto job = std::find_if(rounds.begin(), rounds.end(),
                                      [&](const auto& one) { return one.first == entry.first.first; });
        return job == rounds.end() ||
               !std::binary_search(job->second.begin(), job->second.end(), entry.first.second);
    });
}

}  // namespace assay::node
