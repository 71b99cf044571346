// SPDX-License-Identifier: Apache-2.0
// Gives the simulator its strategies: who cheats, how, and how often the law predicts that it is caught.
// Strategies that differ only in what a party does differ only in their row.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "node/sim/world.hpp"

namespace assay::node::sim {

/// What is counted: one trial each.
enum class Trial : std::uint8_t {
    kSlot,    ///< a cheat's slot
    kAudit,   ///< a cheat's audit of a slot
    kMerge,   ///< a cheat's merge
    kLink,    ///< a round with a cheat among the beacon's members
    kJob,     ///< a job of a cheat
    kReplay,  ///< a cheat's audit of a slot whose miner opened starts that its units need
    kGame,    ///< a game that a cheat opened, or that followed from its accusation
    kCall     ///< a game of a verifier that was called as voucher for a claim that the coalition had killed
};

/// When a trial counts as caught.
enum class Caught : std::uint8_t {
    kClaimDies,  ///< its bond is lost, in its round's settlement or in a game
    kUnpaid,     ///< it is not paid
    kPenalty,    ///< part of a bond is lost
    kPoorer,     ///< the cheat has less after the job than before
    kNoWork,     ///< the job ends, or is refused, before anybody works for it
    kPlainFee,   ///< nothing of the slot's pay goes to it
    kLosesGame   ///< the game is lost; for an audit or a merge: the game about its accusation
};

/// How often the law finds the cheat, if the drawn panel has an honest member. A panel of one to three
/// verifiers that are all friends finds nothing.
enum class CatchLaw : std::uint8_t {
    kNever,
    kAlways,       ///< whoever is drawn
    kEveryUnit,    ///< every unit is drawn
    kSegments,     ///< 1 - (1 - q)^segments: every segment is false, or every segment's start
    kAnyUnit,      ///< 1 - (1 - q)^segments * (1 - q of `finalise`): a replay from the base finds it in all
    kOneSegment,   ///< q
    kTwoSegments,  ///< 1 - (1 - q)^2
    kFinalise,     ///< q of `finalise`
    kNotFinalise,  ///< 1 - q of `finalise`: a verifier that recomputes it has the bytes
    kHalf,
    kAllButOne,  ///< all of a verifier's audits in a job except one
    /// Unless all of a slot's verifiers are friends of the miner; each is drawn by the weight of what it
    /// locked.
    kUnlessCaptured,
    /// Unless only the two liars among three verifiers are drawn for a slot: a lone one, and one more.
    kUnlessAlone,
};

struct CheatRow {
    std::string_view name;
    std::string_view text;  ///< what the party does, for people
    Trial trial = Trial::kSlot;
    Caught caught = Caught::kClaimDies;
    CatchLaw law = CatchLaw::kSegments;
    bool rate_one = false;   ///< measured with everything drawn
    std::uint64_t rate = 0;  ///< threshold of every unit; zero: kSegmentRate and kFinaliseRate
    double work = 0;         ///< share of the honest work that the cheat does
    std::uint32_t slots = 16;
    std::uint32_t rounds = 1;                          ///< of each job
    int colluding_verifiers = 0;                       ///< of three, in addition to the cheat
    Conduct friends{.verdicts = Verdicts::kColludes};  ///< conduct of these; they lock the least
    WorkRole cheat = WorkRole::kMiner;
    std::size_t keys = 1;   ///< identities of the cheat, each with its own owner
    std::size_t place = 2;  ///< index of the first cheating verifier among the three
    Conduct behaviour;
    /// What the cheat could do instead; profits are compared with what that earns. Nothing: compared with
    /// doing nothing.
    std::optional<Conduct> instead = std::nullopt;
    bool alone = false;        ///< no honest miner asks, so every slot of a job is the cheat's
    bool rival = false;        ///< a third miner asks for about every second job
    bool flash_stake = false;  ///< two friends of the cheat among five verifiers deposit stake for each draw
    std::uint64_t gain_percent = 0;  ///< WorldSetup::gain_percent
    /// Each false slot that is paid and whose claim survives brings the gain bound from outside, as far as
    /// bonds count it.
    bool wins_gain = false;
    bool probation = false;            ///< miners are newcomers
    bool launders = false;             ///< the cheat sells work to itself between its cheats
    double captured = 0;               ///< probability that nobody honest is drawn for a slot
    double challenge = 0;              ///< Conduct::challenge of the honest verifiers of the panel
    base::Amount panel_stake = {};     ///< Conduct::stake of the same
    std::vector<PartySetup> others{};  ///< in addition to miners, panel and buyer
    std::string_view drops_moves_of{};
};

/// In the order of the report. "honest" comes first: nobody cheats.
const std::vector<CheatRow>& strategies();
/// Null when there is none of this name.
const CheatRow* find_strategy(std::string_view name);

/// The rates at which strategies are measured: a quarter of the segments, half of `finalise`.
inline constexpr std::uint64_t kSegmentRate = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kFinaliseRate = std::uint64_t{1} << 63;
inline constexpr std::uint32_t kSegments = 4;
/// For faults that are sold outside: one in ten units drawn, and the highest gain bound that a job may name.
inline constexpr std::uint64_t kGainRate = UINT64_MAX / 10;
inline constexpr std::uint64_t kGainPercent = contracts::Params().gain_bound_max_ppm / 10'000;

/// The rate at which the law finds the strategy; with `third`, in the coalition's world of setup_of().
double predicted_rate(const CheatRow& strategy, bool third);

/// A world with the strategy's cheat in it. With `third`, a coalition: one of the three verifiers, with a
/// third of the locked stake, colludes with the cheat.
WorldSetup setup_of(const CheatRow& strategy, std::uint64_t seed, bool third);

/// Whether a party of setup_of() is an identity of the cheat.
bool is_cheat(const Player& party);
/// Whether a party of setup_of() is honest.
bool is_honest(const Player& party);

}  // namespace assay::node::sim
