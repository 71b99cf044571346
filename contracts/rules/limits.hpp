// SPDX-License-Identifier: Apache-2.0
// Hard bounds on what a transaction may carry. They are code, not parameters: a decoder relies on them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::contracts {

inline constexpr std::size_t kMaxTransactionBytes = 512 * 1024;
inline constexpr std::size_t kMaxChainIdBytes = 64;
inline constexpr std::size_t kMaxEndpointBytes = 128;
inline constexpr std::size_t kMaxSlots = 256;          ///< virtual slots of a job
inline constexpr std::size_t kMaxRounds = 10'000;      ///< rounds of a job
inline constexpr std::size_t kMaxSegments = 256;       ///< segments of a slot's round
inline constexpr std::size_t kMaxInnerSteps = 16'384;  ///< fingerprints of a trace
inline constexpr std::size_t kMaxVerifiers = 64;       ///< enlisted for one job
inline constexpr std::size_t kMaxAsks = 1'024;         ///< sealed asks for one job
/// (slot, unit) pairs that one audit opening may claim.
inline constexpr std::size_t kMaxClaims = 8'192;
inline constexpr std::size_t kMaxActiveJobs = 1'024;
inline constexpr std::size_t kMaxGenesisAccounts = 100'000;
/// Matured withdrawals paid out by one block.
inline constexpr std::size_t kMaxReleasesPerBlock = 1'000;
/// Changes of phase that one transaction or block may cause in one job.
inline constexpr int kMaxTransitions = 32;

}  // namespace assay::contracts
