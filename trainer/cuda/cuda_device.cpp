// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/cuda_device.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "contracts/arithmetic/rope.hpp"
#include "contracts/base/check.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

CudaDevice::CudaDevice(std::unique_ptr<Card> card, const CudaOptions& options)
    : options_(options),
      card_(std::move(card)),
      lanes_(*card_, options.staging),
      bands_(lanes_),
      diverged_(lanes_),
      failed_(lanes_),
      gathered_(lanes_),
      loss_total_(lanes_),
      inputs_(lanes_),
      targets_(lanes_),
      token_(lanes_),
      token_first_(lanes_),
      places_(lanes_),
      word_rows_(lanes_),
      rope_cos_(lanes_),
      rope_sin_(lanes_),
      left_(lanes_),
      right_(lanes_),
      parts_(lanes_),
      value_digits_(lanes_),
      slope_digits_(lanes_),
      number_digits_(lanes_),
      digests_(lanes_),
      more_digests_(lanes_),
      roots_(lanes_),
      matrices_(lanes_),
      tree_table_(lanes_),
      sums_(lanes_),
      more_sums_(lanes_),
      update_(lanes_),
      updates_(lanes_),
      factors_(lanes_) {
    // Asked on the thread that chose the card.
    options_.ways.fused_attention = options_.ways.fused_attention && has_room_for_attention();
    const unsigned named = options_.ways.processors;
    if (has_wgmma()) processors_.count = named != 0 ? named : processor_count();
    processors_.weighs = named == 0;
}

CudaDevice::~CudaDevice() {
    while (!adopted_.empty()) drop(adopted_.back().at);
}

PlanHints CudaDevice::hints() const {
    PlanHints hints{.tokens = 2048, .head_rows = 2048, .starts_weight_gradients = true};
    // On a card the head's gradient takes the time of its longest chain, which goes over all words, whether
    // there are many rows or few.
    hints.logits = std::uint64_t{1} << 30U;
    constexpr std::uint64_t kPiece = 256;  // bytes that a warp reads at a time, and more
    hints.alignment = kPiece / sizeof(float);
    // A card's step is bound by the bandwidth of its memory more than a processor's, so it does not read
    // twice to save memory that no budget asks for.
    hints.worth_rematerialising = UINT64_MAX;
    // The most blocks of a launch along y and z: rows of the embedding's gradient, and matrices of attention.
    // In i16 the head's gradient has the vocabulary along y, with at least 32 tokens in a block.
    constexpr std::uint64_t kMostBlocks = 65'535;
    hints.most_at_once = kMostBlocks;
    hints.most_vocabulary = 32 * kMostBlocks;
    if (!capacity()) return hints;
    // So many tokens fill every processor of a large card; the plan takes fewer where memory asks for it.
    hints.tokens = std::uint64_t{32} << 10U;
    hints.head_rows = std::uint64_t{4} << 10U;
    return hints;
}

base::Outcome<void> CudaDevice::check() {
    lanes_.finish();
    return card_->check();
}

void CudaDevice::begin(const program::Program& program, const StepNumbers& numbers) {
    program_ = &program;
    numbers_ = numbers;
    const program::ModelConfig& model = program.model;
    context_ = model.context;
    diverged_.put(kNoOperator);
    loss_total_.put(0.0F);
    // Once the update has run nothing may fail any more for want of memory.
    static_cast<void>(gathered_.of(1 + kMostGathered));
    if (model.has_rotary_positions() && rope_model_ != model) {
        std::vector<float> cos(context_ * model.head_dim() / 2), sin(cos.size());
        arithmetic::rope_table(context_, model.head_dim(), static_cast<double>(model.rope_theta.value()), cos,
                               sin);
        rope_cos_.put(cos);
        rope_sin_.put(sin);
        rope_model_ = model;
    }
}

void CudaDevice::load(std::span<const std::uint32_t> tokens) {
    const std::uint64_t stride = context_ + 1;
    ASSAY_CHECK(tokens.size() % stride == 0);
    std::vector<std::uint32_t> targets;
    loaded_.clear();
    for (std::uint64_t start = 0; start < tokens.size(); start += stride) {
        const auto one = tokens.subspan(start, stride);
        for (const std::uint32_t token : one) ASSAY_CHECK(token < program_->model.vocabulary);
        loaded_.insert(loaded_.end(), one.begin(), one.end() - 1);
        targets.insert(targets.end(), one.begin() + 1, one.end());
    }
    inputs_.put(loaded_);
    targets_.put(targets);
    if (!numbers_.compact_embedding) return;
    row_of_word_.assign(program_->model.vocabulary, kNoRow);
    word_count_ = 0;
    for (const std::uint32_t word : loaded_) {
        if (row_of_word_[word] == kNoRow) row_of_word_[word] = static_cast<std::uint32_t>(word_count_++);
    }
    word_rows_.put(row_of_word_);
}

void CudaDevice::select(std::uint64_t first, std::uint64_t count) {
    ASSAY_CHECK((first + count) * context_ <= loaded_.size());
    first_ = first;
    sequences_ = count;
}

// Places of the micro-batch by token, ascending for each: counted, not sorted. Done when the embedding's
// gradient asks for them: by then the card has work for longer than this takes.
void CudaDevice::find_places() {
    const std::span<const std::uint32_t> mine(loaded_.data() + first_ * context_, row_count());
    std::vector<std::uint32_t> places(mine.size()), token, token_first;
    std::vector<std::uint32_t> next(program_->model.vocabulary, 0);
    for (const std::uint32_t one : mine) ++next[one];
    std::uint32_t before = 0;
    for (std::uint32_t one = 0; one < next.size(); ++one) {
        const std::uint32_t places_of_it = std::exchange(next[one], before);
        if (places_of_it == 0) continue;
        token.push_back(one);
        token_first.push_back(before);
        before += places_of_it;
    }
    for (std::uint32_t i = 0; i < places.size(); ++i) places[next[mine[i]]++] = i;
    token_first.push_back(static_cast<std::uint32_t>(places.size()));
    token_count_ = token.size();
    if (numbers_.compact_embedding) {
        for (std::uint32_t& row : token) row = row_of_word_[row];
    }
    token_.put(token);
    token_first_.put(token_first);
    places_.put(places);
}

std::vector<WorkTime> CudaDevice::timed(const std::function<void()>& work) {
    struct Forget {
        LaunchTimes*& of;
        ~Forget() { of = nullptr; }
    };
    ASSAY_CHECK(times_ == nullptr);
    LaunchTimes times(*card_);
    const Forget forget{times_};
    times_ = &times;
    times.begin_part("step");
    work();
    return times.take();
}

void CudaDevice::run(const GroupCall& call) {
    if (times_ != nullptr) times_->begin_part(std::string(to_text(call.group.kind)));
    for (const auto* list : {&call.group.reads, &call.group.writes}) {
        for (const program::TensorId id : *list) settle(call.tensors[id]);
    }
    switch (call.group.kind) {
        case GroupKind::kAttention: attention(call); break;
        case GroupKind::kAttentionGradient: attention_gradient(call); break;
        case GroupKind::kHead: head(call); break;
        case GroupKind::kLogits: logits(call); break;
        case GroupKind::kCollect: collect(call); break;
        case GroupKind::kUpdate: update(call); break;
        case GroupKind::kWeightGradient:
            for (const std::uint32_t index : call.group.operators)
                weight_gradient(call_of(index, call.tensors), first_ != 0);
            break;
        case GroupKind::kRows:
        case GroupKind::kLinear:
        case GroupKind::kColumnGradient:
        case GroupKind::kEmbeddingGradient:
        case GroupKind::kSingle:
            for (const std::uint32_t index : call.group.operators) {
                run_one(call_of(index, call.tensors));
            }
    }
    bands_.finish();
    if (times_ != nullptr) times_->begin_part("step");
}

std::optional<std::uint32_t> CudaDevice::wait(std::span<const float* const> scalars,
                                              std::span<float> values) {
    ASSAY_CHECK(scalars.size() == values.size() && scalars.size() <= kMostGathered);
    GatherArgs args{.count = static_cast<unsigned>(scalars.size()), .diverged = diverged_.data()};
    std::copy(scalars.begin(), scalars.end(), args.from);
    args.out = gathered_.of(1 + kMostGathered);
    args.out.count = 1 + scalars.size();
    gather(stream(), args);
    std::array<std::uint32_t, 1 + kMostGathered> words{kNoOperator};
    lanes_.to_host(words.data(), args.out.data, args.out.count * sizeof(std::uint32_t));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::bit_cast<float>(words[1 + i]);
    return words[0] == kNoOperator ? std::nullopt : std::optional<std::uint32_t>(words[0]);
}

std::uint64_t CudaDevice::rows_of(program::TensorId id) const {
    return program_->tensors[id].rows.of(sequences_);
}

OutputArray<float> CudaDevice::out(const OperatorCall& call, std::size_t i) const {
    const program::TensorId id = call.one.outputs[i];
    OutputArray<float> array;
    array.data = call.tensors[id];
    array.count = rows_of(id) * cols(id);
    return array;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
