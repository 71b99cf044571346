// SPDX-License-Identifier: Apache-2.0
// ReferenceDevice gives the law itself as a Device: every operator by its definition in contracts/arithmetic,
// one after the other, on the calling thread. It shares no code with the kernels, so whoever doubts a device
// trains the same job on this one. Slow on purpose.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "contracts/program/reference_machine.hpp"
#include "trainer/host/arena.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer {

class ReferenceDevice final : public Device {
public:
    ReferenceDevice() : arena_(make_heap_arena()) {}

    [[nodiscard]] std::string_view name() const override { return "reference"; }
    [[nodiscard]] PlanHints hints() const override;
    /// The floating-point mode of the calling thread.
    [[nodiscard]] base::Outcome<void> check() override;

    float* allocate(std::uint64_t count) override { return arena_->allocate(count); }
    void zero(float* at, std::uint64_t count) override;
    void read(const float* from, std::span<float> to) override;
    float* adopt(std::span<float> host) override { return host.data(); }
    const float* adopt_read_only(std::span<const float> host) override { return host.data(); }
    void sync(float*) override {}
    void drop(const float*) override {}
    [[nodiscard]] std::uint64_t scratch(const program::Program&, const Group&,
                                        const GroupShape&) const override {
        return 0;
    }
    /// The reference machine keeps tensors of its own.
    [[nodiscard]] std::uint64_t own_bytes(const program::Program& program,
                                          const GroupShape& shape) const override;
    void begin(const program::Program& program, const StepNumbers& numbers) override;
    void load(std::span<const std::uint32_t> tokens) override;
    void select(std::uint64_t first, std::uint64_t count) override;
    void run(const GroupCall& call) override;
    std::optional<std::uint32_t> wait(std::span<const float* const> scalars,
                                      std::span<float> values) override;
    [[nodiscard]] bool is_finite(const float* at, std::uint64_t count) override;
    void roots(const std::vector<program::TensorInfo>& tensors, std::span<const float* const> arrays,
               std::span<base::Hash256> roots) override;
    [[nodiscard]] base::Hash256 update_root(const std::vector<program::TensorInfo>& tensors,
                                            std::span<const std::int64_t> update) override;
    void share(std::uint64_t count, std::uint64_t grain, const ShareWork& work) override;
    [[nodiscard]] bool merge(int sum_exponent, std::span<const arithmetic::WeightedUpdate> updates,
                             arithmetic::OuterCoefficients outer, std::span<float> parameters,
                             std::span<float> momentum) override;

private:
    using Operator = program::Operator;

    // Operands, and outputs that are added to or written in part, from the device's memory to the machine's.
    void take(const GroupCall& call, const Operator& one);
    void execute(const Operator& one);
    // Outputs the other way.
    void give(const GroupCall& call, const Operator& one);
    [[nodiscard]] bool outputs_are_finite(const Operator& one);

    std::unique_ptr<Arena> arena_;
    const program::Program* program_ = nullptr;
    StepNumbers numbers_;
    std::vector<std::uint32_t> tokens_;
    std::vector<std::uint32_t> targets_;                // of the micro-batch
    std::optional<program::ReferenceMachine> machine_;  // of the micro-batch
    float loss_total_ = 0.0F;
    std::optional<std::uint32_t> diverged_;
};

}  // namespace assay::trainer
