// SPDX-License-Identifier: Apache-2.0
// Operations on whole arrays.
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
#include "trainer/step/device_failure.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
constexpr std::uint64_t kDigestWords = 4;
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

CudaDevice::Place CudaDevice::place_of(const float* at) const {
    const Held* const holder = holder_of(at);
    return holder == nullptr ? Place::kCard : holder->place;
}

template <class T, class Work>
void CudaDevice::in_parts(std::span<const T> array, Place place, std::uint64_t part, const Work& work) {
    for (std::uint64_t first = 0; first < array.size(); first += part) {
        const std::uint64_t count = std::min<std::uint64_t>(part, array.size() - first);
        if (place == Place::kCard) {
            work(first, count, array.data() + first);
            continue;
        }
        auto* const at = reinterpret_cast<T*>(bands_.begin(part * sizeof(T)));
        bands_.fill(at, array.data() + first, count * sizeof(T),
                    place == Place::kPinned ? HostMemory::kPinned : HostMemory::kPlain);
        bands_.filled();
        work(first, count, static_cast<const T*>(at));
        bands_.end();
    }
}

std::vector<float> CudaDevice::fetched(DeviceView array) {
    std::vector<float> numbers(array.size());
    read(array.data(), numbers);
    return numbers;
}

bool CudaDevice::is_finite(DeviceView array) {
    settle(array.data());
    failed_.put(kNoOperator);
    const Place place = place_of(array.data());
    in_parts(array, place, place == Place::kCard ? array.size() : options_.band,
             [&](std::uint64_t, std::uint64_t count, const float* at) {
                 check_finite(
                     stream(),
                     {.numbers = at, .rows = 1, .cols = count, .stride = count, .diverged = failed_.data()});
             });
    // Of a card that has failed check() tells, not the array.
    return failed_.first(kNoOperator) == kNoOperator;
}

template <class T>
void CudaDevice::tile_digests(std::uint64_t cols, std::span<const T> matrix, Place place,
                              OutputArray<std::uint64_t> digests) {
    constexpr std::uint64_t kTile = arithmetic::kTile;
    const std::uint64_t rows = matrix.size() / cols, across = (cols + kTile - 1) / kTile;
    // Whole rows of tiles.
    const std::uint64_t numbers = options_.band * sizeof(float) / sizeof(T);
    const std::uint64_t height = std::max<std::uint64_t>(numbers / cols / kTile, 1) * kTile;
    const std::uint64_t part = place == Place::kCard ? matrix.size() : std::min(height, rows) * cols;
    in_parts(matrix, place, part, [&](std::uint64_t first, std::uint64_t count, const T* at) {
        OutputArray<std::uint64_t> some = digests;
        some.data += kDigestWords * (first / cols / kTile) * across;
        some.count = kDigestWords * arithmetic::tile_count(count / cols, cols);
        hash_tiles(stream(), TileHashArgs<T>{count / cols, cols, at, personal_of<T>(), some});
    });
}

template <class T>
std::vector<base::Hash256> CudaDevice::array_roots(const std::vector<program::TensorInfo>& tensors,
                                                   std::span<const std::span<const T>> arrays) {
    std::vector<const program::TensorInfo*> hashed;  // those with a number
    std::vector<std::uint64_t> leaves;
    std::vector<HashedMatrix> matrices;
    for (const program::TensorInfo& tensor : tensors) {
        if (tensor.size() == 0) continue;
        hashed.push_back(&tensor);
        leaves.push_back(arithmetic::tile_count(tensor.rows, tensor.cols));
        matrices.push_back({tensor.offset, tensor.rows, tensor.cols});
    }
    const auto levels = tree_levels(leaves);
    std::vector<std::uint32_t> table;
    for (const auto& level : levels) table.insert(table.end(), level.begin(), level.end());
    tree_table_.put(table);
    matrices_.put(matrices);
    const std::uint64_t all = levels.front().back(), size = kDigestWords * hashed.size();
    const OutputArray<std::uint64_t> roots = roots_.of(size * arrays.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const Place place = place_of(arrays[i].data());
        const OutputArray<std::uint64_t> digests = digests_.of(kDigestWords * all);
        if (std::is_same_v<T, float> && place == Place::kCard) {
            hash_tiles(stream(), TilesHashArgs{.numbers = reinterpret_cast<const float*>(arrays[i].data()),
                                               .matrices = matrices_.data(),
                                               .first = tree_table_.data(),
                                               .count = static_cast<unsigned>(hashed.size()),
                                               .leaves = all,
                                               .personal = personal_of<float>(),
                                               .digests = digests});
        } else {
            for (std::size_t t = 0; t < hashed.size(); ++t) {
                OutputArray<std::uint64_t> some = digests;
                some.data += kDigestWords * levels.front()[t];
                some.count = kDigestWords * leaves[t];
                tile_digests(hashed[t]->cols, arrays[i].subspan(hashed[t]->offset, hashed[t]->size()), place,
                             some);
            }
        }
        const std::uint64_t above = levels.size() > 1 ? levels[1].back() : 0;
        const auto* const found =
            hash_trees(stream(), levels, tree_table_.data(), digests, more_digests_.of(kDigestWords * above),
                       words_of(base::personal::kNode));
        if (size != 0)
            lanes_.copy(CardLane::kWork, Direction::kOnCard, roots.data + i * size, found,
                        size * sizeof(std::uint64_t));
    }
    // All of them in one copy.
    std::vector<std::uint64_t> words(roots.count);
    lanes_.to_host(words.data(), roots.data, words.size() * sizeof(std::uint64_t));
    require_sound();
    std::vector<base::Hash256> found;
    const std::uint64_t* word = words.data();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        std::vector<base::Hash256> above;
        above.reserve(tensors.size());
        for (const program::TensorInfo& tensor : tensors) {
            const bool is_empty = tensor.size() == 0;
            above.push_back(
                program::tensor_leaf(tensor, is_empty ? base::merkle_empty_root() : hash_of(word)));
            if (!is_empty) word += kDigestWords;
        }
        found.push_back(base::merkle_root(above));
    }
    return found;
}

// A copy from a failed card does not change its target, so a root of that would be wrong.
void CudaDevice::require_sound() {
    if (card_->has_failed()) throw DeviceFailure(card_->check().error());
}

base::Outcome<std::vector<base::Hash256>> CudaDevice::roots(const std::vector<program::TensorInfo>& tensors,
                                                            std::span<const DeviceView> arrays) {
    ASSAY_TRY(check_roots(tensors, arrays));
    for (const DeviceView array : arrays) settle(array.data());
    return array_roots<float>(tensors, arrays);
}

void CudaDevice::tile_hashes(std::uint64_t cols, std::span<const float> matrix,
                             std::span<base::Hash256> out) {
    if (out.empty()) return;
    // Whole rows of tiles, so that digests of a large output take no more than own_bytes() says.
    constexpr std::uint64_t kTile = arithmetic::kTile;
    const std::uint64_t part = std::max<std::uint64_t>(options_.band / cols / kTile, 1) * kTile * cols;
    std::vector<std::uint64_t> found;
    std::size_t next = 0;
    for (std::uint64_t first = 0; first < matrix.size(); first += part) {
        const auto some = matrix.subspan(first, std::min<std::uint64_t>(part, matrix.size() - first));
        const auto digests = digests_.of(kDigestWords * arithmetic::tile_count(some.size() / cols, cols));
        tile_digests(cols, some, Place::kPlain, digests);
        found.resize(digests.count);
        lanes_.to_host(found.data(), digests.data, found.size() * sizeof(std::uint64_t));
        require_sound();
        for (std::size_t i = 0; i < found.size(); i += kDigestWords) out[next++] = hash_of(&found[i]);
    }
}

base::Outcome<base::Hash256> CudaDevice::update_root(const std::vector<program::TensorInfo>& tensors,
                                                     std::span<const std::int64_t> update) {
    ASSAY_TRY(check_update_root(tensors, update));
    return array_roots<std::int64_t>(tensors, {&update, 1}).front();
}

base::Outcome<bool> CudaDevice::finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                         std::span<std::int64_t> update) {
    ASSAY_TRY(check_finalise(start, end, update));
    if (update.empty() || law.row.codec != &program::kInt64Codec)
        return law.row.codec->finalise(law.settings, fetched(start), fetched(end), update);
    settle(start.data());
    settle(end.data());
    failed_.put(kNoOperator);
    const std::uint64_t cut = std::min<std::uint64_t>(options_.band, update.size());
    const OutputArray<std::int64_t> room = update_.of(cut);
    const auto fill = [&](float* at, DeviceView from, HostMemory memory) {
        bands_.fill(at, from.data(), from.size_bytes(), memory);
        return static_cast<const float*>(at);
    };
    for (std::uint64_t first = 0; first < update.size(); first += cut) {
        const std::uint64_t count = std::min<std::uint64_t>(cut, update.size() - first);
        auto* const at = reinterpret_cast<float*>(bands_.begin(2 * cut * sizeof(float)));
        const auto on_card = [&](DeviceView array, float* to) -> const float* {
            const Place place = place_of(array.data());
            const DeviceView part = array.subspan(first, count);
            if (place == Place::kCard) return part.data();
            return fill(to, part, place == Place::kPinned ? HostMemory::kPinned : HostMemory::kPlain);
        };
        FinaliseArgs args{.count = count,
                          .sum_exponent = law.settings.sum_exponent,
                          .start = on_card(start, at),
                          .end = on_card(end, at + cut),
                          .update = room,
                          .failed = failed_.data()};
        args.update.count = count;
        bands_.filled();
        cuda::finalise(stream(), args);
        bands_.end();
        lanes_.to_host(update.data() + first, room.data, count * sizeof(std::int64_t));
    }
    return failed_.first(kNoOperator) == kNoOperator;
}

base::Outcome<bool> CudaDevice::merge(const RoundLaw& law,
                                      std::span<const program::Contribution> contributions,
                                      DeviceArray parameters, DeviceArray outer_momentum) {
    ASSAY_TRY(check_merge(contributions, parameters, outer_momentum));
    settle(parameters.data());
    settle(outer_momentum.data());
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
    // Parts of parameters and momentum, and of all updates, are on the card at a time.
    const std::uint64_t cut = std::max<std::uint64_t>(options_.band / updates.size(), 1);
    for (std::uint64_t first = 0; first < parameters.size(); first += cut) {
        const std::uint64_t count = std::min<std::uint64_t>(cut, parameters.size() - first);
        auto* const room = bands_.begin((2 * sizeof(float) + updates.size() * sizeof(std::int64_t)) * cut);
        auto* at = reinterpret_cast<std::int64_t*>(room);
        std::vector<const std::int64_t*> places;
        for (const arithmetic::WeightedUpdate& one : updates) {
            bands_.fill(at, one.update.data() + first, count * sizeof(std::int64_t), HostMemory::kPlain);
            places.push_back(at);
            at += cut;
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
        const auto place = [&](DeviceArray array, float* to) {
            float* const here = array.data() + first;
            if (place_of(array.data()) == Place::kCard) return here;
            bands_.fill(to, here, count * sizeof(float), HostMemory::kPinned);
            return to;
        };
        args.w.data = place(parameters, reinterpret_cast<float*>(at));
        args.m.data = place(outer_momentum, reinterpret_cast<float*>(at) + cut);
        args.w.count = args.m.count = count;
        args.failed = failed_.data();
        bands_.filled();
        cuda::merge(stream(), args);
        const auto take = [&](DeviceArray array, const float* from) {
            float* const here = array.data() + first;
            if (from != here) bands_.take(here, from, count * sizeof(float));
        };
        take(parameters, args.w.data);
        take(outer_momentum, args.m.data);
        bands_.end();
    }
    bands_.finish();
    return failed_.first(kNoOperator) == kNoOperator;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
