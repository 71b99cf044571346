// SPDX-License-Identifier: Apache-2.0
// Audits from files alone: no process runs, no index is opened, nothing is believed that is not recomputed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "contracts/rules/state.hpp"
#include "ledger/machine.hpp"

namespace assay::ledger {

/// One thing that does not check. `where` names the block ("block 17") or the file.
struct AuditFailure {
    std::string where;
    std::string what;
    std::uint64_t height = 0;  ///< 0 when the damage belongs to no block
};

struct AuditReport {
    std::string chain_id;
    std::uint64_t height = 0;        ///< last block that checks
    std::uint64_t transactions = 0;  ///< of those blocks
    std::uint64_t refused = 0;       ///< of those, how many carry a refusal code
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;  ///< of the log
    Hash256 genesis;
    Hash256 tip;
    Hash256 state_root;
    std::vector<AuditFailure> failures;  ///< empty: everything checks
    contracts::MemoryState state;        ///< after block `height`, recomputed

    [[nodiscard]] bool ok() const { return failures.empty(); }
};

/// Checks a whole ledger in `home`: every byte of the log (frames, chain, header and transaction signatures,
/// the three roots by executing again, invariants each block) and the genesis file. Stops at the first block
/// that does not check, since nothing after it means anything. Error kNotFound: no ledger there.
Outcome<AuditReport> audit_ledger(const StateMachine& machine, const std::string& home);

}  // namespace assay::ledger
