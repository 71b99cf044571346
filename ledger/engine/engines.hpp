// SPDX-License-Identifier: Apache-2.0
// Opens engines by name, for a ledger node. Only engines.cpp knows which engines exist. A new one is another
// file or folder next to embedded.hpp and another line in engines.cpp.
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

/// The parts of an engine. Everything that is referred to must outlive the engine.
struct EngineParts {
    std::string home;  ///< holds ledger/, whose genesis file must exist
    Disk& disk;
    KeyValueProvider& provider;
    const StateMachine& machine;
    const base::SecretKey& key;  ///< of this node's validator
    EngineClock& clock;
    std::uint64_t block_interval_ms = 100;  ///< least time between two blocks; at least the genesis' interval
    LogOptions log;
    /// Opens although the clock is more than kFarClockMs (believed_clock.hpp) after the last header: its
    /// operator says that it is right. A clock that was lost is likelier than a node that was off so long.
    bool accepts_far_clock = false;
};

/// The names, in the order of the table.
std::vector<std::string> engine_names();

/// Opens the engine: opens its state and executes the missing blocks. Fails with kPreflight when this build
/// has no engine of that name, kKey when it cannot make blocks with the key, kUsage when it cannot serve the
/// set of validators or the clock is far ahead (accepts_far_clock), and with the errors of opening the state
/// (kNotFound, kVerification, kFailure).
Outcome<std::unique_ptr<LedgerEngine>> open_engine(std::string_view name, const EngineParts& parts);

}  // namespace assay::ledger
