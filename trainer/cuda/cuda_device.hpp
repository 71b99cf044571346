// SPDX-License-Identifier: Apache-2.0
// CudaDevice gives a GPU, or an emulated one, as a Device: every operator, root and end of a round is
// launched on a Card. Adopted arrays are copies on it. Operators run one by one, each tensor in memory.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "trainer/cuda/card.hpp"
#include "trainer/cuda/launch/arrays.hpp"
#include "trainer/cuda/launch/products.hpp"
#include "trainer/cuda/launch/rows.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

class CudaDevice : public Device {
public:
    explicit CudaDevice(std::unique_ptr<Card> card);
    ~CudaDevice() override;

    [[nodiscard]] std::string_view name() const override { return card_->name(); }
    [[nodiscard]] PlanHints hints() const override;
    [[nodiscard]] base::Outcome<void> check() override { return card_->check(); }

    float* allocate(std::uint64_t count) override {
        return static_cast<float*>(card_->allocate(count * sizeof(float)));
    }
    void release(float* at) override { card_->release(at); }
    void zero(float* at, std::uint64_t count) override;
    void read(const float* from, std::span<float> to) override;
    void write(float* to, std::span<const float> from) override;
    float* adopt(std::span<float> host) override;
    const float* adopt_read_only(std::span<const float> host) override;
    void sync(float* adopted) override;
    void drop(const float* adopted) override;
    [[nodiscard]] std::uint64_t scratch(const program::Program&, const Group&,
                                        const GroupShape&) const override {
        return 0;
    }
    [[nodiscard]] std::uint64_t own_bytes(const program::Program& program,
                                          const GroupShape& shape) const override;
    void begin(const program::Program& program, const StepNumbers& numbers) override;
    void load(std::span<const std::uint32_t> tokens) override;
    void select(std::uint64_t first, std::uint64_t count) override;
    void run(const GroupCall& call) override;
    std::optional<std::uint32_t> wait(std::span<const float* const> scalars,
                                      std::span<float> values) override;

    [[nodiscard]] bool is_finite(DeviceView array) override;
    [[nodiscard]] base::Outcome<std::vector<base::Hash256>> roots(
        const std::vector<program::TensorInfo>& tensors, std::span<const DeviceView> arrays) override;
    void tile_hashes(std::uint64_t cols, std::span<const float> matrix,
                     std::span<base::Hash256> out) override;
    [[nodiscard]] base::Outcome<base::Hash256> update_root(const std::vector<program::TensorInfo>& tensors,
                                                           std::span<const std::int64_t> update) override;
    /// Codecs and outer optimizers without a kernel run as their rows have them.
    [[nodiscard]] base::Outcome<bool> finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                               std::span<std::int64_t> update) override;
    [[nodiscard]] base::Outcome<bool> merge(const RoundLaw& law,
                                            std::span<const program::Contribution> contributions,
                                            DeviceArray parameters, DeviceArray outer_momentum) override;

private:
    using Operator = program::Operator;

    // An operator and where its tensors lie.
    struct OperatorCall {
        const Operator& one;
        std::span<float* const> tensors;
        std::uint32_t index = 0;
        [[nodiscard]] const float* in(std::size_t i) const { return tensors[one.operands[i]]; }
    };
    // `matrices` products c = a · b, strided, with what the causal mask leaves.
    struct Products {
        unsigned m = 0, n = 0, k = 0, matrices = 1;
        OperandView a, b;  // (i, k) and (k, j)
        OutputArray<float> c;
        OperandPlace to;
        Mask mask = Mask::kNone;
        const float* bias = nullptr;
        float scale = 1.0F;
        bool carry = false;
    };
    // Digits of one operand, and room for those of later products.
    struct Digited {
        explicit Digited(Card& card) : words(card), exponents(card) {}
        CardRoom<std::uint32_t> words;
        CardRoom<std::int32_t> exponents;
    };

    void run_one(const OperatorCall& call, UpdatePass pass);
    void rows(const OperatorCall& call);
    void norms(const OperatorCall& call);
    void columns(const OperatorCall& call, ColumnKind kind);
    void linear(const OperatorCall& call);
    void weight_gradient(const OperatorCall& call);
    void attention_products(const OperatorCall& call);
    void softmax(const OperatorCall& call);
    void loss(const OperatorCall& call);
    void embedding(const OperatorCall& call);
    void norm(const OperatorCall& call);
    void update(const OperatorCall& call, UpdatePass pass);

    void multiply(const Operator& one, const Products& products);
    void multiply_exactly(const Operator& one, const Products& products);
    Digits pack(Digited& into, DigitPlace place, OperandView from, Mask mask, unsigned matrices);
    // Notes the operator if a number that it wrote is not finite.
    void check_outputs(const OperatorCall& call);

    // The root of a matrix, and of an array that is cut into tensors.
    template <class T>
    base::Hash256 matrix_root(const program::TensorInfo& tensor, const T* numbers);
    template <class T>
    base::Hash256 array_root(const std::vector<program::TensorInfo>& tensors, std::span<const T> array);

    [[nodiscard]] OutputArray<float> out(const OperatorCall& call, std::size_t i) const;
    [[nodiscard]] std::uint64_t cols(program::TensorId id) const { return program_->tensors[id].cols; }
    [[nodiscard]] std::uint64_t rows_of(program::TensorId id) const;
    [[nodiscard]] std::uint64_t row_count() const { return sequences_ * context_; }
    [[nodiscard]] const std::uint32_t* inputs() const { return inputs_.data() + first_ * context_; }
    [[nodiscard]] const std::uint32_t* targets() const { return targets_.data() + first_ * context_; }
    [[nodiscard]] LaunchStream stream() { return card_->stream(); }
    // Copies an array to the host.
    [[nodiscard]] std::vector<float> fetched(DeviceView array);
    [[nodiscard]] bool merge_by_kernel(const RoundLaw& law,
                                       std::span<const program::Contribution> contributions,
                                       DeviceArray parameters, DeviceArray outer_momentum);

    // An array of the host and its copy on the card.
    struct Adoption {
        float* at = nullptr;
        float* host = nullptr;  // null: only read
        std::uint64_t count = 0;
    };

    std::unique_ptr<Card> card_;  // outlives all room on it
    const program::Program* program_ = nullptr;
    StepNumbers numbers_;
    std::uint64_t context_ = 0;
    std::uint64_t first_ = 0, sequences_ = 0;
    CardRoom<unsigned> diverged_;  // first operator with a number that was not finite
    CardRoom<unsigned> failed_;    // the same of a whole array
    CardRoom<float> loss_total_;
    std::vector<std::uint32_t> loaded_;  // inputs on the host
    CardRoom<std::uint32_t> inputs_, targets_;
    // Tokens of the micro-batch that occur, and the places of each.
    std::uint64_t token_count_ = 0;
    CardRoom<std::uint32_t> token_, token_first_, places_;
    std::optional<program::ModelConfig> rope_model_;
    CardRoom<float> rope_cos_, rope_sin_;
    Digited left_, right_;
    std::vector<Adoption> adopted_;
    CardRoom<std::uint64_t> digests_, more_digests_;
    CardRoom<float> sums_, more_sums_;  // of columns, sequences, tiles
    CardRoom<float> matrix_;            // of the host
    CardRoom<std::int64_t> update_;
    CardRoom<const std::int64_t*> updates_;
    CardRoom<std::uint64_t> factors_;
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
