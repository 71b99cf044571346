// SPDX-License-Identifier: Apache-2.0
// Gives a ledger node engines by name. engines.cpp alone knows which there are; a new one is another file or
// folder beside embedded.hpp and another line there.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/sign.hpp"
#include "ledger/engine/clock.hpp"
#include "ledger/engine/engine.hpp"
#include "ledger/store/block_log.hpp"

namespace assay::ledger {

/// What engines are made of. Everything that is referred to outlives the engine.
struct EngineParts {
    std::string home;  ///< holds ledger/, whose genesis file must exist
    Disk& disk;
    KeyValueProvider& provider;
    const StateMachine& machine;
    const base::SecretKey& key;  ///< of this node's validator
    EngineClock& clock;
    std::uint64_t block_interval_ms = 100;  ///< no two blocks closer; the genesis' at least
    LogOptions log;
};

/// The names, in the order of the table.
std::vector<std::string> engine_names();

/// The engine, its state opened and what it lacked executed. kPreflight: this build has none of that name;
/// kKey: the key is none that it can make blocks with; kUsage: a set of validators that it cannot serve; and
/// what opening the state gives (kNotFound, kVerification).
Outcome<std::unique_ptr<LedgerEngine>> open_engine(std::string_view name, const EngineParts& parts);

}  // namespace assay::ledger
