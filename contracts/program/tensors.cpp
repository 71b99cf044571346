// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/tensors.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::program {

std::size_t tensor_index(const std::vector<TensorInfo>& tensors, std::string_view name) {
    const auto at = std::lower_bound(tensors.begin(), tensors.end(), name,
                                     [](const TensorInfo& t, std::string_view n) { return t.name < n; });
    ASSAY_CHECK(at != tensors.end() && at->name == name);
    return static_cast<std::size_t>(at - tensors.begin());
}

}  // namespace assay::program
