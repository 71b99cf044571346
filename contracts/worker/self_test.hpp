// SPDX-License-Identifier: Apache-2.0
// The root that every sound machine and build computes for tiny jobs of both families in both profiles (one
// slot's round each, all operators). For roles and workers.
#pragma once

#include "contracts/base/hash.hpp"

namespace assay::worker {

/// The recipe is node/worker/program/self_test.cpp; the number changes only with the definition of a step.
base::Hash256 self_test_golden();

}  // namespace assay::worker
