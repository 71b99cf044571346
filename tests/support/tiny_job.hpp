// SPDX-License-Identifier: Apache-2.0
// A job small enough to train in milliseconds, with data that can be learned from. For tests.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/data/token_file.hpp"

namespace assay::tests {

struct TinyJob {
    program::JobSpec spec;
    std::vector<std::uint32_t> tokens;
    base::Bytes file;  ///< the token file, both training and held-out
};

/// Two slots, two rounds of five inner steps, segments of two (so three segments, the last shorter).
inline TinyJob tiny_job() {
    TinyJob job;
    program::JobSpec& spec = job.spec;
    spec.name = "tiny";
    spec.slots = 2;
    spec.rounds = 2;
    spec.seed = 11;
    spec.model = {program::Family::kGpt2, 2, 16, 2, 12, 29};
    spec.train.inner_steps = 5;
    spec.train.batch = 2;
    spec.train.warmup_steps = 3;
    spec.train.learning_rate = 1e-2F;
    spec.market = {base::units(1), base::units(1), 1};
    spec.security.segment_steps = 2;
    std::uint32_t state = 12345;
    for (std::uint32_t i = 0; i < 601; ++i) {
        state = state * 1664525U + 1013904223U;
        const std::uint32_t noise = (state >> 16) % 3;
        job.tokens.push_back(static_cast<std::uint32_t>((i * 5 + noise) % spec.model.vocabulary));
    }
    job.file = trainer::token_file_bytes(job.tokens, spec.model.vocabulary);
    spec.data.train = base::blob_id(job.file);
    spec.data.held_out = spec.data.train;
    spec.data.train_tokens = job.tokens.size();
    spec.data.held_out_tokens = job.tokens.size();
    return job;
}

}  // namespace assay::tests
