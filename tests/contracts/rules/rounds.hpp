// SPDX-License-Identifier: Apache-2.0
// Plays rounds: every party does in every phase what its manner says. "True" traces follow from (job,
// round, slot) by hashing: to the rules, training is nothing but roots.
#pragma once

#include <map>
#include <string>

#include "tests/contracts/rules/env.hpp"
#include "tests/contracts/rules/states.hpp"

namespace assay::contracts::test {

enum class MinerManner {
    kHonest,
    kAbsent,
    kSilent,     ///< commits, and then posts nothing
    kWithholds,  ///< opens no start, and reveals
    kCheats,
    kBadFinalise,
    kFeignsDivergence,  ///< claims that step 0 diverged
};
enum class VerifierManner {
    kHonest,
    kAbsent,             ///< posts nothing
    kSealsOnly,          ///< seals, never opens
    kLies,               ///< a wrong root of its own
    kAccuses,            ///< the same wrong root as every other accuser
    kColludes,           ///< has the miner's claim from the miner, and repeats it
    kUnserved,           ///< is served no start
    kLeavesOut,          ///< seals all of its slots but the first, if there are others
    kUnservedLeavesOut,  ///< is served no start, and has no time for the first
};
enum class MergeManner {
    kHonest,
    kAbsent,
    kSealsOnly,
    kLies,
    kDiverged,   ///< finds the merged state not finite
    kCensors,    ///< leaves out the first slot
    kConspires,  ///< the same wrong root as every other conspirator
};

enum class HolderManner {
    kHonest,
    kAbsent,  ///< posts no bitmap
    kEmpty,   ///< holds nothing
};

/// Everybody not named is honest and opens its links.
struct Play {
    std::map<std::string, MinerManner> miners = {};
    std::map<std::string, VerifierManner> verifiers = {};
    std::map<std::string, MergeManner> mergers = {};
    std::map<std::string, HolderManner> holders = {};
    std::vector<std::string> withhold_links = {};
    std::map<std::uint32_t, TraceRecord> traces = {};  ///< of slots whose miner claims this one
    std::vector<std::uint32_t> lost_updates = {};      ///< slots whose update nobody gets
};

/// A job with this seed diverges in slot 0, step 3.
inline constexpr std::uint64_t kDivergingSeed = 13;

TraceRecord true_trace(const Job& job, std::uint32_t round, std::uint32_t slot);
/// From which the salts of a slot's trace and seal follow.
Hash256 slot_salt();
/// What a miner of this manner claims for the slot.
TraceRecord claimed_trace(const Job& job, std::uint32_t round, std::uint32_t slot, MinerManner manner);
/// Of everything that the round may merge, or of these slots.
MergeClaim true_merge(const StateView& state, const Job& job, std::uint32_t round);
MergeClaim merge_of(const Job& job, std::uint32_t round, const std::vector<std::uint32_t>& slots);
Hash256 seal_of(const Env& env, const Job& job, const SlotRound& slot, const TraceRecord& trace);

void play_commits(Env& env, const Hash256& job, const Play& play);
/// The links that the running try still waits for, but those of `withheld`.
void open_links(Env& env, const Hash256& job, const std::vector<std::string>& withheld);
BeaconOpen link_of(const Person& who, const Job& job, std::uint32_t index);
/// Tries until the beacon is drawn: who withholds, withholds in the first one.
void play_links(Env& env, const Hash256& job, const Play& play);
void play_serves(Env& env, const Hash256& job, const Play& play);
void play_reveals(Env& env, const Hash256& job, const Play& play);
/// Of the verifiers drawn in this stage, until their time to seal is over.
void play_seals(Env& env, const Hash256& job, const Play& play, Stage stage);
/// Opens what was sealed and is due in this phase.
void play_openings(Env& env, const Hash256& job, const Play& play, RoundPhase phase);
/// The audits of the panel, and of those who confirm.
void play_panel(Env& env, const Hash256& job, const Play& play);
/// The audits of those who are drawn where nobody opened anything.
void play_redraws(Env& env, const Hash256& job, const Play& play);
/// The seal over these claims, with the flags that they have.
AuditSeal audit_seal_of(const Env& env, const Job& job, const Person& who, Stage stage,
                        const std::vector<SlotClaim>& claims, const Hash256& salt, bool unserved = false);
void play_storage(Env& env, const Hash256& job, const Play& play);
/// From the serving of starts to the verdicts: up to the merge.
void play_verdicts(Env& env, const Hash256& job, const Play& play);
/// What a miner of the slot posts in the phases kServe and kReveal of the running round.
RoundServe serve_of(const Env& env, const Hash256& job, std::uint32_t slot, const TraceRecord& trace);
RoundReveal reveal_of(const Env& env, const Hash256& job, std::uint32_t slot, const TraceRecord& trace);
void play_merges(Env& env, const Hash256& job, const Play& play);
/// In its rounds, or between two of them with places to refill.
bool is_running(const Env& env, const Hash256& job);
/// The whole of the running round, or of the refill before it. A phase that someone left open is ended by its
/// deadline.
void play_round(Env& env, const Hash256& job, const Play& play = {});
/// Rounds until the job has ended, at most `limit`.
void play_job(Env& env, const Hash256& job, const Play& play = {}, int limit = 100);

/// Of a settled round: who accuses and told the truth opens its game, and whoever cheated concedes or is
/// silent, in turns.
void play_accusations(Env& env, const Hash256& job, std::uint32_t round, const Play& play);

/// Blocks until no claim of this settled round is open. REQUIRES that the running phase lasts as long.
void let_windows_pass(Env& env, const Hash256& job, std::uint32_t round);

/// The line of this kind about `name` (and `slot`, when given) in a settled round.
SettlementLine line_of(Env& env, const Hash256& job, std::uint32_t round, LineKind kind,
                       const std::string& name);
/// The slot that `name` holds in the running round.
std::uint32_t slot_of(Env& env, const Hash256& job, const std::string& name);

}  // namespace assay::contracts::test
