// SPDX-License-Identifier: Apache-2.0
// The seals of a round (hiding, binding commitments) and the chains of beacon links, for rules and roles:
// every hash that a miner, a verifier or a beacon member computes and the rules compute again. A seal covers
// the chain, the job and its author, so that it is valid in one place only and a copy of it is worthless.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/program/trace.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/validators.hpp"

namespace assay::contracts {

using base::Amount;
using base::Bytes;
using base::ByteView;
using base::Hash256;
using base::PublicKey;
using base::Signature;

/// What a miner claims to have computed in one slot of one round (docs/concepts/round.md, commit). Update and
/// carried state are leaves of the trace.
struct CommitStatement {
    Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    PublicKey miner;
    Hash256 base_root;   ///< of θ_r, as the round record names it
    Hash256 trace_root;  ///< program::trace_root of the TraceRecord
    Hash256 salt;        ///< commit_salt of the slot's salt

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.slot, self.miner, self.base_root, self.trace_root, self.salt);
    }
};
/// H("assay/commit", chain ‖ statement).
Hash256 commit_seal(std::string_view chain, const CommitStatement& statement);
/// The salt of a slot's seal, H("assay/commit/salt", slot salt). It opens the seal but no leaf of the trace.
Hash256 commit_salt(const Hash256& slot_salt);

/// What a verifier found for one slot.
struct SlotClaim {
    std::uint32_t slot = 0;
    /// A start of the slot's runs was not served, so the verifier computed the slot from the round's base.
    bool replayed = false;
    /// The unit roots that this verifier computed (program/trace.hpp), of claimed_units() in that order.
    std::vector<Hash256> roots;

    friend bool operator==(const SlotClaim&, const SlotClaim&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.slot, self.replayed, self.roots);
    }
};

/// The units that a claim about a slot covers, given the slot's drawn units: the drawn ones, or in a replay
/// every unit up to the last of them.
std::vector<std::uint32_t> claimed_units(const std::vector<std::uint32_t>& drawn, bool replayed);

/// What a verifier was drawn for (panel_rule.hpp), in the order of the draws: a slot's panel, to confirm that
/// its starts are not served, or because nobody drawn before opened anything.
enum class Stage : std::uint8_t { kPanel = 1, kConfirm = 2, kRedraw = 3 };
inline constexpr std::array kStages = {Stage::kPanel, Stage::kConfirm, Stage::kRedraw};

Hash256 audit_seal(std::string_view chain, const Hash256& job, std::uint32_t round, Stage stage,
                   const PublicKey& verifier, const std::vector<SlotClaim>& claims, const Hash256& salt);

/// The result of merging some slots. A loss is binary32 bits. A claim without a root (diverged) claims that
/// θ_{r+1} is not finite. Nothing can start from such a state, so if the claim stands, the round is paid and
/// the job ends (kMergeDiverged).
struct MergeClaim {
    Bytes slots;                       ///< the slots whose updates were merged, as storage_bits() writes them
    std::vector<std::uint32_t> clips;  ///< program::update_clip of each of them, ascending by slot; empty in
                                       ///< jobs without a norm bound
    Hash256 base_root;                 ///< of θ_{r+1}: parameters, outer state and step count
    Hash256 base_blob;                 ///< blob id of the base state file
    std::uint32_t held_out_loss = 0;   ///< of θ_{r+1} on the held-out file; program::kNoLoss when not finite

    [[nodiscard]] bool diverged() const { return base_root.is_zero(); }
    /// False for a diverged claim that names a blob, a loss or clips, because equal findings must have one
    /// encoding. Also false for an impossible clip (program::is_clip).
    [[nodiscard]] bool is_well_formed() const;

    friend auto operator<=>(const MergeClaim&, const MergeClaim&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.slots, self.clips, self.base_root, self.base_blob, self.held_out_loss);
    }
};
Hash256 merge_seal(std::string_view chain, const Hash256& job, std::uint32_t round, const PublicKey& verifier,
                   const MergeClaim& claim, const Hash256& salt);

/// The most members that the beacon of a job can have.
inline constexpr std::uint32_t kMaxBeaconMembers = 1 + kMaxVerifiers + kMaxValidators;
/// The number of links of a chain for a job of so many rounds. Each round opens one link, and each void try
/// one more. A void try has at least one member less than the try before, so that no chain ends before its
/// job.
constexpr std::uint32_t chain_length(std::uint32_t rounds) { return rounds + kMaxBeaconMembers; }
/// One step along a beacon chain, from a link towards the tip: link(k - 1) = next_link(link(k)). Links are
/// numbered by use. A member with secret `s` registers tip = next_link applied chain_length(rounds) times to
/// s, and opens as link k the value with next_link applied chain_length(rounds) - 1 - k times.
Hash256 next_link(const Hash256& link);
/// next_link, applied `steps` times.
Hash256 follow_link(Hash256 link, std::uint32_t steps);
Hash256 chain_tip(const Hash256& secret, std::uint32_t rounds);
/// REQUIRES index < chain_length(rounds).
Hash256 chain_link(const Hash256& secret, std::uint32_t rounds, std::uint32_t index);

}  // namespace assay::contracts

namespace assay::base {
ASSAY_ENUM_RANGE(contracts::Stage, kPanel, kRedraw);
}  // namespace assay::base
