// SPDX-License-Identifier: Apache-2.0
// Gives the check of a state what must hold of the claims of one job, and the word for what does not.
// Internal to the rules.
#pragma once

#include <string>
#include <utility>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/job/records.hpp"

namespace assay::contracts {

using InvariantResult = Result<void, Violation>;

inline InvariantResult broken(std::string what) { return failed(Violation{std::move(what)}); }

/// Every slot that was dealt in the running round, and every verifier drawn for its merge, has its claim,
/// with the bond and the pay that the rules give it, and nobody else has one.
InvariantResult check_claims(const StateView& state, const Job& job);
/// The same of the games about them.
InvariantResult check_games(const StateView& state, const Job& job);

}  // namespace assay::contracts
