// SPDX-License-Identifier: Apache-2.0
// Gives tests of whole markets in one thread what the simulator has: each block is executed once for all who
// follow the chain, and each signature is computed once.
#pragma once

#include "contracts/base/verified_signatures.hpp"
#include "ledger/application/executed_blocks.hpp"

namespace assay::test {

/// From the first call to the end of the process. The chain itself executes what it appends apart from it, so
/// that every block still has two executions whose roots are compared.
inline void execute_once() {
    static const base::VerifiedSignatures signatures;
    static const ledger::ExecutedBlocks blocks;
}

}  // namespace assay::test
