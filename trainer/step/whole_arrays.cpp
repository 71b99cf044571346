// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/whole_arrays.hpp"

#include <string>

namespace assay::trainer {

namespace {
base::Failed<base::Error> refuse_arrays(std::string_view operation, const std::string& why) {
    return base::fail(base::ErrorKind::kUsage, std::string(operation) + ": " + why,
                      "give arrays of one and the same model");
}

base::Outcome<void> check_length(std::string_view operation, const std::string& array, std::uint64_t found,
                                 std::uint64_t wanted) {
    if (found == wanted) return {};
    return refuse_arrays(operation,
                         array + " has " + std::to_string(found) + " numbers, not " + std::to_string(wanted));
}

base::Outcome<std::uint64_t> length_of(std::string_view operation,
                                       const std::vector<program::TensorInfo>& tensors) {
    if (tensors.empty()) return refuse_arrays(operation, "there is no tensor");
    return tensors.back().offset + tensors.back().size();
}
}  // namespace

base::Outcome<void> check_roots(const std::vector<program::TensorInfo>& tensors,
                                std::span<const DeviceView> arrays) {
    ASSAY_ASSIGN(const std::uint64_t length, length_of("roots", tensors));
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        ASSAY_TRY(check_length("roots", "array " + std::to_string(i), arrays[i].size(), length));
    }
    return {};
}

base::Outcome<void> check_update_root(const std::vector<program::TensorInfo>& tensors,
                                      std::span<const std::int64_t> update) {
    ASSAY_ASSIGN(const std::uint64_t length, length_of("update root", tensors));
    return check_length("update root", "the update", update.size(), length);
}

base::Outcome<void> check_finalise(DeviceView start, DeviceView end, std::span<const std::int64_t> update) {
    ASSAY_TRY(check_length("finalise", "the start", start.size(), update.size()));
    return check_length("finalise", "the end", end.size(), update.size());
}

base::Outcome<void> check_merge(std::span<const program::Contribution> contributions, DeviceView parameters,
                                DeviceView outer_momentum) {
    if (contributions.empty()) return refuse_arrays("merge", "there is no update");
    ASSAY_TRY(check_length("merge", "the outer momentum", outer_momentum.size(), parameters.size()));
    for (std::size_t i = 0; i < contributions.size(); ++i) {
        ASSAY_TRY(check_length("merge", "update " + std::to_string(i), contributions[i].update.size(),
                               parameters.size()));
    }
    return {};
}

}  // namespace assay::trainer
