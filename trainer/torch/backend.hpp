// SPDX-License-Identifier: Apache-2.0
// Gives the worker what LibTorch offers, behind functions that exist without it too: the file is chosen by
// CMake (ASSAY_TORCH), so that nothing above needs a preprocessor switch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "contracts/program/job_spec.hpp"
#include "trainer/host/arena.hpp"
#include "trainer/step/gemm.hpp"

namespace assay::trainer {

/// Memory for a runner: LibTorch tensors, or the heap.
std::unique_ptr<Arena> make_tensor_arena();

/// "LibTorch 1.13.1 fp32"; empty when there is no peer to compare with.
std::string peer_name();

/// One call is one product of the shape by the peer with `threads` threads. Empty without a peer.
std::function<void()> make_peer_gemm(GemmShape shape, GemmKind kind, int threads);

/// One call is one whole step (forward, backward, clipping, AdamW) of the same model and batch by the peer.
/// Empty without a peer.
std::function<void()> make_peer_step(const program::ModelConfig& model, std::uint32_t batch, int threads);

}  // namespace assay::trainer
