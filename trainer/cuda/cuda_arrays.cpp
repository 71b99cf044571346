// SPDX-License-Identifier: Apache-2.0
// Memory, adopted arrays, and the operations on whole arrays.
#include <algorithm>
#include <bit>
#include <cstring>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/check.hpp"
#include "contracts/base/merkle.hpp"
#include "contracts/base/personal.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/strategies/codecs.hpp"
#include "contracts/program/strategies/merges.hpp"
#include "trainer/cuda/cuda_host_device.hpp"

namespace assay::trainer::cuda {

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

OutputArray<std::uint64_t> digests_in(std::vector<std::uint64_t>& room, std::uint64_t count) {
    if (room.size() < 4 * count) room.resize(4 * count);
    return {.data = room.data(), .count = 4 * count};
}

template <class T>
HashPersonal personal_of() {
    return words_of(std::is_same_v<T, float> ? base::personal::kTile : base::personal::kUpdateTile);
}
}  // namespace

void CudaHostDevice::zero(float* at, std::uint64_t count) { std::fill_n(at, count, 0.0F); }

void CudaHostDevice::read(const float* from, std::span<float> to) {
    std::copy(from, from + to.size(), to.begin());
}

void CudaHostDevice::write(float* to, std::span<const float> from) {
    std::copy(from.begin(), from.end(), to);
}

float* CudaHostDevice::adopt(std::span<float> host) {
    // One number more than there are, so that every array has an address of its own.
    std::vector<float> numbers(host.begin(), host.end());
    numbers.push_back(0.0F);
    adopted_.push_back({std::move(numbers), host.data()});
    return adopted_.back().numbers.data();
}

const float* CudaHostDevice::adopt_read_only(std::span<const float> host) {
    std::vector<float> numbers(host.begin(), host.end());
    numbers.push_back(0.0F);
    adopted_.push_back({std::move(numbers), nullptr});
    return adopted_.back().numbers.data();
}

void CudaHostDevice::sync(float* adopted) {
    for (const Adoption& one : adopted_) {
        if (one.numbers.data() != adopted) continue;
        ASSAY_CHECK(one.numbers.size() == 1 || one.host != nullptr);
        std::copy(one.numbers.begin(), one.numbers.end() - 1, one.host);
        return;
    }
    ASSAY_CHECK(false);
}

void CudaHostDevice::drop(const float* adopted) {
    std::erase_if(adopted_, [&](const Adoption& one) { return one.numbers.data() == adopted; });
}

bool CudaHostDevice::is_finite(DeviceView array) {
    unsigned found = kNoOperator;
    check_finite(stream_, {.numbers = array.data(),
                           .rows = 1,
                           .cols = array.size(),
                           .stride = array.size(),
                           .diverged = &found});
    return found == kNoOperator;
}

template <class T>
base::Hash256 CudaHostDevice::matrix_root(const program::TensorInfo& tensor, const T* numbers) {
    const std::uint64_t leaves = arithmetic::tile_count(tensor.rows, tensor.cols);
    if (leaves == 0) return base::merkle_empty_root();
    const OutputArray<std::uint64_t> digests = digests_in(digests_, leaves);
    hash_tiles(stream_, TileHashArgs<T>{tensor.rows, tensor.cols, numbers, personal_of<T>(), digests});
    return hash_of(hash_tree(stream_, leaves, digests, digests_in(more_digests_, (leaves + 1) / 2),
                             words_of(base::personal::kNode)));
}

template <class T>
base::Hash256 CudaHostDevice::array_root(const std::vector<program::TensorInfo>& tensors,
                                         std::span<const T> array) {
    std::vector<base::Hash256> leaves;
    leaves.reserve(tensors.size());
    for (const program::TensorInfo& tensor : tensors) {
        leaves.push_back(program::tensor_leaf(tensor, matrix_root(tensor, array.data() + tensor.offset)));
    }
    return base::merkle_root(leaves);
}

base::Outcome<std::vector<base::Hash256>> CudaHostDevice::roots(
    const std::vector<program::TensorInfo>& tensors, std::span<const DeviceView> arrays) {
    ASSAY_TRY(check_roots(tensors, arrays));
    std::vector<base::Hash256> found;
    for (const DeviceView array : arrays) found.push_back(array_root(tensors, array));
    return found;
}

void CudaHostDevice::tile_hashes(std::uint64_t cols, std::span<const float> matrix,
                                 std::span<base::Hash256> out) {
    const OutputArray<std::uint64_t> digests = digests_in(digests_, out.size());
    hash_tiles(stream_,
               TileHashArgs<float>{matrix.size() / cols, cols, matrix.data(), personal_of<float>(), digests});
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = hash_of(digests.data + 4 * i);
}

base::Outcome<base::Hash256> CudaHostDevice::update_root(const std::vector<program::TensorInfo>& tensors,
                                                         std::span<const std::int64_t> update) {
    ASSAY_TRY(check_update_root(tensors, update));
    return array_root(tensors, update);
}

base::Outcome<bool> CudaHostDevice::finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                             std::span<std::int64_t> update) {
    ASSAY_TRY(check_finalise(start, end, update));
    if (law.row.codec != &program::kInt64Codec)
        return law.row.codec->finalise(law.settings, start, end, update);
    unsigned failed = kNoOperator;
    cuda::finalise(stream_, {.count = update.size(),
                             .sum_exponent = law.settings.sum_exponent,
                             .start = start.data(),
                             .end = end.data(),
                             .update = {.data = update.data(), .count = update.size()},
                             .failed = &failed});
    return failed == kNoOperator;
}

base::Outcome<bool> CudaHostDevice::merge(const RoundLaw& law,
                                          std::span<const program::Contribution> contributions,
                                          DeviceArray parameters, DeviceArray outer_momentum) {
    ASSAY_TRY(check_merge(contributions, parameters, outer_momentum));
    if (law.row.outer != &program::kOuterNesterov) {
        law.row.outer->merge(law.settings, contributions, parameters, outer_momentum);
        return is_finite(parameters) && is_finite(outer_momentum);
    }
    std::vector<arithmetic::WeightedUpdate> updates;
    std::vector<const std::int64_t*> numbers;
    for (const program::Contribution& one : contributions) {
        updates.push_back({one.update, one.weight, one.clip});
        numbers.push_back(one.update.data());
    }
    const arithmetic::MergeFactors merged = arithmetic::merge_factors(updates);
    // At most 2^32 · 2^16 each.
    std::vector<std::uint64_t> factors;
    for (const base::Int128 factor : merged.factors) factors.push_back(static_cast<std::uint64_t>(factor));
    const arithmetic::OuterCoefficients outer = program::outer_coefficients(law.settings);
    unsigned failed = kNoOperator;
    cuda::merge(stream_, {.count = parameters.size(),
                          .updates = static_cast<unsigned>(updates.size()),
                          .update = numbers.data(),
                          .factor = factors.data(),
                          .total = merged.total,
                          .sum_exponent = law.settings.sum_exponent,
                          .learning_rate = outer.learning_rate,
                          .momentum = outer.momentum,
                          .w = {.data = parameters.data(), .count = parameters.size()},
                          .m = {.data = outer_momentum.data(), .count = outer_momentum.size()},
                          .failed = &failed});
    return failed == kNoOperator;
}

}  // namespace assay::trainer::cuda
