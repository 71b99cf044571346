// SPDX-License-Identifier: Apache-2.0
// Audits a ledger from its files only: no process runs, no index is opened, and everything is recomputed.
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

/// One failed check. `where` names the block ("block 17") or the file.
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
    /// The highest anchor that this ledger confirms: no block up to it was cut off or replaced. Nothing when
    /// no given anchor is about this ledger; then a log that ends too early cannot be detected.
    std::optional<std::uint64_t> anchored;
    std::uint64_t strange_receipts = 0;  ///< found receipts that other validators or another chain signed
    std::vector<AuditFailure> failures;  ///< empty: everything checks
    contracts::MemoryState state;        ///< after block `height`, recomputed; with its history

    [[nodiscard]] bool ok() const { return failures.empty(); }
};

/// A header hash that the auditor trusts from elsewhere; at height 0 the genesis hash.
struct TrustedHeader {
    std::uint64_t height = 0;
    Hash256 hash;
};

/// How a receipt came to the audit.
enum class ReceiptSource : std::uint8_t {
    kGiven,  ///< given for this ledger; one that its validators did not sign is a failure
    kFound,  ///< found in a home, which may have served another ledger before; one that its validators did
             ///< not sign is only counted
};

struct HeldReceipt {
    std::string from;  ///< file, for messages
    ReceiptSource source = ReceiptSource::kGiven;
    Receipt receipt;
};

/// What the ledger must confirm, besides its own rules. Without anchors, a log that was cut at the end of a
/// block is a valid log of a shorter ledger; files alone cannot show the cut.
struct Anchors {
    std::vector<TrustedHeader> headers;
    std::vector<HeldReceipt> receipts;
};

/// Checks a whole ledger in `home`: every byte of the log (frames, chain, header and transaction signatures,
/// the three roots by executing again, invariants each block), the genesis file, and that the ledger confirms
/// every anchor. Stops at the first block that fails, since nothing after it has a meaning. Fails with
/// kNotFound when there is no ledger.
Outcome<AuditReport> audit_ledger(const StateMachine& machine, const std::string& home,
                                  const Anchors& anchors = {});

}  // namespace assay::ledger
