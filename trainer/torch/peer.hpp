// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench` LibTorch as a peer: the same products and training steps in fp32. Only
// assay-libtorch-peer and tests link it: what is verified never passes through LibTorch, and no worker waits
// for its library to load.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "contracts/program/job_spec.hpp"
#include "trainer/step/gemm.hpp"

namespace assay::trainer {

/// Returns "LibTorch 1.13.1 fp32, " and the BLAS it runs on.
std::string peer_name();

/// Returns what computes one product of the shape by LibTorch with `threads` threads in each call.
std::function<void()> make_peer_gemm(GemmShape shape, GemmKind kind, int threads);

/// Returns what makes one whole step (forward, backward, clipping, AdamW) of the model on the same batch in
/// each call.
std::function<void()> make_peer_step(const program::ModelConfig& model, std::uint32_t batch, int threads);

}  // namespace assay::trainer
