// SPDX-License-Identifier: Apache-2.0
// Gives auditors the replay: what a miner claimed for a round, recomputed here from blobs and compared bit
// for bit, with the ledger's verdict checked against the result. Needs no process but a worker.
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

struct ReplayRequest {
    base::Hash256 job;
    std::uint32_t round = 0;
    std::optional<base::PublicKey> miner;  ///< nothing: every miner of the round
    std::optional<std::uint32_t> segment;  ///< nothing: all, and finalise
};

/// What came of one unit.
struct UnitReplay {
    enum class Comparison : std::uint8_t {
        kEqual,    ///< the claimed bits
        kFalse,    ///< others
        kUnknown,  ///< not recomputed: `lacking` says what is not at hand
    };
    std::uint32_t unit = 0;
    Comparison state = Comparison::kUnknown;
    base::Hash256 claimed;
    base::Hash256 recomputed;
    std::string lacking;
};

/// What the units say of the ledger's verdict.
enum class Judgement : std::uint8_t {
    kRight,         ///< it is what the units that decided it give, or it was not decided by bits
    kWrong,         ///< it is not
    kNotReached,    ///< right as far as the request goes; the unit that decided it stands later
    kCannotBeMade,  ///< the unit that decided it, or one of them, cannot be recomputed from these files
};

/// One slot's round, recomputed from its base and what the slot carries, unit by unit, so that honest work
/// needs no miner's blobs. Behind a false state a unit is recomputed from the state that its miner claims,
/// where the store holds one with that root; else from the true one, and is unknown when its root differs:
/// `recomputed` is then what verifiers found who replayed the slot.
struct SlotReplay {
    std::uint32_t slot = 0;
    base::PublicKey miner;
    std::vector<UnitReplay> units;                         ///< ascending, as far as the request goes
    contracts::Reason verdict = contracts::Reason::kNone;  ///< the ledger's
    Judgement judgement = Judgement::kRight;
    std::optional<std::uint32_t>
        judged_by;  ///< the unit on which kWrong, kCannotBeMade or a caught cheat rests
    /// Paid although units that were not drawn are false: by the rules, for work that was not done.
    bool false_work_paid = false;

    [[nodiscard]] std::uint32_t count(UnitReplay::Comparison state) const;
    [[nodiscard]] const UnitReplay* first_wrong() const;  ///< null when none is known to be false
};

/// Sets `judgement`, `judged_by` and `false_work_paid` from the units and what the ledger recorded.
void judge(SlotReplay& replay, const contracts::SlotRound& recorded);

/// Recomputes every revealed slot that the request names. kNotFound: no such job, round or miner, or the
/// data or the base state is not in the store (its id and what it holds are named). kVerification: a base
/// state that is not the one the ledger names. Slots whose miner revealed nothing are left out.
base::Outcome<std::vector<SlotReplay>> replay_round(WorkerClient& worker, const contracts::StateView& state,
                                                    const BlobStore& blobs, const ReplayRequest& request);

}  // namespace assay::node
