// SPDX-License-Identifier: Apache-2.0
// Gives the simulator Conduct, what a party does that an honest role does not do: what its worker answers,
// what it never sends, what it does not serve. A party with the default Conduct is honest.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "contracts/rules/state/transaction_type.hpp"
#include "node/roles/misconduct.hpp"
#include "node/roles/quarrels.hpp"
#include "node/seams/traffic.hpp"

namespace assay::node::sim {

/// Units of a slot's round that a miner's trace gets wrong.
enum class FalseUnits : std::uint8_t {
    kNone,
    kAll,       ///< every segment; `finalise` follows from them
    kFirst,     ///< the first segment: a false start of the slot
    kOne,       ///< one segment, another in each slot
    kLast,      ///< the last segment
    kFinalise,  ///< `finalise` alone
    kPlace,     ///< the state at one boundary has the right root, but the counters of another step
};

/// How a verifier gets the root that it claims for a unit.
enum class Verdicts : std::uint8_t {
    kComputed,
    kMadeUp,   ///< without computing
    kCoin,     ///< without computing, for every second slot
    kColludes  ///< the false roots of its accomplices, if all verifiers of the slot collude
};

/// How a member of a beacon that waits until all other links of the try are open decides about its own.
enum class LastLook : std::uint8_t {
    kNone,        ///< as its role does
    kCountsBond,  ///< it withholds the link if another draw gains its friends more than its bond
    kAtAnyPrice   ///< it withholds the link if another draw is worth more than this one
};

struct Conduct {
    FalseUnits false_units = FalseUnits::kNone;
    Verdicts verdicts = Verdicts::kComputed;
    bool trains = true;  ///< false: its worker never answers
    bool merges_false = false;
    bool serves = true;  ///< false: nobody gets a blob from it
    bool serves_miners_alone = false;
    std::set<Traffic> withholds;  ///< uses for which it gives no blobs
    std::set<contracts::TxType> never_sends;
    Misconducts role = {};      ///< misconduct of the role itself
    std::string accomplice;     ///< name of the miner that a misconduct of the role helps; empty: none
    base::Amount ask = {};      ///< of a miner; zero: the default ask
    base::Amount lock = {};     ///< of a verifier, for each job; zero: the default lock
    bool locks_least = false;   ///< of a verifier: it locks the least that each job takes, whatever `lock` is
    double challenge = 0;       ///< of a verifier: VerifierOptions::challenge
    bool bids_in_half = false;  ///< a miner that asks for about every second job
    /// A verifier that deposits stake before a round's links are opened, and withdraws it after the draw.
    bool flash_stake = false;
    /// A verifier that takes over what another verifier of this conduct computed of a slot, if both are drawn
    /// for it.
    bool shares_work = false;
    Quarrel quarrel = Quarrel::kNone;
    std::uint32_t challenges_each = 0;     ///< challenges that its quarrel opens against one claim
    bool has_role = true;                  ///< false: it is registered, has stake, and runs nothing
    bool enlists = true;                   ///< of a verifier: VerifierOptions::enlists
    bool defends_lies = false;             ///< its worker answers players with the false result; otherwise it
                                           ///< has to concede
    bool crafts_witness = false;           ///< its worker opens a long made-up witness
    base::Amount stake = {};               ///< what it deposits; zero: the default stake
    LastLook last_look = LastLook::kNone;  ///< its role opens no link: Misconduct::kLinkWithholding
    bool counts_gain = false;              ///< with `last_look`: a miner's fault is sold outside
};

}  // namespace assay::node::sim
