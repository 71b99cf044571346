// SPDX-License-Identifier: Apache-2.0
// The audit of money, for auditors: checks every payment against the rule that produced it, only from the
// records and with separate code. Asks give the price, links the beacons, beacons the drawn units, opened
// audits the verdicts (draw_audit.hpp, verdict_audit.hpp), verdicts the lines, lines the escrow.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/amount.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/rules/state/state.hpp"
#include "ledger/audit/audit.hpp"

namespace assay::ledger {

/// Where a job's money went, in base units. budget + returned = paid + refunded + escrow + delta; unless
/// delta is zero there is a failure.
struct JobPayouts {
    base::Hash256 job;
    std::uint64_t rounds = 0;
    std::uint64_t lines = 0;
    std::uint64_t budget = 0;
    std::uint64_t returned = 0;      ///< penalties that went into the escrow
    std::uint64_t to_miners = 0;     ///< from escrow, without the pay of claims that lost a game
    std::uint64_t to_verifiers = 0;  ///< from escrow: audits, merges, and the fees of right accusers
    std::uint64_t prepaid = 0;       ///< to verifiers from newcomers' registration fees
    std::uint64_t forfeited = 0;     ///< bonds and penalties lost, all parts, in games too
    std::uint64_t refunded = 0;
    std::uint64_t escrow = 0;  ///< still locked; zero unless the job runs
    std::int64_t delta = 0;
};

struct PayoutReport {
    std::vector<JobPayouts> jobs;
    std::uint64_t lines = 0;
    /// `where` names the job, and the round, slot and line if it concerns one ("job 1f0c… round 0 slot 1 line
    /// 2"); `what` begins with the rule: auction, enlistment, beacon, judges, draw, reveal, audit, verdict,
    /// merge, settlement, "… payment", accusation, dispute, escrow or ended job; height is 0.
    std::vector<AuditFailure> failures;

    [[nodiscard]] bool ok() const { return failures.empty(); }
};

/// `state` is AuditReport::state of a valid ledger, with what recover_records and recover_evidence put back.
/// A job with missing records is a failure, and is not among `jobs`.
PayoutReport audit_payouts(const contracts::StateView& state);

}  // namespace assay::ledger
