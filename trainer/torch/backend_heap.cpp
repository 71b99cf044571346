// SPDX-License-Identifier: Apache-2.0
// A build without LibTorch: memory from the heap, no peer.
#include "trainer/torch/backend.hpp"

namespace assay::trainer {

std::unique_ptr<Arena> make_tensor_arena() { return make_heap_arena(); }

std::string peer_name() { return {}; }

std::function<void()> make_peer_gemm(GemmShape, GemmKind, int) { return {}; }

std::function<void()> make_peer_step(const program::ModelConfig&, std::uint32_t, int) { return {}; }

}  // namespace assay::trainer
