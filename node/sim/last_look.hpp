// SPDX-License-Identifier: Apache-2.0
// Gives the simulator a member of a beacon that opens its link last: what the draw with its link would bring
// a cheat and its friends, and what they could expect of another one. Blocks are public, so that it knows all
// links but those of another try.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/sim/behaviour.hpp"

namespace assay::node::sim {

/// Those who stand together, as each of them knows.
struct Coalition {
    std::set<base::PublicKey> verifiers;           ///< they vouch for its miners where all who are drawn do
    std::map<base::PublicKey, FalseUnits> miners;  ///< and what each gets wrong
    bool wins_gain = false;  ///< a false slot that is paid brings what the gain bound counts
};

/// What one link decides. Money in base units.
struct DrawLook {
    std::uint32_t round = 0;
    std::uint32_t index = 0;      ///< of the link in its owner's chain
    std::set<std::uint32_t> met;  ///< slots that lose their claims if it is opened
    double opened = 0;            ///< what the coalition has of the draw with the link
    double another = 0;           ///< what it can expect of a draw without it
    double bond = 0;              ///< what it loses for keeping the link back
    bool withheld = false;
};

/// Looks at the draw that `opened` holds: `state` behind a block with the looker's link, which was the last
/// one of its try. Both values are the sum over the coalition's committed slots of the pay, the gain and the
/// fees of a panel of friends, which computes nothing, or of the bond, lost. That of another draw is the mean
/// over all beacons: everything is drawn, panels are the largest, by the judges' weights without those who
/// withheld. Audits that friends compute count nothing in either: they bring little more than they cost.
/// `withheld`: the other draw is worth more, with the bond taken off where the looker counts it. For a looker
/// that has no accomplice among the members after it this is the optimal play.
DrawLook look_at_draw(const contracts::StateView& state, const contracts::StateView& opened,
                      const contracts::Job& job, const base::PublicKey& looker, const Coalition& coalition,
                      LastLook looks);

/// A verifier that may be drawn.
struct JudgeCandidate {
    base::PublicKey node;
    base::PublicKey owner;
    std::uint64_t weight = 0;
};

/// How likely `count` draws by weight and without replacement, no two of one owner, take friends alone, or as
/// many as there are owners.
double chance_of_friends(const std::vector<JudgeCandidate>& candidates,
                         const std::set<base::PublicKey>& friends, std::size_t count);

}  // namespace assay::node::sim
