// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/initial.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "contracts/arithmetic/philox.hpp"

namespace assay::program {

namespace {
constexpr double kDeviation = 0.02;

float deviation_of(const TensorInfo& tensor, std::uint32_t layers) {
    // As GPT-2's authors did.
    if (tensor.writes_residual) {
        return static_cast<float>(kDeviation / std::sqrt(2.0 * static_cast<double>(layers)));
    }
    return static_cast<float>(kDeviation);
}

void fill_normal(std::span<float> out, float deviation, std::uint64_t seed, std::uint32_t tensor) {
    const arithmetic::Stream stream(
        {.seed = seed, .purpose = arithmetic::Purpose::kInitialWeights, .slot = tensor});
    for (std::size_t i = 0; i < out.size(); i += 4) {
        const auto z = arithmetic::normals(stream.block(i / 4));
        for (std::size_t j = 0; j < std::min<std::size_t>(4, out.size() - i); ++j)
            out[i + j] = deviation * z[j];
    }
}
}  // namespace

std::vector<float> initial_parameters(const ModelConfig& model, std::uint64_t seed) {
    const auto tensors = parameter_tensors(model);
    std::vector<float> out(parameter_count(model), 0.0F);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const TensorInfo& tensor = tensors[i];
        const std::span<float> values = std::span(out).subspan(tensor.offset, tensor.size());
        if (!tensor.is_vector) {
            fill_normal(values, deviation_of(tensor, model.layers), seed, static_cast<std::uint32_t>(i));
        } else if (tensor.name.ends_with(".weight")) {
            std::fill(values.begin(), values.end(), 1.0F);
        }
    }
    return out;
}

}  // namespace assay::program
