// SPDX-License-Identifier: Apache-2.0
// CpuDevice::Heads: where the numbers of attention heads lie in rows of qkv and in rows of the model's width.
#pragma once

#include <cstdint>

#include "trainer/cpu/cpu_device.hpp"

namespace assay::trainer {

using arithmetic::HeadOut;
using arithmetic::HeadShape;
using arithmetic::HeadView;

struct CpuDevice::Heads {
    explicit Heads(const program::ModelConfig& model)
        : shape{model.context, model.head_dim()},
          queries(model.heads),
          keys(model.key_value_heads()),
          stride(model.qkv_width()),
          width(model.width) {}

    [[nodiscard]] std::uint64_t square() const { return shape.tokens * shape.tokens; }
    [[nodiscard]] std::uint64_t shared() const { return queries / keys; }
    // Columns of a head in rows of qkv: query head h, the keys of g, the values of g.
    [[nodiscard]] std::uint64_t query(std::uint64_t h) const { return h * shape.head_dim; }
    [[nodiscard]] std::uint64_t key(std::uint64_t g) const { return (queries + g) * shape.head_dim; }
    [[nodiscard]] std::uint64_t value(std::uint64_t g) const { return (queries + keys + g) * shape.head_dim; }

    HeadShape shape;
    std::uint64_t queries;
    std::uint64_t keys;
    std::uint64_t stride;
    std::uint64_t width;
};

}  // namespace assay::trainer
