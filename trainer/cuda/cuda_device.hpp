// SPDX-License-Identifier: Apache-2.0
// CudaDevice is a GPU, or an emulated one, as a Device: it launches every operator, root and end of a round
// on a Card. Adopted arrays are copies on the card; streamed ones stay with the host and pass through the
// card a part at a time. Logits exist for some rows at a time. Squares of attention, unless it is fused,
// exist for some heads at a time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "trainer/cuda/card_bands.hpp"
#include "trainer/cuda/card_ways.hpp"
#include "trainer/cuda/launch/arrays.hpp"
#include "trainer/cuda/launch/attention.hpp"
#include "trainer/cuda/launch/products.hpp"
#include "trainer/cuda/launch/rows.hpp"
#include "trainer/cuda/launch_times.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Sizes on which no bit depends.
struct CudaOptions {
    std::uint64_t staging = std::uint64_t{8} << 20U;  ///< bytes of pinned memory for copies
    std::uint64_t band = std::uint64_t{1}
                         << 20U;  ///< numbers of a streamed array that are on the card at a time
    /// Bytes of attention's squares of one kind that exist at a time (more if one group of heads needs more).
    /// The default holds 24 heads of 1,024 tokens: their 384 tiles of 64 queries fill a large card, and more
    /// would only leave its cache. With fused attention the limit is for its operands' digits: some 140 such
    /// heads.
    std::uint64_t squares = std::uint64_t{96} << 20U;
    CardWays ways = {};
};

class CudaDevice : public Device {
public:
    explicit CudaDevice(std::unique_ptr<Card> card, const CudaOptions& options = {});
    ~CudaDevice() override;

    [[nodiscard]] std::string_view name() const override { return card_->name(); }
    [[nodiscard]] PlanHints hints() const override;
    [[nodiscard]] std::optional<std::uint64_t> capacity() const override { return card_->capacity(); }
    /// Waits for ordered work, if there is any since the last wait.
    [[nodiscard]] base::Outcome<void> check() override;

    float* allocate(std::uint64_t count) override;
    void release(float* at) override { card_->release(at); }
    void zero(float* at, std::uint64_t count) override;
    void read(const float* from, std::span<float> to) override;
    void write(float* to, std::span<const float> from) override;
    float* adopt(std::span<float> host) override;
    const float* adopt_read_only(std::span<const float> host) override;
    float* adopt_streamed(std::span<float> host) override;
    const float* adopt_streamed_read_only(std::span<const float> host) override;
    void sync(float* adopted) override;
    void drop(const float* adopted) override;
    [[nodiscard]] std::uint64_t scratch(const program::Program& program, const Group& group,
                                        const GroupShape& shape) const override;
    [[nodiscard]] std::uint64_t own_bytes(const program::Program& program,
                                          const GroupShape& shape) const override;
    [[nodiscard]] std::uint64_t host_bytes() const override { return options_.staging; }
    void begin(const program::Program& program, const StepNumbers& numbers) override;
    void load(std::span<const std::uint32_t> tokens) override;
    void select(std::uint64_t first, std::uint64_t count) override;
    void run(const GroupCall& call) override;
    std::optional<std::uint32_t> wait(std::span<const float* const> scalars,
                                      std::span<float> values) override;
    /// Parts are named by kind of group and kernel.
    [[nodiscard]] std::vector<WorkTime> timed(const std::function<void()>& work) override;

    [[nodiscard]] bool is_finite(DeviceView array) override;
    [[nodiscard]] base::Outcome<std::vector<base::Hash256>> roots(
        const std::vector<program::TensorInfo>& tensors, std::span<const DeviceView> arrays) override;
    void tile_hashes(std::uint64_t cols, std::span<const float> matrix,
                     std::span<base::Hash256> out) override;
    [[nodiscard]] base::Outcome<base::Hash256> update_root(const std::vector<program::TensorInfo>& tensors,
                                                           std::span<const std::int64_t> update) override;
    /// Codecs and outer optimizers without a kernel run as their rows define them, on the host.
    [[nodiscard]] base::Outcome<bool> finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                               std::span<std::int64_t> update) override;
    [[nodiscard]] base::Outcome<bool> merge(const RoundLaw& law,
                                            std::span<const program::Contribution> contributions,
                                            DeviceArray parameters, DeviceArray outer_momentum) override;

protected:
    [[nodiscard]] Card& card() { return *card_; }

private:
    /// Throws DeviceFailure when the card has failed.
    void require_sound();
    using Operator = program::Operator;

    // An operator, the addresses of its tensors, and the number of tokens whose rows it works on.
    struct OperatorCall {
        const Operator& one;
        std::span<float* const> tensors;
        std::uint32_t index = 0;
        std::uint64_t rows = 0;
        [[nodiscard]] const float* in(std::size_t i) const { return tensors[one.operands[i]]; }
    };
    // The products of attention's backward pass, and the product of the forward pass that it makes again.
    struct GradientProducts {
        OperatorCall by_value, by_probability, by_query, by_key, scores;
    };
    // Query heads of a micro-batch, in whole groups that share keys: some heads of one sequence, or all heads
    // of some sequences.
    struct HeadRange {
        std::uint64_t sequence = 0, sequences = 0;
        std::uint64_t head = 0, heads = 0;
    };
    // `matrices` products c = a · b of strided operands, under the causal mask.
    struct Products {
        unsigned m = 0, n = 0, k = 0, matrices = 1;
        OperandView a, b;  // (i, k) and (k, j)
        OutputArray<float> c;
        OperandPlace to;
        Mask mask = Mask::kNone;
        const float* bias = nullptr;
        float scale = 1.0F;
        bool carry = false;
        NumberWatch watch;
    };
    // Operands of fused attention whose digits exist at the same time.
    static constexpr std::uint64_t kAttentionOperands = 5;
    // The place of one operand's digits for a head; no other operand takes more.
    [[nodiscard]] static DigitPlace attention_digits(const program::ModelConfig& model);
    // Digits of one operand, and room for those of later products.
    struct Digited {
        explicit Digited(CardLanes& lanes) : words(lanes), exponents(lanes) {}
        CardRoom<std::uint32_t> words;
        CardRoom<std::int32_t> exponents;
    };

    [[nodiscard]] OperatorCall call_of(std::uint32_t index, std::span<float* const> tensors) const {
        return {program_->operators[index], tensors, index, row_count()};
    }
    void run_one(const OperatorCall& call);
    // Groups with tensors of which only a part exists at a time, in scratch (cuda_groups.cpp).
    void attention(const GroupCall& call);
    void attention_gradient(const GroupCall& call);
    [[nodiscard]] GradientProducts gradient_products(const GroupCall& call) const;
    // The same without squares in memory (cuda_attention.cpp).
    void fused_attention(const GroupCall& call);
    void fused_attention_gradient(const GroupCall& call);
    [[nodiscard]] AttentionI16Args attention_args(const OperatorCall& scores, const HeadRange& range);
    // Packs a range's operand as digits: of key heads if `of_keys`, else of query heads.
    enum class HeadLines : std::uint8_t { kTokens, kNumbers };
    Digits pack_heads(Digited& into, HeadLines lines, const OperatorCall& call, std::size_t operand,
                      const HeadRange& range, std::uint64_t column, bool of_keys);
    [[nodiscard]] static OutputArray<float> floats(float* data, std::uint64_t count);
    void head(const GroupCall& call);
    void logits(const GroupCall& call);
    void collect(const GroupCall& call);
    void update(const GroupCall& call);
    // The index of a group's operator of this kind; null when it has none.
    [[nodiscard]] const std::uint32_t* find(const Group& group, program::OperatorKind kind) const;
    // Addresses of a group's tensors. The group adds those of tensors that lie in its scratch.
    std::vector<float*>& places_of(const GroupCall& call);
    [[nodiscard]] std::uint32_t writer_of(program::TensorId id) const;
    // The number of query heads that attention works on at a time if each needs so many bytes; and the
    // micro-batch's heads in such parts.
    [[nodiscard]] std::uint64_t heads_at_a_time(const program::ModelConfig& model, std::uint64_t bytes) const;
    [[nodiscard]] std::vector<HeadRange> ranges(std::uint64_t bytes) const;
    // Bytes that a head needs: for its square or, in fused attention, for the digits of its operands.
    [[nodiscard]] std::uint64_t square_bytes(const program::ModelConfig& model) const;
    [[nodiscard]] std::uint64_t head_bytes(const program::Program& program) const;
    [[nodiscard]] bool fuses_attention(const program::Program& program) const;
    [[nodiscard]] std::uint64_t first_square(const HeadRange& range) const;
    void rows(const OperatorCall& call);
    void norms(const OperatorCall& call);
    void columns(const OperatorCall& call, ColumnKind kind);
    void linear(const OperatorCall& call);
    // Adds to the gradient with `carry`, else overwrites it.
    void weight_gradient(const OperatorCall& call, bool carry);
    // `squares` are those of the range.
    void attention_product(const OperatorCall& call, const HeadRange& range, float* squares);
    void shared_gradient(const OperatorCall& call, const HeadRange& range, float* squares);
    [[nodiscard]] const float* rows_from(const OperatorCall& call, std::size_t operand,
                                         const HeadRange& range, std::uint64_t column) const;
    [[nodiscard]] OutputArray<float> rows_to(const OperatorCall& call, const HeadRange& range,
                                             std::uint64_t column) const;
    void attention_products(const OperatorCall& call);
    void softmax(const OperatorCall& call);
    void loss(const OperatorCall& call);
    void embedding(const OperatorCall& call);
    void find_places();
    // With `watching` it also checks that the gradients are finite, which no other kernel has checked.
    void norm(const OperatorCall& call, bool watching);
    [[nodiscard]] AdamWArgs adamw_args(const OperatorCall& call) const;
    void update_all(std::span<const AdamWArgs> tensors, UpdatePass pass);
    // AdamW with moments that stay with the host.
    void update_streamed(const AdamWArgs& all, UpdatePass pass);

    void multiply(const Operator& one, const Products& products);
    void multiply_exactly(const Operator& one, const Products& products);
    Digits pack(Digited& into, DigitPlace place, OperandView from, Mask mask, unsigned matrices);
    [[nodiscard]] NumberWatch watch(std::uint32_t index) const { return {diverged_.data(), index}; }

    // The memory in which a whole array lies.
    enum class Place : std::uint8_t { kCard, kPinned, kPlain };
    [[nodiscard]] Place place_of(const float* at) const;
    [[nodiscard]] Place place_of(const std::int64_t*) const {
        return Place::kPlain;
    }  // updates are the host's
    // Calls work(first, count, at) on parts of an array, with each part on the card. A streamed array passes
    // through the card part by part.
    template <class T, class Work>
    void in_parts(std::span<const T> array, Place place, std::uint64_t part, const Work& work);
    // Digests of a matrix's tiles.
    template <class T>
    void tile_digests(std::uint64_t cols, std::span<const T> matrix, Place place,
                      OutputArray<std::uint64_t> digests);
    // Roots of arrays that consist of these tensors.
    template <class T>
    std::vector<base::Hash256> array_roots(const std::vector<program::TensorInfo>& tensors,
                                           std::span<const std::span<const T>> arrays);

    [[nodiscard]] OutputArray<float> out(const OperatorCall& call, std::size_t i) const;
    [[nodiscard]] std::uint64_t cols(program::TensorId id) const { return program_->tensors[id].cols; }
    [[nodiscard]] std::uint64_t rows_of(program::TensorId id) const;
    [[nodiscard]] std::uint64_t row_count() const { return sequences_ * context_; }
    [[nodiscard]] const std::uint32_t* inputs() const { return inputs_.data() + first_ * context_; }
    [[nodiscard]] const std::uint32_t* targets() const { return targets_.data() + first_ * context_; }
    [[nodiscard]] LaunchStream stream() { return lanes_.stream(); }
    // Copies an array to the host.
    [[nodiscard]] std::vector<float> fetched(DeviceView array);
    [[nodiscard]] bool merge_by_kernel(const RoundLaw& law,
                                       std::span<const program::Contribution> contributions,
                                       DeviceArray parameters, DeviceArray outer_momentum);

    // An adopted array of the host, and the place of its numbers.
    struct Held {
        float* at = nullptr;
        float* host = nullptr;  // null: only read
        std::uint64_t count = 0;
        Place place = Place::kCard;
        std::optional<Ticket> coming;  // the copy to the card, while no work was held for it yet
    };
    Held& held(const float* at);
    [[nodiscard]] const Held* holder_of(const float* at) const;
    // Holds work until the adopted array that contains the address is on the card.
    void settle(const float* at);

    CudaOptions options_;
    Processors processors_;
    std::unique_ptr<Card> card_;  // outlives all room on it
    CardLanes lanes_;
    CardBands bands_;
    LaunchTimes* times_ = nullptr;  // while timed() runs
    const program::Program* program_ = nullptr;
    StepNumbers numbers_;
    std::uint64_t context_ = 0;
    std::uint64_t first_ = 0, sequences_ = 0;
    CardRoom<unsigned> diverged_;  // first operator with a number that is not finite
    CardRoom<unsigned> failed_;    // the same for a whole array
    CardRoom<std::uint32_t> gathered_;
    CardRoom<float> loss_total_;
    std::vector<std::uint32_t> loaded_;  // inputs on the host
    CardRoom<std::uint32_t> inputs_, targets_;
    // Tokens of the micro-batch that occur, and the places of each.
    std::uint64_t token_count_ = 0;
    CardRoom<std::uint32_t> token_, token_first_, places_;
    // For a step with a compact embedding gradient: the row of each word in it.
    std::vector<std::uint32_t> row_of_word_;
    std::uint64_t word_count_ = 0;  // words that occur
    CardRoom<std::uint32_t> word_rows_;
    std::vector<float*> group_places_;
    std::optional<program::ModelConfig> rope_model_;
    CardRoom<float> rope_cos_, rope_sin_;
    Digited left_, right_;
    CardRoom<float> parts_;  // partial results of products that are cut along k
    Digited value_digits_, slope_digits_,
        number_digits_;  // fused attention's, beside queries left, keys right
    std::vector<Held> adopted_;
    CardRoom<std::uint64_t> digests_, more_digests_, roots_;
    CardRoom<HashedMatrix> matrices_;
    CardRoom<std::uint32_t> tree_table_;
    CardRoom<float> sums_, more_sums_;  // of columns, sequences, tiles
    CardRoom<std::int64_t> update_;
    CardRoom<const std::int64_t*> updates_;
    CardRoom<std::uint64_t> factors_;
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
