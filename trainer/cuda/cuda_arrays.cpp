// SPDX-License-Identifier: Apache-2.0
// Memory, adopted arrays, and the operations on whole arrays.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/check.hpp"
#include "contracts/base/merkle.hpp"
#include "contracts/base/personal.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/strategies/codecs.hpp"
#include "contracts/program/strategies/merges.hpp"
#include "trainer/cuda/cuda_device.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
static_assert(std::endian::native == std::endian::little, "digests are copied as they lie in memory");

HashPersonal words_of(const base::Personal& personal) {
    HashPersonal words;
    std::memcpy(&words.low, personal.bytes.data(), sizeof(words.low));
    std::memcpy(&words.high, personal.bytes.data() + sizeof(words.low), sizeof(words.high));
    return words;
}

base::Hash256 hash_of(const std::uint64_t* digest) {
    base::Hash256 hash;
    std::memcpy(hash.bytes.data(), digest, hash.bytes.size());
    return hash;
}

template <class T>
HashPersonal personal_of() {
    return words_of(std::is_same_v<T, float> ? base::personal::kTile : base::personal::kUpdateTile);
}
}  // namespace

void CudaDevice::zero(float* at, std::uint64_t count) {
    if (count != 0) card_->zero(at, count * sizeof(float));
}

void CudaDevice::read(const float* from, std::span<float> to) {
    if (!to.empty()) card_->to_host(to.data(), from, to.size_bytes());
}

void CudaDevice::write(float* to, std::span<const float> from) {
    if (!from.empty()) card_->to_card(to, from.data(), from.size_bytes());
}

float* CudaDevice::adopt(std::span<float> host) {
    float* const at = allocate(host.size());
    adopted_.push_back({at, host.data(), host.size()});
    write(at, host);
    return at;
}

const float* CudaDevice::adopt_read_only(std::span<const float> host) {
    float* const at = allocate(host.size());
    adopted_.push_back({at, nullptr, host.size()});
    write(at, host);
    return at;
}

void CudaDevice::sync(float* adopted) {
    const auto found = std::find_if(adopted_.begin(), adopted_.end(),
                                    [&](const Adoption& one) { return one.at == adopted; });
    ASSAY_CHECK(found != adopted_.end() && (found->host != nullptr || found->count == 0));
    read(adopted, std::span(found->host, found->count));
}

void CudaDevice::drop(const float* adopted) {
    const auto found = std::find_if(adopted_.begin(), adopted_.end(),
                                    [&](const Adoption& one) { return one.at == adopted; });
    ASSAY_CHECK(found != adopted_.end());
    card_->release(found->at);
    adopted_.erase(found);
}

std::vector<float> CudaDevice::fetched(DeviceView array) {
    std::vector<float> numbers(array.size());
    read(array.data(), numbers);
    return numbers;
}

bool CudaDevice::is_finite(DeviceView array) {
    failed_.put(kNoOperator);
    check_finite(stream(), {.numbers = array.data(),
                            .rows = 1,
                            .cols = array.size(),
                            .stride = array.size(),
                            .diverged = failed_.data()});
    return failed_.first() == kNoOperator;
}

template <class T>
base::Hash256 CudaDevice::matrix_root(const program::TensorInfo& tensor, const T* numbers) {
    const std::uint64_t leaves = arithmetic::tile_count(tensor.rows, tensor.cols);
    if (leaves == 0) return base::merkle_empty_root();
    const OutputArray<std::uint64_t> digests = digests_.of(4 * leaves);
    hash_tiles(stream(), TileHashArgs<T>{tensor.rows, tensor.cols, numbers, personal_of<T>(), digests});
    std::array<std::uint64_t, 4> root{};
    card_->to_host(root.data(),
                   hash_tree(stream(), leaves, digests, more_digests_.of(4 * ((leaves + 1) / 2)),
                             words_of(base::personal::kNode)),
                   sizeof(root));
    return hash_of(root.data());
}

template <class T>
base::Hash256 CudaDevice::array_root(const std::vector<program::TensorInfo>& tensors,
                                     std::span<const T> array) {
    std::vector<base::Hash256> leaves;
    leaves.reserve(tensors.size());
    for (const program::TensorInfo& tensor : tensors) {
        leaves.push_back(program::tensor_leaf(tensor, matrix_root(tensor, array.data() + tensor.offset)));
    }
    return base::merkle_root(leaves);
}

base::Outcome<std::vector<base::Hash256>> CudaDevice::roots(const std::vector<program::TensorInfo>& tensors,
                                                            std::span<const DeviceView> arrays) {
    ASSAY_TRY(check_roots(tensors, arrays));
    std::vector<base::Hash256> found;
    for (const DeviceView array : arrays) found.push_back(array_root(tensors, array));
    return found;
}

void CudaDevice::tile_hashes(std::uint64_t cols, std::span<const float> matrix,
                             std::span<base::Hash256> out) {
    if (out.empty()) return;
    matrix_.put(matrix);
    const OutputArray<std::uint64_t> digests = digests_.of(4 * out.size());
    hash_tiles(stream(), TileHashArgs<float>{matrix.size() / cols, cols, matrix_.data(), personal_of<float>(),
                                             digests});
    std::vector<std::uint64_t> found(4 * out.size());
    card_->to_host(found.data(), digests.data, found.size() * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = hash_of(&found[4 * i]);
}

base::Outcome<base::Hash256> CudaDevice::update_root(const std::vector<program::TensorInfo>& tensors,
                                                     std::span<const std::int64_t> update) {
    ASSAY_TRY(check_update_root(tensors, update));
    update_.put(update);
    return array_root(tensors, std::span<const std::int64_t>(update_.data(), update.size()));
}

base::Outcome<bool> CudaDevice::finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                         std::span<std::int64_t> update) {
    ASSAY_TRY(check_finalise(start, end, update));
    if (update.empty() || law.row.codec != &program::kInt64Codec)
        return law.row.codec->finalise(law.settings, fetched(start), fetched(end), update);
    failed_.put(kNoOperator);
    const OutputArray<std::int64_t> made = update_.of(update.size());
    cuda::finalise(stream(), {.count = update.size(),
                              .sum_exponent = law.settings.sum_exponent,
                              .start = start.data(),
                              .end = end.data(),
                              .update = made,
                              .failed = failed_.data()});
    card_->to_host(update.data(), made.data, update.size_bytes());
    return failed_.first() == kNoOperator;
}

base::Outcome<bool> CudaDevice::merge(const RoundLaw& law,
                                      std::span<const program::Contribution> contributions,
                                      DeviceArray parameters, DeviceArray outer_momentum) {
    ASSAY_TRY(check_merge(contributions, parameters, outer_momentum));
    if (law.row.outer == &program::kOuterNesterov)
        return merge_by_kernel(law, contributions, parameters, outer_momentum);
    std::vector<float> base = fetched(parameters), momentum = fetched(outer_momentum);
    law.row.outer->merge(law.settings, contributions, base, momentum);
    write(parameters.data(), base);
    write(outer_momentum.data(), momentum);
    return is_finite(parameters) && is_finite(outer_momentum);
}

bool CudaDevice::merge_by_kernel(const RoundLaw& law, std::span<const program::Contribution> contributions,
                                 DeviceArray parameters, DeviceArray outer_momentum) {
    // Numbers of an update that are on the card at a time.
    constexpr std::size_t kCut = std::size_t{1} << 20;
    std::vector<arithmetic::WeightedUpdate> updates;
    for (const program::Contribution& one : contributions)
        updates.push_back({one.update, one.weight, one.clip});
    const arithmetic::MergeFactors merged = arithmetic::merge_factors(updates);
    // At most 2^32 · 2^16 each.
    std::vector<std::uint64_t> factors;
    for (const base::Int128 factor : merged.factors) factors.push_back(static_cast<std::uint64_t>(factor));
    factors_.put(factors);
    const arithmetic::OuterCoefficients outer = program::outer_coefficients(law.settings);
    failed_.put(kNoOperator);
    for (std::size_t first = 0; first < parameters.size(); first += kCut) {
        const std::size_t count = std::min(kCut, parameters.size() - first);
        const OutputArray<std::int64_t> room = update_.of(count * updates.size());
        std::vector<const std::int64_t*> places;
        for (const arithmetic::WeightedUpdate& one : updates) {
            std::int64_t* const at = room.data + places.size() * count;
            card_->to_card(at, one.update.data() + first, count * sizeof(std::int64_t));
            places.push_back(at);
        }
        updates_.put(places);
        MergeArgs args{.count = count,
                       .updates = static_cast<unsigned>(updates.size()),
                       .update = updates_.data(),
                       .factor = factors_.data(),
                       .total = merged.total,
                       .sum_exponent = law.settings.sum_exponent,
                       .learning_rate = outer.learning_rate,
                       .momentum = outer.momentum};
        args.w.data = parameters.data() + first;
        args.m.data = outer_momentum.data() + first;
        args.w.count = args.m.count = count;
        args.failed = failed_.data();
        cuda::merge(stream(), args);
    }
    return failed_.first() == kNoOperator;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
