// SPDX-License-Identifier: Apache-2.0
// Device is the interface to everything that computes for the executor and the job runner: memory, groups of
// operators with the bits of their definitions, roots of arrays, and the ends of a round (finalise, merge).
// Implementations: the processor (trainer/cpu), GPUs (trainer/cuda) and the scalar law (trainer/reference).
// trainer/devices opens one by its name.
//
// Calls only order work. They may return before it is done; a device finishes it in the order of the calls.
// The host looks at results in wait(), once a step. Addresses name numbers on the device; the host never
// dereferences them. One thread uses a device at a time.
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
    std::uint64_t tokens = 0;     ///< of a micro-batch; larger ones are no quicker
    std::uint64_t head_rows = 0;  ///< tokens whose logits exist at a time; more are no quicker
    /// False: the device runs operators one by one, so that every tensor lies in memory.
    bool runs_groups = true;
    /// True: the first sequences of a step overwrite the weight gradients that products make, so that nobody
    /// has to clear them; later ones add to them.
    bool starts_weight_gradients = false;
    /// Bytes of logits at a time up to which head_rows are worth it. When they take more, plans halve the
    /// rows.
    std::uint64_t logits = std::uint64_t{128} << 20U;
    /// Rematerialising norms and activations costs 1 to 2 % of a step. When it saves at least this many bytes
    /// it is worth that even without a budget that asks for it.
    std::uint64_t worth_rematerialising = std::uint64_t{64} << 20U;
    std::uint64_t alignment = 16;  ///< tensors begin at multiples of so many floats; at least 16
    /// The most that one call can take; 0: no limit.
    std::uint64_t most_at_once = 0;     ///< of tokens of a micro-batch, and of its sequences times heads
    std::uint64_t most_vocabulary = 0;  ///< tokens of the vocabulary, in profile i16
};

/// The sizes on which a group's scratch depends.
struct GroupShape {
    std::uint64_t sequences = 0;      ///< of a micro-batch
    std::uint64_t head_rows = 0;      ///< tokens whose logits exist at a time; in profile i16 whole sequences
    bool keep_weights = false;        ///< packed weights are kept for later micro-batches
    std::uint64_t all_sequences = 0;  ///< of a step
};

/// What a device needs to know of a step besides its tensors.
struct StepNumbers {
    std::uint64_t tokens = 0;  ///< target tokens of the whole step or evaluation
    arithmetic::AdamWCoefficients coefficients;
    bool keep_weights = false;  ///< as GroupShape had it in own_bytes()
    /// The gradient that the embedding gives a tied matrix has one row for each different token of the step.
    bool compact_embedding = false;
};

struct GroupCall {
    const Group& group;
    std::span<float* const> tensors;  ///< address by tensor id, of the tensors that the group touches
    float* scratch = nullptr;         ///< as many floats as scratch() returned
    std::uint64_t head_rows = 0;
    std::uint64_t row = 0;  ///< kLogits: the row whose logits are wanted
};

/// How long one kind of a device's work took.
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

    /// The name by which trainer/devices opens it: "cpu".
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual PlanHints hints() const = 0;

    /// Fails with kPreflight, naming what is wrong, when work since the last call may not have the law's
    /// bits, or the next work would not. Callers ask before work and after it, and use nothing of work that
    /// fails.
    [[nodiscard]] virtual base::Outcome<void> check() = 0;

    // Memory. A device with memory of its own throws DeviceFailure (device_failure.hpp), a std::bad_alloc.

    /// Bytes of its own memory that may be in use at a time; nothing when it works in the host's memory.
    [[nodiscard]] virtual std::optional<std::uint64_t> capacity() const = 0;
    /// Bytes of the host's memory that a device with memory of its own takes as well, without streamed
    /// arrays.
    [[nodiscard]] virtual std::uint64_t host_bytes() const { return 0; }

    /// Returns `count` uninitialised floats, aligned to 64 bytes, valid until release() or the device's end.
    /// Throws std::bad_alloc.
    virtual float* allocate(std::uint64_t count) = 0;
    /// Frees what allocate() returned. REQUIRES that no ordered work still needs it.
    virtual void release(float* at) = 0;
    virtual void zero(float* at, std::uint64_t count) = 0;
    /// Copies from the device, after all work ordered so far.
    virtual void read(const float* from, std::span<float> to) = 0;
    /// Copies to the device, after all work ordered so far and before all that follows.
    virtual void write(float* to, std::span<const float> from) = 0;

    // Arrays of the host. The classes of adopted.hpp drop them at the end of a scope.

    /// Returns a host array as the device sees it until drop(): the array itself when memory is shared, else
    /// a copy made now. REQUIRES that the host does not change it until then. Throws std::bad_alloc.
    virtual float* adopt(std::span<float> host) = 0;
    /// The same for an array that no work changes.
    virtual const float* adopt_read_only(std::span<const float> host) = 0;
    /// The same for arrays that the device reads and writes a part at a time, so that they need not lie in
    /// its own memory. They serve is_finite, roots, finalise, merge, read and write, and as the moments of a
    /// step's state. Changes go to a copy in the host's memory.
    virtual float* adopt_streamed(std::span<float> host) { return adopt(host); }
    virtual const float* adopt_streamed_read_only(std::span<const float> host) {
        return adopt_read_only(host);
    }
    /// Copies what the device made of the array so far to the host's array; leaves that as it was when the
    /// device has failed. REQUIRES an address that adopt() or adopt_streamed() returned.
    virtual void sync(float* adopted) = 0;
    /// Ends the adoption of an array. Changes that sync() did not bring back are lost.
    virtual void drop(const float* adopted) = 0;

    // Plans.

    /// Floats of scratch that a group needs while it runs.
    [[nodiscard]] virtual std::uint64_t scratch(const program::Program& program, const Group& group,
                                                const GroupShape& shape) const = 0;
    /// Bytes that the device keeps for itself, beyond scratch, while it runs groups of this shape (packed
    /// operands).
    [[nodiscard]] virtual std::uint64_t own_bytes(const program::Program& program,
                                                  const GroupShape& shape) const = 0;

    // Steps and evaluations.

    /// Begins a step or an evaluation of `program`, which must live until it ends. Until then parameters
    /// change only in the update and by write(). Throws std::bad_alloc.
    virtual void begin(const program::Program& program, const StepNumbers& numbers) = 0;
    /// Copies the tokens to work on: whole sequences of T+1 ids below the vocabulary. A step loads all of its
    /// sequences at once.
    virtual void load(std::span<const std::uint32_t> tokens) = 0;
    /// Makes sequences [first, first + count) of the loaded ones the micro-batch of the following calls.
    virtual void select(std::uint64_t first, std::uint64_t count) = 0;
    /// Runs a group on the micro-batch. A kUpdate does nothing once a number was not finite. Throws
    /// std::bad_alloc when the device cannot get its own_bytes().
    virtual void run(const GroupCall& call) = 0;
    /// Waits for all work and copies the numbers at `scalars` to `values`. Returns the first operator, in
    /// program order, that wrote a number that is not finite since begin(); the numbers of later operators
    /// are then meaningless.
    virtual std::optional<std::uint32_t> wait(std::span<const float* const> scalars,
                                              std::span<float> values) = 0;

    /// Runs work(), which orders work on this device, waits for it, and returns how long its parts took,
    /// longest first. Empty when a device measures nothing, or has failed. For benches: measuring slows the
    /// work down.
    [[nodiscard]] virtual std::vector<WorkTime> timed(const std::function<void()>& work) {
        work();
        return {};
    }

    // Whole arrays (whole_arrays.hpp). Arrays of floats are adopted ones; updates are the host's and are
    // borrowed for the call. Results for the host are complete when a call returns. An array of a wrong
    // length is refused by name, with kUsage, before anything is changed.

    /// Whether no number is an infinity or a NaN.
    [[nodiscard]] virtual bool is_finite(DeviceView array) = 0;
    /// Array roots (array_root in contracts/program/state_root.hpp) of arrays that consist of `tensors`.
    [[nodiscard]] virtual base::Outcome<std::vector<base::Hash256>> roots(
        const std::vector<program::TensorInfo>& tensors, std::span<const DeviceView> arrays) = 0;
    /// Hashes the tiles of a matrix of the host: the leaves of its tensor_root. REQUIRES rows of `cols`
    /// numbers, and in `out` a place for each tile.
    virtual void tile_hashes(std::uint64_t cols, std::span<const float> matrix,
                             std::span<base::Hash256> out) = 0;
    [[nodiscard]] virtual base::Outcome<base::Hash256> update_root(
        const std::vector<program::TensorInfo>& tensors, std::span<const std::int64_t> update) = 0;
    /// Fills the host's `update` with UpdateCodec::finalise of the law's row, in parts if its ArrayCut
    /// allows. Returns false when a number is out of range; `update` is then meaningless.
    [[nodiscard]] virtual base::Outcome<bool> finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                                       std::span<std::int64_t> update) = 0;
    /// OuterOptimizer::merge of the law's row, in place, in parts if its ArrayCut allows. REQUIRES at least
    /// one contribution. sync() brings the result to the host. Returns false when a number of it is not
    /// finite.
    [[nodiscard]] virtual base::Outcome<bool> merge(const RoundLaw& law,
                                                    std::span<const program::Contribution> contributions,
                                                    DeviceArray parameters, DeviceArray outer_momentum) = 0;
};

}  // namespace assay::trainer
