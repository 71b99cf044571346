// SPDX-License-Identifier: Apache-2.0
// Gives the simulator what a party does that its role would not do: what its worker answers, what it never
// sends, what it does not serve. A party without any of it is honest.
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
    kFirst,     ///< the first segment: what the slot began with
    kOne,       ///< one segment, another in each slot
    kLast,      ///< the last segment
    kFinalise,  ///< `finalise` alone
    kPlace,     ///< the state at one boundary has its root, and the counters of another step
};

/// How a verifier's word about a unit comes about.
enum class Verdicts : std::uint8_t {
    kComputed,
    kMadeUp,   ///< without computing
    kCoin,     ///< without computing, for every second slot
    kColludes  ///< the false roots of the miners that it stands with, where all who were drawn collude
};

/// How a member of a beacon opens its link, where it waits until all others of the try are open.
enum class LastLook : std::uint8_t {
    kNone,        ///< as its role does
    kCountsBond,  ///< it keeps the link back where another draw is worth more to its friends than its bond
    kAtAnyPrice   ///< where another draw is worth more than this one
};

struct Conduct {
    FalseUnits false_units = FalseUnits::kNone;
    Verdicts verdicts = Verdicts::kComputed;
    bool trains = true;  ///< else its worker never answers
    bool merges_false = false;
    bool serves = true;  ///< else nobody gets a blob of it
    bool serves_miners_alone = false;
    std::set<Traffic> withholds;  ///< blobs that it does not give for these uses
    std::set<contracts::TxType> never_sends;
    Misconducts role = {};      ///< of the role itself
    std::string accomplice;     ///< name of the miner that a conduct of the role stands with; empty: none
    base::Amount ask = {};      ///< of a miner; zero: that of every other
    base::Amount lock = {};     ///< of a verifier, for each job; zero: that of every other
    bool locks_least = false;   ///< of a verifier: what each job takes at the least, whatever `lock` says
    double challenge = 0;       ///< of a verifier: VerifierOptions::challenge
    bool bids_in_half = false;  ///< a miner that asks for about every second job
    /// A verifier that deposits stake when a round's links are to be opened, and withdraws it behind the
    /// draw.
    bool flash_stake = false;
    /// A verifier that takes what another of its kind computed of a slot, if that is drawn for it too.
    bool shares_work = false;
    Quarrel quarrel = Quarrel::kNone;
    std::uint32_t challenges_each = 0;  ///< that it opens by its quarrel against a claim
    bool has_role = true;               ///< else it is registered, has stake, and runs nothing
    bool enlists = true;                ///< of a verifier: VerifierOptions::enlists
    bool defends_lies = false;          ///< its worker answers players with the lie; else it has to concede
    bool crafts_witness = false;        ///< what its worker opens is long and made up
    base::Amount stake = {};            ///< that it deposits; zero: that of every other
    LastLook last_look = LastLook::kNone;  ///< its role opens no link: Misconduct::kLinkWithholding
    bool counts_gain = false;              ///< of who looks last: a miner's fault is sold outside
};

}  // namespace assay::node::sim
