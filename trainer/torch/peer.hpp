// SPDX-License-Identifier: Apache-2.0
// LibTorch as a peer for `assay bench`: the same products and training steps in fp32. Only
// assay-libtorch-peer and tests link it, so nothing that is verified passes through LibTorch, and no worker
// waits for its library to load.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "contracts/program/job_spec.hpp"
#include "trainer/step/gemm.hpp"

namespace assay::trainer {

/// Returns "LibTorch 1.13.1 fp32, " and the BLAS it runs on.
std::string peer_name();

/// Returns a function that computes one product of the shape with LibTorch, on `threads` threads.
std::function<void()> make_peer_gemm(GemmShape shape, GemmKind kind, int threads);

/// Returns a function that does one whole step of the model (forward, backward, clipping, AdamW), on the same
/// batch in each call.
std::function<void()> make_peer_step(const program::ModelConfig& model, std::uint32_t batch, int threads);

}  // namespace assay::trainer
