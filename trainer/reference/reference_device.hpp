// SPDX-License-Identifier: Apache-2.0
// ReferenceDevice is the law itself as a Device: it runs every operator by its definition in
// contracts/arithmetic, one after the other, on the calling thread. It shares no code with the kernels: to
// check another device, train the same job on this one. Slow on purpose.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "contracts/program/reference_machine.hpp"
#include "trainer/host/arena.hpp"
#include "trainer/step/host_device.hpp"

namespace assay::trainer {

class ReferenceDevice final : public HostDevice {
public:
    ReferenceDevice() : HostDevice(HostKernels{}), arena_(make_heap_arena()) {}

    [[nodiscard]] std::string_view name() const override { return "reference"; }
    [[nodiscard]] PlanHints hints() const override;
    /// Checks the floating-point mode of the calling thread.
    [[nodiscard]] base::Outcome<void> check() override;

    float* allocate(std::uint64_t count) override { return arena_->allocate(count); }
    void release(float* at) override { arena_->release(at); }
    [[nodiscard]] std::uint64_t scratch(const program::Program&, const Group&,
                                        const GroupShape&) const override {
        return 0;
    }
    /// Counts the reference machine's own copies of the tensors.
    [[nodiscard]] std::uint64_t own_bytes(const program::Program& program,
                                          const GroupShape& shape) const override;
    void begin(const program::Program& program, const StepNumbers& numbers) override;
    void load(std::span<const std::uint32_t> tokens) override;
    void select(std::uint64_t first, std::uint64_t count) override;
    void run(const GroupCall& call) override;
    std::optional<std::uint32_t> wait(std::span<const float* const> scalars,
                                      std::span<float> values) override;

protected:
    void share(std::uint64_t count, std::uint64_t grain, const ShareWork& work) override;

private:
    using Operator = program::Operator;

    // Copies operands, and outputs that are added to or written in part, from the device's memory to the
    // machine's.
    void take(const GroupCall& call, const Operator& one);
    // Copies outputs from the machine's memory to the device's.
    void give(const GroupCall& call, const Operator& one);
    [[nodiscard]] bool outputs_are_finite(const Operator& one);

    std::unique_ptr<Arena> arena_;
    const program::Program* program_ = nullptr;
    StepNumbers numbers_;
    std::vector<std::uint32_t> tokens_;
    std::optional<program::ReferenceMachine> machine_;  // of the micro-batch
    std::optional<std::uint32_t> diverged_;
};

}  // namespace assay::trainer
