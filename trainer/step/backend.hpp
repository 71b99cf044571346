// SPDX-License-Identifier: Apache-2.0
// Backend: a device that runs groups of operators with the bits of their definitions. Calls only order work;
// a device may still be at it when they return, and finishes in the order of the calls. wait() is the one
// point at which results are looked at. Numbers on the device are named by addresses that the host never
// follows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/program/program.hpp"
#include "trainer/step/group.hpp"

namespace assay::trainer {

/// The sizes on which a group's scratch depends.
struct GroupShape {
    std::uint64_t sequences = 0;  ///< of a micro-batch
    std::uint64_t head_rows = 0;  ///< tokens whose logits exist at a time; in profile i16 whole sequences
    bool keep_weights = false;    ///< what is made of weights (packed operands) is kept for micro-batches
};

/// What the device has to know of a step besides its tensors.
struct StepNumbers {
    std::uint64_t tokens = 0;  ///< target tokens of the whole step or evaluation
    arithmetic::AdamWCoefficients coefficients;
    bool state_unchanged = false;  ///< parameters and moments are as the last step of this backend left them
    bool keep_weights = false;     ///< as own_bytes() was asked; weights do not change until the update
};

struct GroupCall {
    const Group& group;
    std::span<float* const> tensors;  ///< address by tensor id, of the tensors that the group touches
    float* scratch = nullptr;         ///< as many floats as scratch() said
    std::uint64_t head_rows = 0;
    std::uint64_t row = 0;  ///< kLogits: which
};

class Backend {
public:
    Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend() = default;

    /// `count` floats of any value, aligned to 64 bytes, valid until the backend ends. Throws std::bad_alloc.
    virtual float* allocate(std::uint64_t count) = 0;
    virtual void zero(float* at, std::uint64_t count) = 0;
    /// Copies from the device, after all work ordered so far.
    virtual void read(const float* from, std::span<float> to) = 0;

    /// A host array as the device sees it until release(): itself where memory is shared, else a copy.
    virtual float* bind(std::span<float> host) = 0;
    /// After it the host's arrays hold what the device made of them.
    virtual void release() = 0;

    /// Floats of scratch that a group needs while it runs.
    [[nodiscard]] virtual std::uint64_t scratch(const program::Program& program, const Group& group,
                                                const GroupShape& shape) const = 0;

    /// Bytes that the device keeps for itself while it runs such groups (packed operands), beyond scratch.
    [[nodiscard]] virtual std::uint64_t own_bytes(const program::Program& program,
                                                  const GroupShape& shape) const = 0;

    /// Begins a step or an evaluation of `program`, which must live until it ends. Throws std::bad_alloc.
    virtual void begin(const program::Program& program, const StepNumbers& numbers) = 0;
    /// Tokens to work on: whole sequences of T+1 ids below the vocabulary; of a step all of them at once.
    /// They are copied.
    virtual void load(std::span<const std::uint32_t> tokens) = 0;
    /// Makes sequences [first, first + count) of the loaded ones the micro-batch of the following calls.
    virtual void select(std::uint64_t first, std::uint64_t count) = 0;
    /// Throws std::bad_alloc where the device cannot have its own_bytes().
    virtual void run(const GroupCall& call) = 0;
    /// Waits for all work. The first operator, in program order, of which a number since begin() was not
    /// finite. Once that happens the numbers of later operators mean nothing.
    virtual std::optional<std::uint32_t> wait() = 0;
};

}  // namespace assay::trainer
