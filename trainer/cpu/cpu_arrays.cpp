// SPDX-License-Identifier: Apache-2.0
// Whole arrays: finiteness, roots, and the ends of a round.
#include "contracts/base/check.hpp"
#include "contracts/program/state_root.hpp"
#include "trainer/cpu/cpu_device.hpp"
#include "trainer/cpu/cpu_scratch.hpp"

namespace assay::trainer {

bool CpuDevice::is_finite(const float* at, std::uint64_t count) {
    constexpr std::size_t kShare = 1U << 14;
    std::atomic<bool> finite = true;
    pool_.split(count, kShare, [&](std::size_t first, std::size_t last) {
        if (!kernels_.all_finite(view(at + first, last - first))) finite = false;
    });
    return finite;
}

void CpuDevice::roots(const std::vector<program::TensorInfo>& tensors, std::span<const float* const> arrays,
                      std::span<base::Hash256> roots) {
    ASSAY_CHECK(!tensors.empty() && roots.size() == arrays.size());
    const std::uint64_t count = tensors.back().offset + tensors.back().size();
    pool_.split(arrays.size(), 1, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            roots[i] = program::array_root(tensors, view(arrays[i], count), kernels_.hash_batch);
        }
    });
}

base::Hash256 CpuDevice::update_root(const std::vector<program::TensorInfo>& tensors,
                                     std::span<const std::int64_t> update) {
    return program::update_root(tensors, update, kernels_.hash_batch);
}

void CpuDevice::share(std::uint64_t count, std::uint64_t grain, const ShareWork& work) {
    pool_.split(count, grain, work);
}

bool CpuDevice::merge(int sum_exponent, std::span<const arithmetic::WeightedUpdate> updates,
                      arithmetic::OuterCoefficients outer, std::span<float> parameters,
                      std::span<float> momentum) {
    constexpr std::size_t kElements = 4096;  // least share of a thread
    std::vector<float> gradient(parameters.size());
    std::vector<std::vector<arithmetic::WeightedUpdate>> parts(pool_.threads());
    for (auto& part : parts) part.assign(updates.begin(), updates.end());
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> finite = true;
    pool_.split(parameters.size(), kElements, [&](std::size_t first, std::size_t last) {
        const auto part = [&](std::span<float> all) { return all.subspan(first, last - first); };
        auto& own = parts[next++];
        for (arithmetic::WeightedUpdate& one : own) one.update = one.update.subspan(first, last - first);
        arithmetic::merge_updates(sum_exponent, own, part(gradient));
        if (!kernels_.outer_nesterov(outer, part(gradient), part(parameters), part(momentum))) finite = false;
    });
    return finite;
}

}  // namespace assay::trainer
