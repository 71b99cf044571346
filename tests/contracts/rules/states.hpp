// SPDX-License-Identifier: Apache-2.0
// States of which the rules see roots alone, by name. What their roots are made of is remembered, so that a
// miner of a test can show it.
#pragma once

#include <string>

#include "contracts/program/first_state.hpp"

namespace assay::contracts::test {

using base::Hash256;

/// Root of the base state whose parameters have this name.
Hash256 base_named(const std::string& name);
Hash256 remember_base(const program::StateRoots& roots);
/// Root of what a slot carries whose moments have this name.
Hash256 carried_named(const std::string& name, std::uint64_t age);
Hash256 remember_carried(const program::CarriedParts& parts);

/// Nothing is remembered any more.
void forget_states();

/// What shows the first state of a slot. Of a base or of carried moments that have no name: nothing that
/// would be believed.
program::FirstStateParts shown_start(const Hash256& base, const Hash256& carried);
/// The first boundary of such a slot; of roots without a name another hash.
Hash256 first_boundary(const program::JobSpec& spec, const program::FirstStatePlace& place);

}  // namespace assay::contracts::test
