// SPDX-License-Identifier: Apache-2.0
// Whole training steps as hashes: the recipe of tests/vectors/golden_steps.txt. Every machine, compiler,
// target, thread count and micro-batch must print the same lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contracts/program/job_spec.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::portability {

using Lines = std::vector<std::string>;

/// A tiny but complete job per family and profile: 2 layers, sizes that are no multiple of a vector,
/// sequences longer than an attention block, one round of 3 steps over batches of 3 sequences; then one step
/// of a wide Llama in i16, whose sums go in chunks.
std::vector<program::JobSpec> golden_jobs();

/// "FAMILY PROFILE step N loss BITS norm BITS state ROOT" per step, by the reference machine
/// (contracts/program/reference_step.hpp). Empty when a step diverged.
Lines reference_lines(const program::JobSpec& spec);

/// The same by the trainer, as a miner runs it. Empty when the runner refused or a step diverged.
Lines trainer_lines(const program::JobSpec& spec, const trainer::RunnerOptions& options);

/// The lines of `file` that are no comment. Empty when it cannot be read.
Lines read_lines(const std::string& file);

/// Compares the reference machine, then the trainer on every target of this machine with threads and
/// micro-batches that change from run to run, with `golden`; says on stdout what was compared. False when a
/// line differs. Where ASSAY_TARGETS names a device, that one alone. With ASSAY_TEST_SHARE every job on the
/// fastest target, one in so many on all.
bool check(const Lines& golden, trainer::Arena* arena);

}  // namespace assay::portability
