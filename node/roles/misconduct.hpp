// SPDX-License-Identifier: Apache-2.0
// Gives roles and commands Misconduct, the cheating that a role of a devnet can be told to show (`--drill
// NAME`): what it withholds, leaves out or claims without computing it. drill_spec.hpp has the faults of a
// worker.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/roles/onboarding.hpp"

namespace assay::node {

enum class Misconduct : std::uint8_t {
    kWithheldStart,
    kWithheldUpdate,
    kSilentAfterDraw,
    kSquatter,
    kSnipingBidder,
    kThrownClaim,
    kCraftedWitness,
    kRubberStamp,
    kCoinFlip,
    kCopy,
    kLeftOut,
    kLeftOutForAccomplice,
    kBadMerge,
    kCensoredMerge,
    kColludingPanel,
    kLinkWithholding,
    kFalseReplay,
    kGriefingChallenger,
    kDisputeDelay,
    kThrownDispute,
    kStakeExhaustion,
    kStarvingBuyer,
};

struct MisconductRow {
    Misconduct conduct;
    std::string_view name;  ///< the name of the same strategy in the simulator
    WorkRole role;
    std::string_view text;  ///< what the party does, for people
};

/// One row a conduct, in the order of the enum.
std::span<const MisconductRow> misconduct_rows();
std::string_view to_text(Misconduct conduct);
/// The role's misconduct of this name; nothing when it has none.
std::optional<Misconduct> find_misconduct(WorkRole role, std::string_view name);
std::vector<std::string> misconduct_names(WorkRole role);
/// "NAME: text; NAME: text" for a role.
std::string misconduct_help(WorkRole role);

/// kUsage on a chain that is no devnet: drills are allowed only on a devnet.
base::Outcome<void> check_may_drill(std::string_view chain_id);

/// Whether a verifier with this misconduct helps a miner that it has to know (`--accomplice`).
bool needs_accomplice(Misconduct conduct);

/// The set of misconducts that a role shows; empty by default.
class Misconducts {
public:
    void add(Misconduct conduct) { bits_ |= bit(conduct); }
    [[nodiscard]] bool any() const { return bits_ != 0; }
    bool operator()(Misconduct conduct) const { return (bits_ & bit(conduct)) != 0; }

private:
    static std::uint32_t bit(Misconduct conduct) {
        return std::uint32_t{1} << static_cast<unsigned>(conduct);
    }
    std::uint32_t bits_ = 0;
};

}  // namespace assay::node
