// SPDX-License-Identifier: Apache-2.0
// Gives the ledger the referee of a slot's first state: the base's parameters, with the moments that the slot
// carries or none. Nothing is computed: the claimant opens both roots.
#pragma once

#include "contracts/dispute/referee.hpp"

namespace assay::dispute {

/// Root of an array that is all +0.
Hash256 zero_array_root(const std::vector<program::TensorInfo>& tensors);

/// What the state must be made of. `known`: its counters; its arrays are not looked at.
struct StartFacts {
    const std::vector<program::TensorInfo>* tensors = nullptr;
    program::StateRoots known;
    Hash256 base;     ///< root of the round's base
    Hash256 carried;  ///< carried_root of what the slot goes on with; zero: nothing
};

/// Whether `start` is that state. Witness: the parameters' root and its siblings up to the base; where
/// something is carried, the roots of both moments.
GameVerdict judge_start(const StartFacts& facts, const Hash256& start, base::ByteView witness);

/// The witness, from the roots of a base state and of the state that starts from it.
base::Bytes start_witness(const program::StateRoots& base, const program::StateRoots& start, bool carries);

}  // namespace assay::dispute
