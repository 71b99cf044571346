// SPDX-License-Identifier: Apache-2.0
// The initial weights of a job's model, from the job's seed.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/program/tensors.hpp"

namespace assay::program {

/// The flat parameter array of round 0. Gains are 1 and biases 0. Matrices are normal with deviation 0.02;
/// for those that write to the residual stream (c_proj of GPT-2, o_proj and down_proj of Llama) the deviation
/// is 0.02 / sqrt(2·layers) (binary64, rounded once), as in GPT-2. Element e of tensor i is deviation ·
/// normals(block e/4)[e mod 4] of the stream (seed, kInitialWeights, slot = i).
std::vector<float> initial_parameters(const ModelConfig& model, std::uint64_t seed);

}  // namespace assay::program
