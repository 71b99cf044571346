// SPDX-License-Identifier: Apache-2.0
// Device gives the executor and the job runner everything that computes: memory, groups of operators with the
// bits of their definitions, roots of arrays, and the ends of a round. A processor is one (trainer/cpu), the
// scalar law another (trainer/reference); trainer/devices opens one by its name.
//
// Calls only order work. A device may still be at it when they return, and finishes in the order of the
// calls; the host looks at results in wait(), once a step. Numbers on the device are named by addresses that
// the host never follows. One thread uses a device at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/program/program.hpp"
#include "trainer/step/group.hpp"
#include "trainer/step/whole_arrays.hpp"

namespace assay::trainer {

/// What an allocation plan should know of a device.
struct PlanHints {
    std::uint64_t tokens = 0;     ///< of a micro-batch: more at a time are no quicker
    std::uint64_t head_rows = 0;  ///< tokens whose logits exist at a time: more are no quicker
    /// False: the device runs operators one by one, so that every tensor lies in memory.
    bool runs_groups = true;
    /// True: the first sequences of a step write the gradients of weights that products make, whatever lies
    /// there, so that nobody has to clear them; later ones add to them.
    bool starts_weight_gradients = false;
    /// Bytes of logits at a time up to which head_rows are worth it; of more, half as many rows do as well.
    std::uint64_t logits = std::uint64_t{128} << 20U;
    /// Bytes from which on rematerialising norms and activations is worth its work, which is 1 to 2 % of a
    /// step, although no budget asks for it.
    std::uint64_t worth_rematerialising = std::uint64_t{64} << 20U;
    std::uint64_t alignment = 16;  ///< floats at whose multiples tensors begin; at least 16
    /// What one call can take, at most; 0: any number.
    std::uint64_t most_at_once = 0;     ///< tokens of a micro-batch, and its sequences times heads
    std::uint64_t most_vocabulary = 0;  ///< of a model in profile i16
};

/// The sizes on which a group's scratch depends.
struct GroupShape {
    std::uint64_t sequences = 0;      ///< of a micro-batch
    std::uint64_t head_rows = 0;      ///< tokens whose logits exist at a time; in profile i16 whole sequences
    bool keep_weights = false;        ///< what is made of weights (packed operands) is kept for micro-batches
    std::uint64_t all_sequences = 0;  ///< of a step
};

/// What the device has to know of a step besides its tensors.
struct StepNumbers {
    std::uint64_t tokens = 0;  ///< target tokens of the whole step or evaluation
    arithmetic::AdamWCoefficients coefficients;
    bool keep_weights = false;  ///< as own_bytes() was asked; weights do not change until the update
    /// The gradient that the embedding gives a tied matrix has one row for each different token of the step.
    bool compact_embedding = false;
};

struct GroupCall {
    const Group& group;
    std::span<float* const> tensors;  ///< address by tensor id, of the tensors that the group touches
    float* scratch = nullptr;         ///< as many floats as scratch() said
    std::uint64_t head_rows = 0;
    std::uint64_t row = 0;  ///< kLogits: which
};

/// What one kind of a device's work took.
struct WorkTime {
    std::string name;  ///< without spaces
    std::uint64_t count = 0;
    double seconds = 0;
};

class Device {
public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    /// The word that opens it: "cpu".
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual PlanHints hints() const = 0;

    /// kPreflight, naming what is wrong, when what was computed since the last call may not have the law's
    /// bits, or what comes next would not. It is asked before work and after it: of such work nothing is
    /// used.
    [[nodiscard]] virtual base::Outcome<void> check() = 0;

    // Memory. Where a device has its own, what it throws is a DeviceFailure (device_failure.hpp).

    /// Bytes of its own memory that may be in use at a time; nothing: it works in the host's.
    [[nodiscard]] virtual std::optional<std::uint64_t> capacity() const = 0;
    /// Bytes of the host's memory that a device with memory of its own takes beside it, but for streamed
    /// arrays.
    [[nodiscard]] virtual std::uint64_t host_bytes() const { return 0; }

    /// `count` floats of any value, aligned to 64 bytes, valid until the device ends. Throws std::bad_alloc.
    virtual float* allocate(std::uint64_t count) = 0;
    /// Takes back, before it ends, what allocate() gave: no work that was ordered needs it any more.
    virtual void release(float* at) = 0;
    virtual void zero(float* at, std::uint64_t count) = 0;
    /// Copies from the device, after all work ordered so far.
    virtual void read(const float* from, std::span<float> to) = 0;
    /// Copies to the device, after all work ordered so far and before all that follows.
    virtual void write(float* to, std::span<const float> from) = 0;

    // Arrays of the host (adopted.hpp drops them at the end of a scope).

    /// A host array as the device sees it until drop(): itself where memory is shared, else a copy, made now.
    /// Meanwhile the host changes none of it. Throws std::bad_alloc.
    virtual float* adopt(std::span<float> host) = 0;
    /// The same of an array that no work will change.
    virtual const float* adopt_read_only(std::span<const float> host) = 0;
    /// The same of arrays at which the device looks a part at a time, so that they need not lie in its own
    /// memory: for is_finite, roots, finalise, merge, read and write, and as the moments of a step's state.
    /// Changes are made to a copy in the host's memory.
    virtual float* adopt_streamed(std::span<float> host) { return adopt(host); }
    virtual const float* adopt_streamed_read_only(std::span<const float> host) {
        return adopt_read_only(host);
    }
    /// After it the host's array holds what the device made of it so far; as it was, where the device has
    /// failed. REQUIRES an address of adopt() or adopt_streamed().
    virtual void sync(float* adopted) = 0;
    /// Forgets an adopted array; what sync() did not bring back is lost.
    virtual void drop(const float* adopted) = 0;

    // Plans.

    /// Floats of scratch that a group needs while it runs.
    [[nodiscard]] virtual std::uint64_t scratch(const program::Program& program, const Group& group,
                                                const GroupShape& shape) const = 0;
    /// Bytes that the device keeps for itself while it runs such groups (packed operands), beyond scratch.
    [[nodiscard]] virtual std::uint64_t own_bytes(const program::Program& program,
                                                  const GroupShape& shape) const = 0;

    // Steps and evaluations.

    /// Begins a step or an evaluation of `program`, which must live until it ends. Throws std::bad_alloc.
    virtual void begin(const program::Program& program, const StepNumbers& numbers) = 0;
    /// Tokens to work on: whole sequences of T+1 ids below the vocabulary; of a step all of them at once.
    /// They are copied.
    virtual void load(std::span<const std::uint32_t> tokens) = 0;
    /// Makes sequences [first, first + count) of the loaded ones the micro-batch of the following calls.
    virtual void select(std::uint64_t first, std::uint64_t count) = 0;
    /// Runs a group on the micro-batch. A kUpdate does nothing once a number was not finite. Throws
    /// std::bad_alloc where the device cannot have its own_bytes().
    virtual void run(const GroupCall& call) = 0;
    /// Waits for all work, copies the numbers at `scalars` to `values` and returns the first operator, in
    /// program order, of which a number since begin() was not finite. Once that happens the numbers of later
    /// operators mean nothing.
    virtual std::optional<std::uint32_t> wait(std::span<const float* const> scalars,
                                              std::span<float> values) = 0;

    /// Runs work(), which orders work on this device, waits for it, and tells what its parts took, longest
    /// first; nothing where a device does not tell, or has failed. For benches: it takes longer than the
    /// work.
    [[nodiscard]] virtual std::vector<WorkTime> timed(const std::function<void()>& work) {
        work();
        return {};
    }

    // Whole arrays (whole_arrays.hpp). Arrays of floats are those that adopt() gave; updates are the host's
    // and are borrowed for the call. What is given back to the host is there when a call returns. An array of
    // another length is refused by name, with kUsage, before anything is changed.

    /// Whether no number is an infinity or a NaN.
    [[nodiscard]] virtual bool is_finite(DeviceView array) = 0;
    /// Roots (contracts/program/state_root.hpp, array_root) of arrays that are cut into `tensors`.
    [[nodiscard]] virtual base::Outcome<std::vector<base::Hash256>> roots(
        const std::vector<program::TensorInfo>& tensors, std::span<const DeviceView> arrays) = 0;
    /// Hashes of the tiles of a matrix of the host, as tensor_root makes its leaves. REQUIRES rows of `cols`
    /// numbers, and a place for each tile.
    virtual void tile_hashes(std::uint64_t cols, std::span<const float> matrix,
                             std::span<base::Hash256> out) = 0;
    [[nodiscard]] virtual base::Outcome<base::Hash256> update_root(
        const std::vector<program::TensorInfo>& tensors, std::span<const std::int64_t> update) = 0;
    /// UpdateCodec::finalise of the row, in cuts where its ArrayCut allows them: fills the host's `update`.
    /// False: a number is out of range, and `update` is worth nothing.
    [[nodiscard]] virtual base::Outcome<bool> finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                                       std::span<std::int64_t> update) = 0;
    /// The row's OuterOptimizer::merge, as its ArrayCut allows, in place, of at least one contribution;
    /// sync() brings the result to the host. False when a number of it is not finite.
    [[nodiscard]] virtual base::Outcome<bool> merge(const RoundLaw& law,
                                                    std::span<const program::Contribution> contributions,
                                                    DeviceArray parameters, DeviceArray outer_momentum) = 0;
};

}  // namespace assay::trainer
