// SPDX-License-Identifier: Apache-2.0
// Gives auditors the replay of a round: it recomputes what a miner claimed from blobs, compares it bit for
// bit, and checks the ledger's verdict against the result. It needs only a worker.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/blob/blob_store.hpp"
#include "node/worker/worker_client.hpp"

namespace assay::node {

/// Brings a blob that the store lacks into it, verified. kNotFound or kUnreachable when nobody gives it,
/// kFailure when this machine cannot keep it; never kVerification, which would be a word about the round.
using BringBlob = std::function<base::Outcome<void>(const BlobId& id)>;

struct ReplayRequest {
    base::Hash256 job;
    std::uint32_t round = 0;
    std::optional<base::PublicKey> miner;  ///< nothing: every miner of the round
    std::optional<std::uint32_t> segment;  ///< nothing: all segments, and finalise
    BringBlob bring = {};                  ///< null: what the store lacks is lacking
};

/// The result of one unit.
struct UnitReplay {
    enum class Comparison : std::uint8_t {
        kEqual,    ///< equal to the claim
        kFalse,    ///< other bits than the claim
        kUnknown,  ///< not recomputed: `lacking` says what is missing
    };
    std::uint32_t unit = 0;
    Comparison state = Comparison::kUnknown;
    base::Hash256 claimed;
    base::Hash256 recomputed;
    std::string lacking;
};

/// How the ledger's verdict agrees with the recomputed units.
enum class Judgement : std::uint8_t {
    kRight,         ///< the units that decided it confirm it, or bits did not decide it
    kWrong,         ///< the units that decided it contradict it
    kNotReached,    ///< right as far as the request goes; a unit that decided it comes later
    kCannotBeMade,  ///< a unit that decided it cannot be recomputed from these files
};

/// One slot's round, recomputed unit by unit from its base and the state that the slot carries, so that
/// honest work needs no miner's blobs. After a false state a unit is recomputed from the state that its miner
/// claims, if the store holds one with that root. Otherwise it is recomputed from the true state, and is
/// unknown when its root differs: `recomputed` is then what verifiers found that replayed the slot.
struct SlotReplay {
    std::uint32_t slot = 0;
    base::PublicKey miner;
    std::vector<UnitReplay> units;                         ///< ascending, as far as the request goes
    contracts::Reason verdict = contracts::Reason::kNone;  ///< the ledger's
    Judgement judgement = Judgement::kRight;
    std::optional<std::uint32_t> judged_by;  ///< the unit that led to another than kRight, or a caught cheat
    /// The slot was paid although units of it are false. The rules pay so for work that was not done: where
    /// those units were not drawn, where nobody recomputed them, and where no accuser won a game.
    bool false_work_paid = false;
    std::optional<std::uint32_t> lost_game;  ///< the game in which its claim died, so that it was not paid
    bool awaits_game = false;  ///< it is accused, and no game has decided yet whether it is paid

    [[nodiscard]] std::uint32_t count(UnitReplay::Comparison state) const;
    /// Every unit that was asked for was recomputed, and is as claimed.
    [[nodiscard]] bool is_equal() const { return count(UnitReplay::Comparison::kEqual) == units.size(); }
    /// These files cannot tell whether its verdict is right, or whether all that it was paid for is.
    [[nodiscard]] bool is_left_open() const;
    [[nodiscard]] const UnitReplay* first_wrong() const;  ///< null when none is known to be false
};

/// The game in which a slot's claim died.
struct KillerGame {
    std::uint32_t number = 0;  ///< of the job's games
    std::uint32_t unit = 0;    ///< of the slot's audit units, the one that was played about
};

/// What became of a slot's claim after its round was settled.
struct ClaimSince {
    bool is_open = false;              ///< its window has not passed: it can still die in a game
    std::optional<KillerGame> killer;  ///< nothing: it did not die
};

/// Sets everything behind `verdict` from the units and from what the ledger recorded of slot and claim.
void judge(SlotReplay& replay, const contracts::SlotRound& recorded, const ClaimSince& since);

/// Recomputes every revealed slot that the request names; leaves out slots whose miner revealed nothing.
/// kNotFound when there is no such job, round or miner, or when the data or the base state is not in the
/// store and nobody brings it (the error names its id and what it holds; with the kind of
/// ReplayRequest::bring where that fails). kVerification for a base state that is not the one that the ledger
/// names.
base::Outcome<std::vector<SlotReplay>> replay_round(WorkerClient& worker, const contracts::StateView& state,
                                                    const BlobStore& blobs, const ReplayRequest& request);

}  // namespace assay::node
