// SPDX-License-Identifier: Apache-2.0
// Memory: what is allocated, adopted and streamed, and what a plan has to leave for the device itself.
#include <algorithm>
#include <bit>
#include <cstring>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/check.hpp"
#include "trainer/cuda/cuda_device.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

using Kind = program::OperatorKind;

float* CudaDevice::allocate(std::uint64_t count) {
    return static_cast<float*>(card_->allocate(count * sizeof(float)));
}

void CudaDevice::zero(float* at, std::uint64_t count) {
    if (count != 0) lanes_.zero(at, count * sizeof(float));
}

void CudaDevice::read(const float* from, std::span<float> to) {
    if (to.empty()) return;
    settle(from);
    if (place_of(from) == Place::kCard) return lanes_.to_host(to.data(), from, to.size_bytes());
    lanes_.finish();
    if (!card_->has_failed()) std::memcpy(to.data(), from, to.size_bytes());
}

void CudaDevice::write(float* to, std::span<const float> from) {
    if (from.empty()) return;
    settle(to);
    if (place_of(to) == Place::kCard)
        return lanes_.to_card(CardLane::kWork, to, from.data(), from.size_bytes());
    lanes_.finish();
    std::memcpy(to, from.data(), from.size_bytes());
}

const CudaDevice::Held* CudaDevice::holder_of(const float* at) const {
    const auto found = std::find_if(adopted_.begin(), adopted_.end(), [at](const Held& one) {
        return one.at <= at && at < one.at + one.count;
    });
    return found == adopted_.end() ? nullptr : &*found;
}

CudaDevice::Held& CudaDevice::held(const float* at) {
    const auto found =
        std::find_if(adopted_.begin(), adopted_.end(), [at](const Held& one) { return one.at == at; });
    ASSAY_CHECK(found != adopted_.end());
    return *found;
}

void CudaDevice::settle(const float* at) {
    for (Held& one : adopted_) {
        if (!one.coming || at < one.at || at >= one.at + one.count) continue;
        lanes_.hold(CardLane::kWork, *one.coming);
        one.coming.reset();
    }
}

float* CudaDevice::adopt(std::span<float> host) {
    float* const at = allocate(host.size());
    adopted_.push_back({at, host.data(), host.size(), Place::kCard, std::nullopt});
    if (host.empty()) return at;
    // The copy runs next to the work; work that needs it is held until it is done.
    lanes_.hold(CardLane::kCopies, lanes_.allocated());
    try {
        lanes_.to_card(CardLane::kCopies, at, host.data(), host.size_bytes());
    } catch (const std::bad_alloc&) {  // the caller has no address to drop
        adopted_.pop_back();
        release(at);
        throw;
    }
    adopted_.back().coming = lanes_.record(CardLane::kCopies);
    return at;
}

const float* CudaDevice::adopt_read_only(std::span<const float> host) {
    // Only sync() writes to a host's array, and of this one it does not.
    float* const at = adopt({const_cast<float*>(host.data()), host.size()});
    adopted_.back().host = nullptr;
    return at;
}

float* CudaDevice::adopt_streamed(std::span<float> host) {
    auto* const at = static_cast<float*>(card_->allocate_pinned(host.size_bytes()));
    std::copy(host.begin(), host.end(), at);
    adopted_.push_back({at, host.data(), host.size(), Place::kPinned, std::nullopt});
    return at;
}

const float* CudaDevice::adopt_streamed_read_only(std::span<const float> host) {
    // The host does not change it, so it is read where it lies.
    adopted_.push_back({const_cast<float*>(host.data()), nullptr, host.size(), Place::kPlain, std::nullopt});
    return host.data();
}

void CudaDevice::sync(float* adopted) {
    const Held& one = held(adopted);
    ASSAY_CHECK(one.host != nullptr || one.count == 0);
    read(adopted, std::span(one.host, one.count));
}

void CudaDevice::drop(const float* adopted) {
    Held& one = held(adopted);
    if (one.coming) lanes_.hold(CardLane::kWork, *one.coming);
    if (one.place == Place::kCard) card_->release(one.at);
    if (one.place == Place::kPinned) {
        lanes_.finish();
        card_->release_pinned(one.at);
    }
    adopted_.erase(adopted_.begin() + (&one - adopted_.data()));
}

namespace {
// What a room takes on a card: whole pieces of 256 bytes.
std::uint64_t room(std::uint64_t bytes) {
    constexpr std::uint64_t kPiece = 256;
    return (bytes / kPiece + 1) * kPiece;
}

// Lines and depths of a product's operands, for each of its matrices.
struct OperandSides {
    std::uint64_t m = 0, n = 0, k = 0, matrices = 1;
};

// Of an operator that takes at most `rows` tokens of the layers, `head_rows` of the head, and `heads` heads
// at a time.
struct OperandParts {
    std::uint64_t rows = 0, head_rows = 0, heads = 0;
};

OperandSides operand_sides(const program::Program& program, const program::Operator& one,
                           const OperandParts& parts) {
    const auto cols = [&](program::TensorId id) { return program.tensors[id].cols; };
    const std::uint64_t context = program.model.context, dim = program.model.head_dim();
    const std::uint64_t heads = parts.heads;
    const std::uint64_t rows = group_kind(one) == GroupKind::kHead ? parts.head_rows : parts.rows;
    switch (one.kind) {
        case Kind::kLinear:
        case Kind::kLinearInputGradient:
        case Kind::kHead:
        case Kind::kHeadInputGradient: return {rows, cols(one.outputs[0]), cols(one.operands[0])};
        case Kind::kLinearWeightGradient:
        case Kind::kHeadWeightGradient: {
            // Which of the two is left depends on the weight's layout.
            const std::uint64_t wider = std::max(cols(one.operands[0]), cols(one.operands[1]));
            return {wider, wider, rows};
        }
        case Kind::kAttentionScores:
        case Kind::kAttentionProbabilityGradient: return {context, context, dim, heads};
        case Kind::kAttentionValues:
        case Kind::kAttentionQueryGradient:
        case Kind::kAttentionValueGradient:
        case Kind::kAttentionKeyGradient: return {context, dim, context, heads};
        default: return {};
    }
}

// Digits of fused attention's operands; `of_head` is one operand's place for a head. No heads: not fused.
struct FusedDigits {
    std::uint64_t heads = 0, operands = 0;
    DigitPlace of_head;
    [[nodiscard]] std::uint64_t words() const { return heads == 0 ? 0 : heads * of_head.words(); }
    [[nodiscard]] std::uint64_t exponents() const { return heads == 0 ? 0 : heads * of_head.exponents(); }
};

// Most that each of the rooms for digits and for parts of products takes, whether operators run in groups or
// one by one. Fused attention shares two of them and has some of its own.
std::uint64_t product_bytes(const program::Program& program, const OperandParts& parts,
                            const FusedDigits& fused, unsigned processors) {
    std::uint64_t words[2] = {fused.words(), fused.words()};
    std::uint64_t exponents[2] = {fused.exponents(), fused.exponents()}, cut = 0;
    for (const program::Operator& one : program.operators) {
        const OperandSides shape = operand_sides(program, one, parts);
        if (shape.m == 0) continue;
        const auto place = [&](std::uint64_t lines, unsigned planes) {
            return DigitPlace{static_cast<unsigned>(lines), static_cast<unsigned>(shape.k),
                              static_cast<unsigned>(one.rule.block), planes};
        };
        const DigitPlace places[2] = {place(shape.m, static_cast<unsigned>(one.rule.a_digits)),
                                      place(shape.n, static_cast<unsigned>(one.rule.b_digits))};
        for (std::size_t side = 0; side < 2; ++side) {
            words[side] = std::max(words[side], shape.matrices * places[side].words());
            exponents[side] = std::max(exponents[side], shape.matrices * places[side].exponents());
        }
        if (shape.matrices == 1) cut = std::max(cut, most_part_numbers(places[0], places[1], processors));
    }
    constexpr std::uint64_t kWord = sizeof(std::uint32_t);
    std::uint64_t bytes = room(kWord * words[0]) + room(kWord * words[1]) + room(kWord * exponents[0]) +
                          room(kWord * exponents[1]) + (cut == 0 ? 0 : room(kWord * cut));
    if (fused.heads != 0)
        bytes += (fused.operands - 2) * (room(kWord * fused.words()) + room(kWord * fused.exponents()));
    return bytes;
}
}  // namespace

std::uint64_t CudaDevice::own_bytes(const program::Program& program, const GroupShape& shape) const {
    constexpr std::uint64_t kWord = sizeof(std::uint32_t), kDigest = 32, kTile = arithmetic::kTile;
    const std::uint64_t context = program.model.context;
    const std::uint64_t all = std::max(shape.sequences, shape.all_sequences) * context;
    const std::uint64_t heads = shape.sequences * program.model.heads;
    const OperandParts parts{
        .rows = shape.sequences * context,
        .head_rows = shape.head_rows,
        .heads = std::min(heads_at_a_time(program.model, square_bytes(program.model)), heads)};
    FusedDigits fused;
    if (fuses_attention(program)) {
        fused = {.heads = std::min(heads_at_a_time(program.model, head_bytes(program)), heads),
                 .operands = kAttentionOperands,
                 .of_head = attention_digits(program.model)};
    }
    std::uint64_t bytes = program.profile == program::Profile::kI16
                              ? product_bytes(program, parts, fused, processors_.count)
                              : 0;
    std::uint64_t widest = 0, tiles = 0, most_tiles = 0, widest_parameter = 0;
    for (const program::Tensor& tensor : program.tensors) widest = std::max(widest, tensor.cols);
    for (const program::TensorInfo& tensor : program.parameters) {
        const std::uint64_t count = arithmetic::tile_count(tensor.rows, tensor.cols);
        tiles += count;
        most_tiles = std::max(most_tiles, count);
        widest_parameter = std::max(widest_parameter, tensor.cols);
    }
    // Sums of columns, sequences, tiles: two of them. A tied matrix has its tiles once.
    const std::uint64_t sums = std::max(shape.sequences * widest, tiles);
    bytes += 2 * room(kWord * sums);
    // Tokens and targets; a word's row of the embedding's gradient; tokens of a micro-batch, sorted;
    // rotations.
    if (tied_gradient(program)) bytes += room(kWord * program.model.vocabulary);
    bytes += 2 * room(kWord * all) + 3 * room(kWord * (shape.sequences * context + 1));
    bytes += 2 * room(kWord * context * program.model.head_dim());
    // Digests of an array's tiles and of the level above, and of tensors for all three arrays of a state;
    // where each tensor's digests begin on every level.
    const std::uint64_t tensors = program.parameters.size();
    const std::uint64_t of_output = std::max(options_.band, widest) / kTile + 1;  // tile_hashes()
    bytes += room(kDigest * std::max(tiles, of_output)) + room(kDigest * (tiles + tensors) / 2);
    bytes += room(3 * kDigest * tensors) + room(sizeof(HashedMatrix) * tensors);
    bytes += room(kWord * (tensors + 1) * (1 + std::bit_width(most_tiles)));
    // Parts of streamed arrays: two of a merge's, the largest; an update's numbers.
    const std::uint64_t band = std::max(options_.band, kTile * widest_parameter);
    bytes += room(2 * room(4 * kWord * band)) + room(2 * kWord * options_.band);
    // The numbers that the host looks at, and the arguments of a merge.
    constexpr std::uint64_t kSmall = 8, kMostUpdates = 1024;
    return bytes + kSmall * room(0) + 2 * room(kMostUpdates * sizeof(std::uint64_t));
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
