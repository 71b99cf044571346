// SPDX-License-Identifier: Apache-2.0
// Gives workers and tests tiny jobs of both families in both profiles, whose root every sound machine and
// build agrees on (contracts/worker/self_test.hpp).
#pragma once

#include <string>

#include "trainer/run/job_runner.hpp"

namespace assay::verifier {

/// Those with which self_test_root() runs: the device has a budget of the self-test's own, so that it finds
/// room beside a job, and a fault that is planted in the middle of work is not there yet.
trainer::RunnerOptions self_test_options(const trainer::RunnerOptions& options);

/// For profiles f32, i16 and within each GPT-2, Llama: trains one slot for one round of two segments, merges
/// it and evaluates the result, so that every operator runs; then one step of a wide Llama in i16, whose
/// products go in chunks, and one with long attention. A card also runs these two steps as if it had fewer
/// processors. Returns the hash over the jobs' hashes of trace, merged root and loss bits. Fails with the
/// device's own error where a job was not computed (DeviceFailure), with kFailure where memory was short.
base::Outcome<base::Hash256> self_test_root(const trainer::RunnerOptions& options);

/// Where a device whose root is another one leaves the law: the first operator of those jobs' steps that
/// writes other bits than the law's from the same state ("operator h.0.mlp.c_fc.forward of a step of gpt2 in
/// f32"), else what is wrong as a whole; or why a step cannot be computed. It runs every step operator by
/// operator, here and on device "reference": seconds.
std::string self_test_difference(const trainer::RunnerOptions& options);

}  // namespace assay::verifier
