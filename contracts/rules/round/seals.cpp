// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/seals.hpp"

#include <algorithm>

#include "contracts/program/round_law.hpp"
#include "contracts/rules/round/stage_text.hpp"
#include "contracts/rules/state/seal.hpp"

namespace assay::contracts {

std::string_view to_text(Stage stage) {
    switch (stage) {
        case Stage::kPanel: return "panel";
        case Stage::kConfirm: return "confirm";
        case Stage::kRedraw: return "redraw";
    }
    return "unknown";
}

Hash256 commit_seal(std::string_view chain, const CommitStatement& statement) {
    return seal_of("assay/commit", chain, statement);
}

Hash256 commit_salt(const Hash256& slot_salt) { return base::hash("assay/commit/salt", slot_salt.view()); }

std::vector<std::uint32_t> claimed_units(const std::vector<std::uint32_t>& drawn, bool replayed) {
    if (!replayed || drawn.empty()) return drawn;
    std::vector<std::uint32_t> units;
    for (std::uint32_t unit = 0; unit <= drawn.back(); ++unit) units.push_back(unit);
    return units;
}

Hash256 audit_seal(std::string_view chain, const Hash256& job, std::uint32_t round, Stage stage,
                   const PublicKey& verifier, const std::vector<SlotClaim>& claims, const Hash256& salt) {
    return seal_of("assay/seal/audit/v2", chain, job, round, stage, verifier, claims, salt);
}

bool MergeClaim::is_well_formed() const {
    if (!std::all_of(clips.begin(), clips.end(), program::is_clip)) return false;
    return !diverged() || (base_blob.is_zero() && held_out_loss == 0 && clips.empty());
}

Hash256 merge_seal(std::string_view chain, const Hash256& job, std::uint32_t round, const PublicKey& verifier,
                   const MergeClaim& claim, const Hash256& salt) {
    return seal_of("assay/seal/merge/v2", chain, job, round, verifier, claim, salt);
}

Hash256 next_link(const Hash256& link) { return base::hash("assay/beacon-link/v1", link.view()); }

Hash256 follow_link(Hash256 link, std::uint32_t steps) {
    for (std::uint32_t step = 0; step < steps; ++step) link = next_link(link);
    return link;
}

Hash256 chain_tip(const Hash256& secret, std::uint32_t rounds) {
    return follow_link(secret, chain_length(rounds));
}

Hash256 chain_link(const Hash256& secret, std::uint32_t rounds, std::uint32_t index) {
    ASSAY_CHECK(index < chain_length(rounds));
    return follow_link(secret, chain_length(rounds) - 1 - index);
}

}  // namespace assay::contracts
