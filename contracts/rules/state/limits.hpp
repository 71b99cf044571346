// SPDX-License-Identifier: Apache-2.0
// Hard bounds on what a transaction may carry, for decoders and checks. They are code, not parameters,
// because decoders rely on them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contracts/program/limits.hpp"

namespace assay::contracts {

inline constexpr std::size_t kMaxTransactionBytes = 512 * 1024;
inline constexpr std::size_t kMaxChainIdBytes = 64;
inline constexpr std::size_t kMaxEndpointBytes = 128;
// How long a list about a job may be follows from the job's own limits (contracts/program/limits.hpp).
inline constexpr std::size_t kMaxSegments = program::kMaxSegments;      ///< boundaries of a trace less one
inline constexpr std::size_t kMaxInnerSteps = program::kMaxInnerSteps;  ///< fingerprints of a trace
inline constexpr std::size_t kMaxClaims = program::kMaxUnits;           ///< unit roots of one audit opening
inline constexpr std::size_t kMaxVerifiers = 64;                        ///< enlisted for one job
inline constexpr std::size_t kMaxAsks = 1'024;                          ///< sealed asks for one job
inline constexpr std::size_t kMaxActiveJobs = 16'384;
inline constexpr std::size_t kMaxLots = 100'000;      ///< asks of the market, sealed or standing
inline constexpr std::size_t kMaxBids = 10'000;       ///< bids of the market in one epoch
inline constexpr std::size_t kMaxLotsTaken = 64;      ///< lots of one instant lease
inline constexpr std::uint32_t kMaxStanding = 1'000;  ///< epochs that a lot stands for
inline constexpr std::size_t kMaxGenesisAccounts = 100'000;
/// The most heights for which a team member's record keeps separate amounts (TeamMember::recent).
inline constexpr std::size_t kMaxTakenAt = 32;
/// The most matured withdrawals that one block pays out: at least as many as a block takes in
/// (transaction_cost.cpp).
inline constexpr std::size_t kMaxReleasesPerBlock = 3'200;
/// The most records of ended jobs that leave the state in one block, and the most bytes of their keys and
/// values; the others leave in the next blocks. The bytes are limited too, because a record may be as long as
/// a transaction. A block then moves at most as much through state and history as eight of the longest
/// transactions carry, plus its last record.
inline constexpr std::size_t kMaxLeavingPerBlock = 4'096;
inline constexpr std::size_t kMaxLeavingBytesPerBlock = 8 * kMaxTransactionBytes;
/// A row of the history ends with the record that reaches one of these.
inline constexpr std::size_t kMaxRowRecords = 512;
inline constexpr std::size_t kMaxRowBytes = 256 * 1024;
/// The most changes of phase that one transaction or block may cause in one job.
inline constexpr int kMaxTransitions = 32;

}  // namespace assay::contracts
