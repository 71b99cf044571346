// SPDX-License-Identifier: Apache-2.0
// Places of attention's operands in rows of queries, keys and values (qkv), for the device's products.
#pragma once

#include <cstdint>
#include <utility>

#include "contracts/base/check.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/cuda/launch/products.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// The transposed place: rows and columns change places.
inline OperandPlace turned(OperandPlace place) {
    std::swap(place.row_stride, place.col_stride);
    return place;
}
/// The place of shared matrices, each of them only once.
inline OperandPlace once(OperandPlace place) {
    place.inner /= place.sharing;
    place.sharing = 1;
    return place;
}
inline unsigned narrow(std::uint64_t number) {
    ASSAY_CHECK(number <= 0x7fffffffU);
    return static_cast<unsigned>(number);
}

/// Columns of a query head, and of the keys and values that it reads, in a row of qkv.
struct HeadColumns {
    HeadColumns(const program::ModelConfig& model, std::uint64_t head)
        : dim(narrow(model.head_dim())),
          sharing(model.heads / model.key_value_heads()),
          query(head * dim),
          key((model.heads + head / sharing) * dim),
          value(key + std::uint64_t{model.key_value_heads()} * dim) {}
    unsigned dim, sharing;  ///< numbers of a head; query heads that share keys
    std::uint64_t query, key, value;
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
