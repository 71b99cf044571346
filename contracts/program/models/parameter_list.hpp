// SPDX-License-Identifier: Apache-2.0
// ParameterList holds the parameters of a piece of a model, by name and shape, in any order.
// parameter_tensors() puts the parameters of all pieces into the canonical order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "contracts/program/tensors.hpp"

namespace assay::program::models {

class ParameterList {
public:
    TensorInfo& add_matrix(std::string name, std::uint64_t rows, std::uint64_t cols) {
        return tensors_.emplace_back(TensorInfo{.name = std::move(name), .rows = rows, .cols = cols});
    }
    void add_vector(std::string name, std::uint64_t size) {
        tensors_.push_back({.name = std::move(name), .rows = 1, .cols = size, .is_vector = true});
    }
    [[nodiscard]] const std::vector<TensorInfo>& tensors() const { return tensors_; }
    /// Numbers in all of them.
    [[nodiscard]] std::uint64_t size() const {
        std::uint64_t numbers = 0;
        for (const TensorInfo& tensor : tensors_) numbers += tensor.size();
        return numbers;
    }

private:
    std::vector<TensorInfo> tensors_;
};

}  // namespace assay::program::models
