// SPDX-License-Identifier: Apache-2.0
// Gives the check of a state what must hold of the claims of one job, and the word for what does not.
// Internal to the rules.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/tables.hpp"

namespace assay::contracts {

using InvariantResult = Result<void, Violation>;

inline InvariantResult broken(std::string what) { return failed(Violation{std::move(what)}); }

/// What is open of claims: they and their indexes.
inline constexpr std::array kClaimTables = {Table::kClaim, Table::kClaimOf, Table::kWindowEnd,
                                            Table::kGameAbout, Table::kDueInGames};

/// What of the claims of a job, and of the games about them, a change touched.
struct TouchedClaims {
    std::set<Bytes> claims;          ///< by key
    std::set<std::uint32_t> games;   ///< by number
    std::set<std::uint32_t> rounds;  ///< whose records say what their claims must be
    std::vector<Bytes> entries;      ///< of the indexes
    std::vector<Bytes> deadlines;    ///< by key: an entry that stands for one came or went
};
/// Adds what a changed key of the job says of it. `present`: its record is there now.
InvariantResult touch_claims(ByteView key, bool present, TouchedClaims& touched);

/// A job without claims has none of these records.
bool has_claim_records(const StateView& state, const Hash256& job);

/// Every claim and every game of the job is what the rules make it, and the indexes name these and nothing
/// else.
InvariantResult check_claims(const StateView& state, const Job& job);
/// The same after a change, as long as it held before: reads the claims and games that were touched, and
/// those of the running round.
InvariantResult check_claims(const StateView& before, const StateView& now, const Job& job,
                             TouchedClaims touched);

}  // namespace assay::contracts
