// SPDX-License-Identifier: Apache-2.0
// Gives assay-worker --bench: one side of `assay bench`. Prepares a case and times runs of it, by lines on
// stdin and stdout, so that whoever compares can alternate between processes, each with its own
// environment, threads and peak memory. node/worker/program/torch_peer.py answers the same lines for
// PyTorch.
//
//   name                                          name TEXT          of the peer that this build has, or none
//   gemm SIDE KIND TOKENS IN OUT                  ready              a product of a linear layer
//   step SIDE LAYERS WIDTH HEADS CONTEXT VOCABULARY BATCH
//                                                 ready              a GPT-2
//   run N                                         times T1 … TN      seconds of each run of the case
//   peak                                          peak BYTES         largest resident memory so far
//
// KIND: forward, input or weight (its gradients), head-input or head-weight (gradients of the LM head).
// SIDE: f32, i16 (ours) or peer (LibTorch fp32). What cannot be done is answered by `error TEXT`.
#pragma once

#include <cstdio>

#include "trainer/devices/devices.hpp"

namespace assay::verifier {

/// Answers lines of `in` on `out` until `in` ends; ours run on `device`.
void serve_bench(std::FILE* in, std::FILE* out, const trainer::DeviceOptions& device);

}  // namespace assay::verifier
