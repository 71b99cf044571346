// SPDX-License-Identifier: Apache-2.0
// HostDevice is the common base of devices that compute in the host's memory. Adopted arrays are the host's
// own arrays. Functions of the law, or kernels with the same bits, work on whole arrays.
#pragma once

#include <functional>
#include <optional>

#include "contracts/arithmetic/update.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer {

/// The functions with which a HostDevice computes whole arrays; by default those of the law.
struct HostKernels {
    bool (*all_finite)(std::span<const float>) = nullptr;  ///< null: arithmetic::all_finite
    base::BatchHash hash = base::hash_one_by_one;
    /// arithmetic::outer_nesterov; returns whether every number that it wrote is finite. Null: a merge runs
    /// the function of its row, on one thread.
    bool (*outer_nesterov)(arithmetic::OuterCoefficients, std::span<const float> mean,
                           std::span<float> parameters, std::span<float> outer_momentum) = nullptr;
};

class HostDevice : public Device {
public:
    [[nodiscard]] std::optional<std::uint64_t> capacity() const final { return std::nullopt; }
    void zero(float* at, std::uint64_t count) final;
    void read(const float* from, std::span<float> to) final;
    void write(float* to, std::span<const float> from) final;
    float* adopt(std::span<float> host) final;
    const float* adopt_read_only(std::span<const float> host) final { return host.data(); }
    void sync(float*) final {}
    void drop(const float*) final {}
    [[nodiscard]] bool is_finite(DeviceView array) final;
    [[nodiscard]] base::Outcome<std::vector<base::Hash256>> roots(
        const std::vector<program::TensorInfo>& tensors, std::span<const DeviceView> arrays) final;
    void tile_hashes(std::uint64_t cols, std::span<const float> matrix, std::span<base::Hash256> out) final;
    [[nodiscard]] base::Outcome<base::Hash256> update_root(const std::vector<program::TensorInfo>& tensors,
                                                           std::span<const std::int64_t> update) final;
    [[nodiscard]] base::Outcome<bool> finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                               std::span<std::int64_t> update) final;
    [[nodiscard]] base::Outcome<bool> merge(const RoundLaw& law,
                                            std::span<const program::Contribution> contributions,
                                            DeviceArray parameters, DeviceArray outer_momentum) final;

protected:
    explicit HostDevice(const HostKernels& kernels);

    using ShareWork = std::function<void(std::size_t first, std::size_t last)>;
    /// Calls work(first, last) on ranges that cover [0, count) once, cut at multiples of `grain`, on the
    /// device's threads. `work` must not throw.
    virtual void share(std::uint64_t count, std::uint64_t grain, const ShareWork& work) = 0;
    /// Called when the host has written or zeroed numbers of tensors.
    virtual void forget_tensors() {}
    /// Called when it has written numbers, which may be parameters. What it zeroes is none.
    virtual void forget_weights() {}
    /// Called when adopted arrays may hold other numbers than the last step left there.
    virtual void forget_adopted() {}

private:
    // share() by reference to `work`, so that nothing is allocated for it.
    template <class Work>
    void share_out(std::uint64_t count, std::uint64_t grain, const Work& work) {
        share(count, grain, std::cref(work));
    }
    bool merge_on_threads(const RoundLaw& law, std::span<const program::Contribution> contributions,
                          DeviceArray parameters, DeviceArray outer_momentum);
    bool merge_by_row(const RoundLaw& law, std::span<const program::Contribution> contributions,
                      DeviceArray parameters, DeviceArray outer_momentum);

    HostKernels with_;
};

}  // namespace assay::trainer
