// SPDX-License-Identifier: Apache-2.0
// The invariants of the claims of one job, for the check of a state, and the error of a broken one. Internal
// to the rules.
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

/// The tables of open claims and their indexes.
inline constexpr std::array kClaimTables = {Table::kClaim, Table::kClaimOf, Table::kWindowEnd,
                                            Table::kGameAbout, Table::kDueInGames};

/// The claims of a job, and the games about them, that a change touched.
struct TouchedClaims {
    std::set<Bytes> claims;          ///< by key
    std::set<std::uint32_t> games;   ///< by number
    std::set<std::uint32_t> rounds;  ///< rounds whose records determine what their claims must be
    std::vector<Bytes> entries;      ///< of the indexes
    std::vector<Bytes> deadlines;    ///< by key: an entry that stands for one came or went
};
/// Adds what a changed key of the job refers to. `present`: its record exists now.
InvariantResult touch_claims(ByteView key, bool present, TouchedClaims& touched);

/// Whether the job has any record about claims. A job without claims has none.
bool has_claim_records(const StateView& state, const Hash256& job);

/// Checks that every claim and every game of the job is what the rules make it, and that the indexes name
/// exactly these.
InvariantResult check_claims(const StateView& state, const Job& job);
/// Checks the same after a change, if it held before. Reads the claims and games that were touched, and those
/// of the running round.
InvariantResult check_claims(const StateView& before, const StateView& now, const Job& job,
                             TouchedClaims touched);

}  // namespace assay::contracts
