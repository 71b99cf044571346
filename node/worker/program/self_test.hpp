// SPDX-License-Identifier: Apache-2.0
// Gives workers and tests the self-test: tiny jobs of both families in both profiles, for which every sound
// machine and build computes the same root (contracts/worker/self_test.hpp).
#pragma once

#include <string>

#include "trainer/run/job_runner.hpp"

namespace assay::verifier {

/// The options with which self_test_root() runs. The device gets the self-test's own budget, so that it finds
/// room next to a job, and a fault that is planted in the middle of work is left out.
trainer::RunnerOptions self_test_options(const trainer::RunnerOptions& options);

/// For profiles f32, i16 and within each GPT-2, Llama: trains one slot for one round of two segments, merges
/// it and evaluates the result, so that every operator runs; then one step of a wide Llama in i16, whose
/// products go in chunks, and one with long attention. A card also runs these two steps as if it had fewer
/// processors. Returns the hash over the jobs' hashes of trace, merged root and loss bits. Fails with the
/// device's own error when a job was not computed (DeviceFailure), and with kFailure when memory was short.
base::Outcome<base::Hash256> self_test_root(const trainer::RunnerOptions& options);

/// Describes where a device with a wrong root departs from the law: the first operator of those jobs' steps
/// that writes other bits than the law's from the same state ("operator h.0.mlp.c_fc.forward of a step of
/// gpt2 in f32"), else what is wrong as a whole, or why a step cannot be computed. Runs every step operator
/// by operator, on the device and on "reference", which takes seconds.
std::string self_test_difference(const trainer::RunnerOptions& options);

}  // namespace assay::verifier
