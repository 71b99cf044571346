// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/cuda_device.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

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
      rope_cos_(lanes_),
      rope_sin_(lanes_),
      left_(lanes_),
      right_(lanes_),
      digests_(lanes_),
      more_digests_(lanes_),
      roots_(lanes_),
      sums_(lanes_),
      more_sums_(lanes_),
      update_(lanes_),
      updates_(lanes_),
      factors_(lanes_) {}

CudaDevice::~CudaDevice() {
    while (!adopted_.empty()) drop(adopted_.back().at);
}

PlanHints CudaDevice::hints() const {
    PlanHints hints{.tokens = 2048, .head_rows = 2048, .runs_groups = false};
    constexpr std::uint64_t kPiece = 256;  // bytes that a warp reads at a time, and more
    hints.alignment = kPiece / sizeof(float);
    // A launch has so many blocks along y and z, at most: rows of the embedding's gradient, and matrices of
    // attention. Of the head's gradient in i16 the vocabulary lies along y, at least 32 tokens a block.
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
}

void CudaDevice::select(std::uint64_t first, std::uint64_t count) {
    ASSAY_CHECK((first + count) * context_ <= loaded_.size());
    first_ = first;
    sequences_ = count;
    std::vector<std::uint32_t> places(row_count()), token, token_first;
    std::iota(places.begin(), places.end(), 0U);
    const std::uint32_t* const mine = loaded_.data() + first * context_;
    std::stable_sort(places.begin(), places.end(),
                     [mine](std::uint32_t a, std::uint32_t b) { return mine[a] < mine[b]; });
    for (std::uint32_t i = 0; i < places.size(); ++i) {
        if (!token.empty() && token.back() == mine[places[i]]) continue;
        token.push_back(mine[places[i]]);
        token_first.push_back(i);
    }
    token_first.push_back(static_cast<std::uint32_t>(places.size()));
    token_count_ = token.size();
    token_.put(token);
    token_first_.put(token_first);
    places_.put(places);
}

void CudaDevice::run(const GroupCall& call) {
    const bool is_update = call.group.kind == GroupKind::kUpdate;
    ASSAY_CHECK(is_update || call.group.kind == GroupKind::kSingle);
    for (const auto* list : {&call.group.reads, &call.group.writes}) {
        for (const program::TensorId id : *list) settle(call.tensors[id]);
    }
    const auto each = [&](UpdatePass pass) {
        for (const std::uint32_t index : call.group.operators) {
            run_one({program_->operators[index], call.tensors, index}, pass);
        }
    };
    if (!is_update) {
        each(UpdatePass::kAlways);
        return bands_.finish();
    }
    // One stream of work: whatever is not finite is known on the card before kApply looks, and the host waits
    // for nothing. All parameters change or none: whether one would not be finite is known only after all
    // were tried.
    each(UpdatePass::kTry);
    each(UpdatePass::kApply);
    bands_.finish();
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
