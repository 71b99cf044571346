// SPDX-License-Identifier: Apache-2.0
// Dump: everything that a peer needs to train the same model on the same batches.
#pragma once

#include "contracts/base/error.hpp"
#include "tests/parity/parity_job.hpp"

namespace assay::parity {

/// Writes into the folder job.out:
///   weights.bin   initial parameters, binary32, canonical order
///   batches.bin   uint16 [steps, batch, T+1], the sequences of every step in order
///   held_out.bin  uint16 [sequences, T+1]
///   job.json      sizes, training numbers, and name, shape and offset of every tensor
base::Outcome<void> dump(const ParityJob& job);

}  // namespace assay::parity
