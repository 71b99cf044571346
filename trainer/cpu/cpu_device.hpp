// SPDX-License-Identifier: Apache-2.0
// CpuDevice is the processor as a Device. It runs groups of operators on the threads of a pool, with the
// kernels of a target. Every call finishes its work before it returns.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "trainer/cpu/cpu_maxima.hpp"
#include "trainer/cpu/integer/guard.hpp"
#include "trainer/cpu/kernels/kernels.hpp"
#include "trainer/host/arena.hpp"
#include "trainer/host/scratch.hpp"
#include "trainer/host/targets.hpp"
#include "trainer/host/thread_pool.hpp"
#include "trainer/step/host_device.hpp"

namespace assay::trainer {

class CpuDevice final : public HostDevice {
public:
    /// `arena` must outlive the device; null: a heap arena of its own. REQUIRES a target that this machine
    /// has, and threads >= 1.
    CpuDevice(Target target, int threads, Arena* arena);

    [[nodiscard]] std::string_view name() const override { return "cpu"; }
    [[nodiscard]] PlanHints hints() const override;
    /// Checks the floating-point mode of the calling thread now and of every thread of the pool while it
    /// worked, and that every product that the guard checked was right (integer/guard.hpp).
    [[nodiscard]] base::Outcome<void> check() override;

    float* allocate(std::uint64_t count) override;
    void release(float* at) override { arena_.release(at); }
    [[nodiscard]] std::uint64_t scratch(const program::Program& program, const Group& group,
                                        const GroupShape& shape) const override;
    [[nodiscard]] std::uint64_t own_bytes(const program::Program& program,
                                          const GroupShape& shape) const override;
    void begin(const program::Program& program, const StepNumbers& numbers) override;
    void load(std::span<const std::uint32_t> tokens) override;
    void select(std::uint64_t first, std::uint64_t count) override;
    void run(const GroupCall& call) override;
    std::optional<std::uint32_t> wait(std::span<const float* const> scalars,
                                      std::span<float> values) override;

    /// For each tensor of a program, which largest magnitudes the device finds while it writes the tensor.
    static std::vector<MaximaOf> watched(const program::Program& program);
    /// Bytes of these magnitudes, a part of own_bytes().
    [[nodiscard]] std::uint64_t maxima_bytes(const program::Program& program, const GroupShape& shape) const;

protected:
    void share(std::uint64_t count, std::uint64_t grain, const ShareWork& work) override;
    void forget_adopted() override;
    void forget_tensors() override;
    void forget_weights() override;

private:
    using Operator = program::Operator;

    // Row by row (cpu_rows.cpp). rows() runs the group's operators from place `skip` on.
    void rows(const GroupCall& call, std::size_t skip);
    [[nodiscard]] bool rows_of(const GroupCall& call, const Operator& one, std::size_t first,
                               std::size_t last) const;
    [[nodiscard]] bool norm_rows(const GroupCall& call, const Operator& one, std::size_t first,
                                 std::size_t last) const;
    [[nodiscard]] bool embed_rows(const GroupCall& call, const Operator& one, std::size_t first,
                                  std::size_t last) const;
    [[nodiscard]] bool rotate_rows(const GroupCall& call, const Operator& one, std::size_t first,
                                   std::size_t last) const;
    // Linear layers (cpu_linear.cpp).
    [[nodiscard]] static Product shape_of(const program::Program& program, const Operator& one,
                                          std::uint64_t rows);
    // Weights, packed at their first use since begin(), and measured by the update that wrote them or at
    // their first use (cpu_weights.cpp).
    [[nodiscard]] static bool multiplies_weight(const Operator& one);
    [[nodiscard]] std::uint64_t packed_weight_bytes(const program::Program& program,
                                                    const Operator& one) const;
    [[nodiscard]] std::uint64_t packed_weight_bytes(const program::Program& program) const;
    // Whether a program has products by both forms of its weights.
    [[nodiscard]] static bool uses_both_forms(const program::Program& program);
    [[nodiscard]] static TensorMaxima::Shape weight_shape(const program::Tensor& weight);
    [[nodiscard]] std::uint64_t weight_maxima_bytes(const program::Program& program) const;
    // Largest magnitudes of the lanes in which `product` takes the weight; nothing where it cuts its sums
    // otherwise, or where nothing would use them a second time.
    [[nodiscard]] LaneMaxima weight_maxima(const Operator& one, const Product& product);
    void list_measured();
    void begin_weights();
    // Calls write(first, last) on ranges of numbers that cover weight `id` once, which lies at `data`, and
    // finds the largest magnitudes of what is there then.
    void measure_weight(program::TensorId id, const float* data, const ShareWork& write);
    [[nodiscard]] bool is_measured(program::TensorId id) const {
        return id < measured_weights_.size() && measured_weights_[id].is_wanted;
    }
    // Tells `product` the largest magnitudes of operator `index`'s weight, or where it lies packed if weights
    // are kept.
    void prepare_weight(std::uint32_t index, Product& product);
    void linear(const GroupCall& call);
    void weight_gradient(const GroupCall& call);
    void column_gradient(const GroupCall& call);
    // Largest magnitudes of tensors that exact-integer products read (cpu_watch.cpp).
    static void list_watched(const program::Program& program, std::vector<MaximaOf>& all);
    static MaximaOf watch_of_logits(const program::Program& program);
    // The most columns that a thread watches at a time.
    static std::uint64_t share_columns(const program::Program& program, const std::vector<MaximaOf>& watched);
    void begin_watching();
    // A watched output of a group: its tensor, and where its columns begin in next_share().
    struct Watched {
        program::TensorId id = 0;
        std::uint64_t column = 0;
    };
    // The most watched outputs of a group. Products find the magnitudes of further ones themselves.
    static constexpr std::size_t kMostWatched = 4;
    // Prepares maxima_ for the tensors that the operators at `places` write row by row.
    std::span<const Watched> watch(std::span<const std::uint32_t> places);
    // Memory for the columns of the next thread that watches.
    std::int32_t* next_share();
    // Maxima from row `first` on, if operators over rows wrote all rows of the tensor last; else nothing.
    [[nodiscard]] LaneMaxima row_maxima(program::TensorId id, std::uint64_t first = 0) const;
    [[nodiscard]] LaneMaxima column_maxima(program::TensorId id, std::uint64_t first = 0) const;
    // Attention (cpu_attention.cpp).
    struct Heads;
    void warm_up();
    void attention(const GroupCall& call);
    void attention_gradient(const GroupCall& call);
    void attention_head(const GroupCall& call, const Heads& heads, std::uint64_t item, float* square);
    void attention_group(const GroupCall& call, const Heads& heads, std::uint64_t item, float* squares);
    // Head and loss (cpu_head.cpp).
    void head(const GroupCall& call);
    // Turns the logits of `count` rows from row `at` on into losses and, in a step, in place into their
    // gradient.
    void loss_rows(const GroupCall& call, std::uint64_t at, std::uint64_t count);
    void logits(const GroupCall& call);
    // The embedding's gradient, and the operators that run once per step (cpu_update.cpp).
    void embedding_gradient(const GroupCall& call);
    void global_norm(const GroupCall& call);
    void clip(const GroupCall& call);
    void square_tensor(const GroupCall& call, std::size_t operand, float* sums);
    void update(const GroupCall& call);
    // AdamW of one tensor, in place. Returns whether every number that it wrote is finite.
    bool adamw(const GroupCall& call, const Operator& one);
    // One operator on tensors in memory (cpu_single.cpp).
    void single(const GroupCall& call);
    void heads_of(const GroupCall& call);
    [[nodiscard]] bool head_of(const GroupCall& call, const Heads& heads, std::uint64_t sequence,
                               std::uint64_t head);
    void loss_of(const GroupCall& call);
    void step_of(const GroupCall& call);
    [[nodiscard]] bool is_sure_to_stay_finite(const GroupCall& call);
    [[nodiscard]] bool state_is_moderate(const GroupCall& call);
    void try_update(const GroupCall& call);

    // Records operator `index` as diverged unless `finite`.
    void note(std::uint32_t index, bool finite);
    // The operator of `kind` in the group.
    [[nodiscard]] std::uint32_t place_of(const Group& group, program::OperatorKind kind) const;
    [[nodiscard]] const Operator* find(const Group& group, program::OperatorKind kind) const;
    [[nodiscard]] float* in(const GroupCall& call, const Operator& one, std::size_t i) const {
        return call.tensors[one.operands[i]];
    }
    [[nodiscard]] float* out(const GroupCall& call, const Operator& one, std::size_t i) const {
        return call.tensors[one.outputs[i]];
    }
    [[nodiscard]] std::uint64_t cols(program::TensorId id) const { return program_->tensors[id].cols; }
    // One product of profile i16 or f32, guarded.
    [[nodiscard]] bool multiply(Product& product);
    [[nodiscard]] std::uint64_t row_count() const { return sequences_ * context_; }

    Target target_;
    const Kernels& kernels_;
    const ProductKernels* products_ = nullptr;
    std::optional<ProductGuard> guard_;
    ThreadPool pool_;
    std::unique_ptr<Arena> own_arena_;
    Arena& arena_;

    // Of the current program.
    const program::Program* program_ = nullptr;
    StepNumbers numbers_;
    std::uint64_t context_ = 0;
    std::uint64_t width_ = 0;
    std::uint64_t vocabulary_ = 0;
    std::vector<float> rope_cos_;
    std::vector<float> rope_sin_;
    program::ModelConfig rope_model_;  // the model that the tables are for

    // Weights packed as right operands of products, by operator; empty when they are not kept.
    struct PackedWeight {
        std::uint64_t offset = 0;  // in bytes
        bool is_there = false;
    };
    std::vector<PackedWeight> packed_weights_;
    // By tensor: the shapes of the weights that are measured, and what was found.
    struct MeasuredWeight {
        bool is_wanted = false;  // by the current program
        TensorMaxima::Shape shape;
        const float* data = nullptr;  // where the weight lay when it was measured
        TensorMaxima maxima;
    };
    std::vector<MeasuredWeight> measured_weights_;
    Scratch packed_memory_;
    std::byte* packed_data_ = nullptr;

    std::vector<MaximaOf> watched_;     // by tensor
    std::vector<TensorMaxima> maxima_;  // by tensor; used for the watched ones
    MaximaOf logits_watch_ = MaximaOf::kNothing;
    TensorMaxima logits_maxima_;  // of the current rows
    std::array<Watched, kMostWatched> watched_here_;
    std::vector<std::int32_t> share_memory_;
    std::uint64_t columns_of_share_ = 0;
    std::atomic<std::uint64_t> next_share_ = 0;

    // Of the loaded tokens, T per sequence; kNone: none.
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> inputs_;
    std::vector<std::uint32_t> targets_;
    std::vector<std::uint32_t> row_of_token_;  // row of the compact embedding gradient
    std::vector<std::uint32_t> last_place_;    // by token, while places are chained
    std::vector<std::uint32_t> next_place_;    // of the same token in the same sequence
    std::vector<bool> is_first_place_;         // of the token in the sequence

    program::ModelConfig warm_model_;  // the model that warm_up() ran for
    program::Profile warm_profile_ = program::Profile::kF32;

    // Of the current micro-batch.
    std::uint64_t first_ = 0;
    std::uint64_t sequences_ = 0;
    float loss_total_ = 0.0F;
    // Arrays that are known to hold moderate numbers (cpu_update.cpp): parameters and moments as the last
    // update left them. Forgotten when arrays are adopted, since the host may have changed any.
    std::array<const float*, 3> moderate_{};
    std::atomic<std::uint32_t> diverged_ = kNone;
};

}  // namespace assay::trainer
