// SPDX-License-Identifier: Apache-2.0
// Gives a simulated world Player, a party: a role with everything of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "node/roles/following_role.hpp"
#include "node/sim/behaviour.hpp"
#include "node/sim/memory_blobs.hpp"
#include "node/sim/memory_ledger.hpp"
#include "node/sim/ports.hpp"
#include "node/sim/stand_in_worker.hpp"

namespace assay::node::sim {

/// A key derived from the world's seed and a name.
base::SecretKey key_of(std::uint64_t seed, const std::string& name);

struct Player {
    /// `owned_by`: the name from which the owner's key is derived.
    Player(std::string called, const std::string& owned_by, WorkRole kind, Conduct behaves,
           std::uint64_t seed, SimClock& clock, const ledger::Genesis& genesis,
           StandInWorker::Accomplice accomplice, SharedWork& shared);

    std::string name;
    WorkRole kind;
    Conduct behaviour;
    base::SecretKey owner, node;
    SeededBytes random;
    TurnTimers timers;
    OfferedTransactions mempool;
    WantedBlobs network;
    MemoryNotes notes;
    StandInWorker worker;
    LastLines log;
    MemoryBlobs blobs;
    MemoryIndex followed;    ///< of a buyer: the state that its role has verified, for the role of its next
                             ///< job
    std::uint64_t seen = 0;  ///< height of the last block that its role was given
    RoleParts parts;
    bool ended = false;
    std::optional<base::Error> error;
    std::unique_ptr<Role> role;

    [[nodiscard]] bool runs() const { return role != nullptr && !ended; }
};

}  // namespace assay::node::sim
