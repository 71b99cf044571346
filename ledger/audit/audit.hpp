// SPDX-License-Identifier: Apache-2.0
// Gives auditors audits from files alone: no process runs, no index is opened, nothing is believed that is
// not recomputed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/state/state.hpp"
#include "ledger/application/machine.hpp"
#include "ledger/store/block.hpp"

namespace assay::ledger {

/// One thing that does not check. `where` names the block ("block 17") or the file.
struct AuditFailure {
    std::string where;
    std::string what;
    std::uint64_t height = 0;  ///< 0 when the damage belongs to no block
    Hash256 job;               ///< zero when it concerns no job
};

struct AuditReport {
    std::string chain_id;
    std::uint64_t height = 0;        ///< last block that checks
    std::uint64_t transactions = 0;  ///< of those blocks
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;  ///< of the log
    Hash256 genesis;
    Hash256 tip;
    std::uint64_t time_ms = 0;  ///< of the last header checked
    Hash256 state_root;
    /// The highest anchor that this ledger bears out: no block up to it was cut off or replaced. Nothing: no
    /// anchor was given that speaks of this ledger, and a log that ends too early looks like any other.
    std::optional<std::uint64_t> anchored;
    std::uint64_t strange_receipts = 0;  ///< found ones that other validators or another chain signed
    std::vector<AuditFailure> failures;  ///< empty: everything checks
    contracts::MemoryState state;        ///< after block `height`, recomputed; with its history

    [[nodiscard]] bool ok() const { return failures.empty(); }
};

/// A header hash that the auditor believes from elsewhere; at height 0 the genesis hash.
struct TrustedHeader {
    std::uint64_t height = 0;
    Hash256 hash;
};

/// How a receipt came to the audit.
enum class ReceiptSource : std::uint8_t {
    kGiven,  ///< for this ledger: one that its validators did not sign is a failure
    kFound,  ///< in a home, which may have served another ledger before: such a one is only counted
};

struct HeldReceipt {
    std::string from;  ///< file, for messages
    ReceiptSource source = ReceiptSource::kGiven;
    Receipt receipt;
};

/// What the ledger must bear out, besides its own rules. Without any, a log that was cut at the end of a
/// block is a right log of a shorter ledger: files alone cannot tell.
struct Anchors {
    std::vector<TrustedHeader> headers;
    std::vector<HeldReceipt> receipts;
};

/// Checks a whole ledger in `home`: every byte of the log (frames, chain, header and transaction signatures,
/// the three roots by executing again, invariants each block), the genesis file, and that it bears out every
/// anchor. Stops at the first block that does not check, since nothing after it means anything. Error
/// kNotFound: no ledger there.
Outcome<AuditReport> audit_ledger(const StateMachine& machine, const std::string& home,
                                  const Anchors& anchors = {});

}  // namespace assay::ledger
