// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/host_device.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/strategies/merges.hpp"
#include "contracts/program/tile_hashes.hpp"

namespace assay::trainer {

namespace {
// Where a row's function computes each number by itself (program::ArrayCut).
constexpr std::size_t kRowCut = 4096;

std::size_t longest(program::ArrayCut cut, std::size_t count) {
    return cut == program::ArrayCut::kAnywhere ? kRowCut : std::max<std::size_t>(count, 1);
}
}  // namespace

HostDevice::HostDevice(const HostKernels& kernels) : with_(kernels) {
    if (with_.all_finite == nullptr) with_.all_finite = arithmetic::all_finite;
}

void HostDevice::zero(float* at, std::uint64_t count) {
    constexpr std::size_t kShare = 1U << 16;
    forget_tensors();
    share_out(count, kShare,
              [&](std::size_t first, std::size_t last) { std::fill(at + first, at + last, 0.0F); });
}

void HostDevice::read(const float* from, std::span<float> to) {
    std::copy(from, from + to.size(), to.begin());
}

void HostDevice::write(float* to, std::span<const float> from) {
    forget_tensors();
    forget_weights();
    std::copy(from.begin(), from.end(), to);
}

float* HostDevice::adopt(std::span<float> host) {
    forget_adopted();
    return host.data();
}

bool HostDevice::is_finite(DeviceView array) {
    constexpr std::size_t kShare = 1U << 14;
    std::atomic<bool> finite = true;
    share_out(array.size(), kShare, [&](std::size_t first, std::size_t last) {
        if (!with_.all_finite(array.subspan(first, last - first))) finite = false;
    });
    return finite;
}

base::Outcome<std::vector<base::Hash256>> HostDevice::roots(const std::vector<program::TensorInfo>& tensors,
                                                            std::span<const DeviceView> arrays) {
    ASSAY_TRY(check_roots(tensors, arrays));
    std::vector<base::Hash256> found(arrays.size());
    share_out(arrays.size(), 1, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            found[i] = program::array_root(tensors, arrays[i], with_.hash);
        }
    });
    return found;
}

void HostDevice::tile_hashes(std::uint64_t cols, std::span<const float> matrix,
                             std::span<base::Hash256> out) {
    constexpr std::uint64_t kTile = arithmetic::kTile;
    const std::uint64_t rows = matrix.size() / cols;
    const std::uint64_t across = (cols + kTile - 1) / kTile;
    // By rows of tiles.
    share_out((rows + kTile - 1) / kTile, 1, [&](std::size_t first, std::size_t last) {
        const std::uint64_t top = first * kTile;
        const std::uint64_t height = std::min<std::uint64_t>(last * kTile, rows) - top;
        program::tile_hashes(height, cols, matrix.subspan(top * cols, height * cols), with_.hash,
                             out.subspan(first * across, (last - first) * across));
    });
}

base::Outcome<base::Hash256> HostDevice::update_root(const std::vector<program::TensorInfo>& tensors,
                                                     std::span<const std::int64_t> update) {
    ASSAY_TRY(check_update_root(tensors, update));
    return program::update_root(tensors, update, with_.hash);
}

base::Outcome<bool> HostDevice::finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                         std::span<std::int64_t> update) {
    ASSAY_TRY(check_finalise(start, end, update));
    std::atomic<bool> in_range = true;
    const std::size_t cut = longest(law.row.codec->cut, update.size());
    share_out(update.size(), cut, [&](std::size_t first, std::size_t last) {
        const std::size_t count = last - first;
        if (!law.row.codec->finalise(law.settings, start.subspan(first, count), end.subspan(first, count),
                                     update.subspan(first, count))) {
            in_range = false;
        }
    });
    return in_range.load();
}

base::Outcome<bool> HostDevice::merge(const RoundLaw& law,
                                      std::span<const program::Contribution> contributions,
                                      DeviceArray parameters, DeviceArray outer_momentum) {
    ASSAY_TRY(check_merge(contributions, parameters, outer_momentum));
    forget_adopted();
    const bool has_kernel = with_.outer_nesterov != nullptr && law.row.outer == &program::kOuterNesterov;
    return has_kernel ? merge_on_threads(law, contributions, parameters, outer_momentum)
                      : merge_by_row(law, contributions, parameters, outer_momentum);
}

bool HostDevice::merge_on_threads(const RoundLaw& law, std::span<const program::Contribution> contributions,
                                  DeviceArray parameters, DeviceArray outer_momentum) {
    std::vector<arithmetic::WeightedUpdate> updates;
    updates.reserve(contributions.size());
    for (const program::Contribution& one : contributions)
        updates.push_back({one.update, one.weight, one.clip});
    const arithmetic::OuterCoefficients outer = program::outer_coefficients(law.settings);
    std::atomic<bool> finite = true;
    share_out(parameters.size(), kRowCut, [&](std::size_t first, std::size_t last) {
        std::array<float, kRowCut> means;
        for (std::size_t at = first; at < last; at += kRowCut) {
            const std::size_t count = std::min(kRowCut, last - at);
            const std::span<float> mean = std::span(means).first(count);
            arithmetic::merge_cut(law.settings.sum_exponent, updates, at, mean);
            if (!with_.outer_nesterov(outer, mean, parameters.subspan(at, count),
                                      outer_momentum.subspan(at, count))) {
                finite = false;
            }
        }
    });
    return finite;
}

bool HostDevice::merge_by_row(const RoundLaw& law, std::span<const program::Contribution> contributions,
                              DeviceArray parameters, DeviceArray outer_momentum) {
    std::vector<program::Contribution> part(contributions.begin(), contributions.end());
    const std::size_t cut = longest(law.row.outer->cut, parameters.size());
    for (std::size_t at = 0; at < parameters.size(); at += cut) {
        const std::size_t count = std::min(cut, parameters.size() - at);
        for (std::size_t i = 0; i < part.size(); ++i) {
            part[i].update = contributions[i].update.subspan(at, count);
        }
        law.row.outer->merge(law.settings, part, parameters.subspan(at, count),
                             outer_momentum.subspan(at, count));
    }
    return is_finite(parameters) && is_finite(outer_momentum);
}

}  // namespace assay::trainer
