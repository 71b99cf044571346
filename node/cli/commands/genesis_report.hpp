// SPDX-License-Identifier: Apache-2.0
// Gives `assay node genesis` and `assay node inspect` what a genesis file says, and whether the rules take
// it.
#pragma once

#include <string>

#include "contracts/rules/apply.hpp"
#include "ledger/store/genesis.hpp"
#include "node/cli/context.hpp"

namespace assay::node {

/// A genesis, and its configuration as the rules read it.
struct ReadGenesis {
    ledger::Genesis genesis;
    contracts::GenesisConfig config;
};

/// Has the rules fill an empty state from it. Errors: kVerification for a configuration that is none, or is
/// of another chain or other validators than the file; kUsage, with the rules' own words, for one that they
/// refuse.
base::Outcome<ReadGenesis> check_genesis(ledger::Genesis genesis);

/// Prints it: with `-o json` one object, else chain, validators, balances, what differs from the defaults,
/// and the hash at the end. `file` is where it lies.
void report_genesis(const Context& context, const std::string& file, const ReadGenesis& read);

}  // namespace assay::node
