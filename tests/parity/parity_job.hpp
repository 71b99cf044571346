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
#include "contracts/base/hash.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::parity {

struct ParityJob {
    std::filesystem::path data;  ///< folder of train.bin and held_out.bin, as `assay data pack` leaves it
    std::filesystem::path out;   ///< file of a training run, folder of a dump
    program::JobSpec spec;
    base::Hash256 text;  ///< of both token files
    /// Of the text and of the words that fix what a run computes and writes: not of paths, of how often it
    /// saves, nor of what computes it, which leaves the bits alone.
    base::Hash256 id;
    std::uint32_t every = 0;               ///< steps between two held-out losses
    std::uint32_t held_out_sequences = 0;  ///< 0: all that the file holds
    std::filesystem::path state;           ///< file in which a run that was stopped goes on; empty: none
    std::uint32_t save = 0;                ///< steps between two saved states
    std::uint32_t until = 0;               ///< the step after which the run stops, at most steps()
    trainer::RunnerOptions runner;
    std::vector<std::uint32_t> train_tokens;
    std::vector<std::uint32_t> held_out_tokens;

    [[nodiscard]] std::uint32_t steps() const { return spec.train.inner_steps; }
    /// Held-out sequences of every held-out loss.
    [[nodiscard]] std::uint64_t held_out() const;
};

/// Reads the words and the token files. kUsage for a word that is not known or a value that does not fit.
base::Outcome<ParityJob> parse_job(std::span<char* const> words);

/// The words with their defaults, for the usage text.
std::string describe_words();

}  // namespace assay::parity
