// SPDX-License-Identifier: Apache-2.0
// Gives rules and roles the seals of a round (hiding, binding commitments) and the chains of beacon links:
// every hash that a miner, a verifier or a beacon member computes and the rules compute again. A seal
// covers the chain, the job and its author, so that it means one thing in one place and a copy of it is
// worth nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/program/trace.hpp"

namespace assay::contracts {

using base::Amount;
using base::Bytes;
using base::ByteView;
using base::Hash256;
using base::PublicKey;
using base::Signature;

/// What a miner says it computed in one slot of one round (docs/concepts/round.md, commit). Three of them
/// are the seams of storage certificates and canaries and are zero until those exist.
struct CommitStatement {
    Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    PublicKey miner;
    Hash256 base_root;  ///< of θ_r, as the round record names it
    std::uint32_t segments = 0;
    Hash256 trace_root;  ///< program::trace_root of the TraceRecord
    Hash256 update_root;
    Hash256 ciphertext_root{};  ///< storage certificate: zero
    Hash256 key_commitment{};   ///< key of the encrypted bytes: zero
    Hash256 confession{};       ///< canary: zero
    Hash256 salt;
    std::optional<program::Carried> carried = std::nullopt;  ///< as in the trace; hashed where it is there

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.slot, self.miner, self.base_root, self.segments, self.trace_root,
              self.update_root, self.ciphertext_root, self.key_commitment, self.confession, self.salt);
        if (self.carried) visit(*self.carried);
    }
};
Hash256 commit_seal(std::string_view chain, const CommitStatement& statement);

/// What a verifier found for one drawn unit of one slot.
struct UnitClaim {
    std::uint32_t slot = 0;
    std::uint32_t unit = 0;    ///< of the round plan (contracts/program/round_plan.hpp)
    bool unavailable = false;  ///< the bytes were not served; `root` is then zero
    Hash256 root;              ///< the unit root that this verifier computed (program/trace.hpp)

    friend bool operator==(const UnitClaim&, const UnitClaim&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.slot, self.unit, self.unavailable, self.root);
    }
};

/// The first pair of verifiers of a slot or merge, or the one drawn when those two do not settle it.
enum class Stage : std::uint8_t { kPair = 1, kThird = 2 };

Hash256 audit_seal(std::string_view chain, const Hash256& job, std::uint32_t round, Stage stage,
                   const PublicKey& verifier, const std::vector<UnitClaim>& claims, const Hash256& salt);

/// What the merge of a round gives. A loss is binary32 bits. All three zero claim that θ_{r+1} is not finite:
/// nothing can start from it, so that agreement on it pays the round and ends the job (kMergeDiverged).
struct MergeClaim {
    Hash256 base_root;                ///< of θ_{r+1}
    Hash256 base_blob;                ///< blob id of the base state file
    std::uint32_t held_out_loss = 0;  ///< of θ_{r+1} on the held-out file; program::kNoLoss when not finite

    [[nodiscard]] bool diverged() const { return base_root.is_zero(); }
    /// False for a diverged claim that names a blob or a loss: equal findings have one spelling.
    [[nodiscard]] bool is_well_formed() const {
        return !diverged() || (base_blob.is_zero() && held_out_loss == 0);
    }

    friend auto operator<=>(const MergeClaim&, const MergeClaim&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.base_root, self.base_blob, self.held_out_loss);
    }
};
Hash256 merge_seal(std::string_view chain, const Hash256& job, std::uint32_t round, Stage stage,
                   const PublicKey& verifier, const MergeClaim& claim, const Hash256& salt);

/// One step along a beacon chain, from a link towards the tip: link(r - 1) = next_link(link(r)).
/// A participant with secret `s` registers tip = next_link applied `rounds` times to s, and opens in round
/// r the value with next_link applied rounds - 1 - r times (so that round rounds - 1 opens s itself).
Hash256 next_link(const Hash256& link);
Hash256 chain_tip(const Hash256& secret, std::uint32_t rounds);
/// REQUIRES round < rounds.
Hash256 chain_link(const Hash256& secret, std::uint32_t rounds, std::uint32_t round);

}  // namespace assay::contracts

namespace assay::base {
ASSAY_ENUM_RANGE(contracts::Stage, kPair, kThird);
}  // namespace assay::base
