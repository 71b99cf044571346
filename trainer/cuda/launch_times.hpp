// SPDX-License-Identifier: Apache-2.0
// LaunchTimes measures CudaDevice's kernels. While it exists, every launch of the calling thread gets a mark
// before and after it on the card's lane of work. Kernels still run one after another, as ordered. A mark
// costs some microseconds.
#pragma once

#include <string>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trainer/cuda/card.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

class LaunchTimes final : public LaunchWatch {
public:
    explicit LaunchTimes(Card& card);
    ~LaunchTimes() override;
    LaunchTimes(const LaunchTimes&) = delete;
    LaunchTimes& operator=(const LaunchTimes&) = delete;

    /// Launches from now on belong to this part of the work.
    void begin_part(std::string part) { part_ = std::move(part); }
    void begin(const std::type_info& kernel) override;
    void end() override;

    /// Waits for all launches so far, returns the time of each kernel in each part ("PART/KERNEL"), longest
    /// first, and forgets them. Empty once the card has failed.
    [[nodiscard]] std::vector<WorkTime> take();

private:
    Card& card_;
    LaunchWatch* before_;  // of the calling thread
    std::string part_;
    std::unordered_map<std::type_index, std::string> names_;
    std::vector<std::string> launches_;
};

/// A kernel's class without namespaces and spaces: Pack<0,2,8,0> for assay::trainer::cuda::gpu::Pack<…>.
std::string kernel_name(const std::type_info& kernel);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
