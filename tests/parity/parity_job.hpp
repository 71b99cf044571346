// SPDX-License-Identifier: Apache-2.0
// ParityJob: what a parity run trains, named by KEY=VALUE words: one round of one slot, so that training is
// plain AdamW with warm-up, without an outer step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::parity {

struct ParityJob {
    std::filesystem::path data;  ///< folder of train.bin and held_out.bin, as `assay data pack` leaves it
    std::filesystem::path out;   ///< file of a training run, folder of a dump
    program::JobSpec spec;
    std::uint32_t held_out_sequences = 0;  ///< 0: all that the file holds
    trainer::RunnerOptions runner;
    std::vector<std::uint32_t> train_tokens;
    std::vector<std::uint32_t> held_out_tokens;

    /// Steps between two held-out losses; a segment of the round is as long.
    [[nodiscard]] std::uint32_t every() const { return spec.security.segment_steps; }
    [[nodiscard]] std::uint32_t steps() const { return spec.train.inner_steps; }
    /// Held-out sequences of every held-out loss.
    [[nodiscard]] std::uint64_t held_out() const;
};

/// Reads the words and the token files. kUsage for a word that is not known or a value that does not fit.
base::Outcome<ParityJob> parse_job(std::span<char* const> words);

/// The words with their defaults, for the usage text.
std::string describe_words();

}  // namespace assay::parity
