// SPDX-License-Identifier: Apache-2.0
// ForwardingDevice passes every call on to another device. Planted faults and tests derive from it, and
// override only the calls that they change.
#pragma once

#include <memory>
#include <utility>

#include "trainer/step/device.hpp"

namespace assay::trainer {

class ForwardingDevice : public Device {
public:
    explicit ForwardingDevice(std::unique_ptr<Device> inner) : inner_(std::move(inner)) {}

    [[nodiscard]] std::string_view name() const override { return inner_->name(); }
    [[nodiscard]] PlanHints hints() const override { return inner_->hints(); }
    [[nodiscard]] base::Outcome<void> check() override { return inner_->check(); }
    [[nodiscard]] std::optional<std::uint64_t> capacity() const override { return inner_->capacity(); }
    [[nodiscard]] std::uint64_t host_bytes() const override { return inner_->host_bytes(); }
    float* allocate(std::uint64_t count) override { return inner_->allocate(count); }
    void release(float* at) override { inner_->release(at); }
    void zero(float* at, std::uint64_t count) override { inner_->zero(at, count); }
    void read(const float* from, std::span<float> to) override { inner_->read(from, to); }
    void write(float* to, std::span<const float> from) override { inner_->write(to, from); }
    float* adopt(std::span<float> host) override { return inner_->adopt(host); }
    const float* adopt_read_only(std::span<const float> host) override {
        return inner_->adopt_read_only(host);
    }
    float* adopt_streamed(std::span<float> host) override { return inner_->adopt_streamed(host); }
    const float* adopt_streamed_read_only(std::span<const float> host) override {
        return inner_->adopt_streamed_read_only(host);
    }
    void sync(float* adopted) override { inner_->sync(adopted); }
    void drop(const float* adopted) override { inner_->drop(adopted); }
    [[nodiscard]] std::uint64_t scratch(const program::Program& program, const Group& group,
                                        const GroupShape& shape) const override {
        return inner_->scratch(program, group, shape);
    }
    [[nodiscard]] std::uint64_t own_bytes(const program::Program& program,
                                          const GroupShape& shape) const override {
        return inner_->own_bytes(program, shape);
    }
    void begin(const program::Program& program, const StepNumbers& numbers) override {
        inner_->begin(program, numbers);
    }
    void load(std::span<const std::uint32_t> tokens) override { inner_->load(tokens); }
    void select(std::uint64_t first, std::uint64_t count) override { inner_->select(first, count); }
    void run(const GroupCall& call) override { inner_->run(call); }
    std::optional<std::uint32_t> wait(std::span<const float* const> scalars,
                                      std::span<float> values) override {
        return inner_->wait(scalars, values);
    }
    [[nodiscard]] std::vector<WorkTime> timed(const std::function<void()>& work) override {
        return inner_->timed(work);
    }
    [[nodiscard]] bool is_finite(DeviceView array) override { return inner_->is_finite(array); }
    [[nodiscard]] base::Outcome<std::vector<base::Hash256>> roots(
        const std::vector<program::TensorInfo>& tensors, std::span<const DeviceView> arrays) override {
        return inner_->roots(tensors, arrays);
    }
    void tile_hashes(std::uint64_t cols, std::span<const float> matrix,
                     std::span<base::Hash256> out) override {
        inner_->tile_hashes(cols, matrix, out);
    }
    [[nodiscard]] base::Outcome<base::Hash256> update_root(const std::vector<program::TensorInfo>& tensors,
                                                           std::span<const std::int64_t> update) override {
        return inner_->update_root(tensors, update);
    }
    [[nodiscard]] base::Outcome<bool> finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                               std::span<std::int64_t> update) override {
        return inner_->finalise(law, start, end, update);
    }
    [[nodiscard]] base::Outcome<bool> merge(const RoundLaw& law,
                                            std::span<const program::Contribution> contributions,
                                            DeviceArray parameters, DeviceArray outer_momentum) override {
        return inner_->merge(law, contributions, parameters, outer_momentum);
    }

private:
    std::unique_ptr<Device> inner_;
};

}  // namespace assay::trainer
