// SPDX-License-Identifier: Apache-2.0
// Gives the simulator the decision of a beacon member that opens its link last: what the draw with its link
// would bring a cheat and its friends, and what they could expect of another draw. Blocks are public, so it
// knows all links except those of another try.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/sim/behaviour.hpp"

namespace assay::node::sim {

/// Parties that collude and know each other.
struct Coalition {
    std::set<base::PublicKey> verifiers;           ///< they vouch for its miners if all drawn verifiers
                                                   ///< collude
    std::map<base::PublicKey, FalseUnits> miners;  ///< and the units that each gets wrong
    bool wins_gain = false;  ///< a false slot that is paid brings what the gain bound counts
};

/// What one link decides. Money in base units.
struct DrawLook {
    std::uint32_t round = 0;
    std::uint32_t index = 0;      ///< of the link in its owner's chain
    std::set<std::uint32_t> met;  ///< slots whose claims die if the link is opened
    double opened = 0;            ///< what the coalition gains from the draw with the link
    double another = 0;           ///< what it can expect from a draw without the link
    double bond = 0;              ///< what it loses if it withholds the link
    bool withheld = false;
};

/// Evaluates the draw in `opened`, which is `state` after a block with the looker's link, the last one of its
/// try. Both values are sums over the coalition's committed slots. A slot counts with its pay, the gain, and
/// the fees of a panel of friends, which computes nothing; or with the lost bond. The value of another draw
/// is the mean over all beacons, with everything drawn and the largest panels, by the judges' weights without
/// those who withheld. Audits that friends compute count nothing in either value, since they bring little
/// more than they cost. `withheld`: the other draw is worth more, less the bond if the looker counts it. This
/// play is optimal for a looker without an accomplice among the members after it.
DrawLook look_at_draw(const contracts::StateView& state, const contracts::StateView& opened,
                      const contracts::Job& job, const base::PublicKey& looker, const Coalition& coalition,
                      LastLook looks);

/// A verifier that may be drawn.
struct JudgeCandidate {
    base::PublicKey node;
    base::PublicKey owner;
    std::uint64_t weight = 0;
};

/// Probability that `count` draws take only friends. The draws are by weight, without replacement, and no two
/// are of one owner; if there are fewer owners than `count`, as many as there are owners.
double chance_of_friends(const std::vector<JudgeCandidate>& candidates,
                         const std::set<base::PublicKey>& friends, std::size_t count);

}  // namespace assay::node::sim
