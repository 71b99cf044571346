// SPDX-License-Identifier: Apache-2.0
#include "node/sim/hash_chain.hpp"

#include <algorithm>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/dispute/tree.hpp"
#include "contracts/program/first_state.hpp"
#include "contracts/program/round_law.hpp"

namespace assay::node::sim {

namespace {

/// A file of `size` bytes that begins with `content`.
Bytes file_of(const Hash256& content, std::uint64_t size) {
    Bytes file(static_cast<std::size_t>(size), 0);
    std::copy_n(content.bytes.begin(), std::min<std::size_t>(content.bytes.size(), file.size()),
                file.begin());
    return file;
}

constexpr std::size_t kContentBytes = 32;

/// The step of a base state stands behind its content.
std::uint64_t step_of(ByteView file) {
    std::uint64_t step = 0;
    for (std::size_t i = 0; i < 8 && 32 + i < file.size(); ++i)
        step |= std::uint64_t{file[32 + i]} << (8 * i);
    return step;
}

Bytes with_step(Bytes file, std::uint64_t step) {
    for (std::size_t i = 0; i < 8 && 32 + i < file.size(); ++i)
        file[32 + i] = static_cast<std::uint8_t>(step >> (8 * i));
    return file;
}

std::uint32_t small_float(std::uint32_t bits) { return 0x3f800000U | (bits & 0x7fffffU); }

}  // namespace

HashChain::HashChain(const program::JobSpec& spec)
    : spec_(spec),
      plan_(spec),
      sizes_(program::file_sizes(spec)),
      tensors_(program::parameter_tensors(spec.model)),
      first_tiles_(arithmetic::tile_count(tensors_.front().rows, tensors_.front().cols)),
      tile_path_(dispute::StoredTree(std::vector<Hash256>(first_tiles_)).siblings(0)) {
    std::vector<Hash256> leaves;
    for (const program::TensorInfo& tensor : tensors_) leaves.push_back(program::tensor_leaf(tensor, {}));
    tensor_path_ = dispute::StoredTree(std::move(leaves)).siblings(0);
}

std::vector<Hash256> HashChain::tiles(const Hash256& content, std::uint32_t tensor) const {
    const program::TensorInfo& info = tensors_[tensor];
    std::vector<Hash256> all(arithmetic::tile_count(info.rows, info.cols));
    if (tensor == 0) all.front() = base::hash("assay/sim/tile", content.view());
    return all;
}

std::vector<Hash256> HashChain::tensor_roots(const Hash256& content) const {
    std::vector<Hash256> roots(tensors_.size());
    roots.front() = dispute::climb(base::hash("assay/sim/tile", content.view()), 0, first_tiles_, tile_path_);
    return roots;
}

Hash256 HashChain::array_root(const Hash256& content) const {
    const Hash256 first =
        dispute::climb(base::hash("assay/sim/tile", content.view()), 0, first_tiles_, tile_path_);
    return dispute::climb(program::tensor_leaf(tensors_.front(), first), 0, tensors_.size(), tensor_path_);
}

FileRef HashChain::initial() const {
    return SharedFiles::of(
        file_of(base::Hasher("assay/sim/initial").add_u64(spec_.seed).finish(), sizes_.base_state));
}

Hash256 HashChain::content_of_base(ByteView file, bool outer) {
    return base::hash(outer ? "assay/sim/base/outer" : "assay/sim/base", file);
}

const program::StateRoots& HashChain::base_roots(const FileRef& file) const {
    auto [found, inserted] = base_roots_.try_emplace(file->id);
    program::StateRoots& roots = found->second;
    if (inserted) {
        roots.parameters = array_root(content_of_base(file->bytes, false));
        roots.outer = array_root(content_of_base(file->bytes, true));
        roots.step_count = step_of(file->bytes);
    }
    return roots;
}

Hash256 HashChain::base_root(const FileRef& file) const { return program::state_root(base_roots(file)); }

Hash256 HashChain::first_root(const FileRef& base, SlotTurn place) const {
    const program::StateRoots& roots = base_roots(base);
    const auto first = program::first_state_root(
        spec_, {.round = place.round, .base = program::state_root(roots), .carried = {}},
        program::first_state_parts(roots, std::nullopt));
    ASSAY_CHECK(first.has_value());
    return *first;
}

ChainState ChainState::at_step(std::uint64_t step) const {
    ChainState other = *this;
    other.head.step = step;
    other.files.front() = SharedFiles::of(program::encode_state_head(other.head));
    other.root = program::state_root(program::roots_of(other.head));
    return other;
}

const Hash256& HashChain::content_of(const FileRef& array) const {
    auto [found, inserted] = contents_.try_emplace(array->id);
    if (inserted) found->second = base::hash("assay/sim/content", array->bytes);
    return found->second;
}

const ChainState& HashChain::state_at(std::uint64_t step, const Hash256& content,
                                      const Hash256& within) const {
    const std::tuple key(step, content, within);
    auto found = states_.find(key);
    if (found == states_.end()) found = states_.emplace(key, make_state(step, content, within)).first;
    return found->second;
}

ChainState HashChain::make_state(std::uint64_t step, const Hash256& content, const Hash256& within) const {
    ChainState state;
    state.head.step = step;
    state.head.cursor = state.head.step * spec_.train.batch;
    state.files.emplace_back();
    for (const program::StateArray array : program::strategy_of(spec_).lane_arrays) {
        const Hash256 own =
            base::Hasher("assay/sim/array").add(content).add_u64(static_cast<std::uint64_t>(array)).finish();
        Bytes bytes = file_of(own, sizes_.array);
        if (bytes.size() >= 2 * kContentBytes)
            std::copy_n(within.bytes.begin(), kContentBytes, bytes.begin() + kContentBytes);
        const FileRef file = SharedFiles::of(std::move(bytes));
        state.head.parts.push_back({array, content_of(file), file->id});
        state.files.push_back(file);
    }
    return state.at_step(step);
}

const ChainState& HashChain::behind(std::uint32_t segment, const Hash256& start, SlotTurn place,
                                    std::string_view nonce) const {
    return state_at(plan_.step_at(segment + 1),
                    base::Hasher("assay/sim/segment")
                        .add(start)
                        .add_u64(spec_.seed)
                        .add_u64(place.round)
                        .add_u64(place.slot)
                        .add_u64(segment)
                        .add(base::as_bytes(nonce))
                        .finish(),
                    {});
}

const ChainState& HashChain::inside(std::uint32_t step, const Hash256& start, const Hash256& end) const {
    return state_at(step, base::Hasher("assay/sim/inner").add(end).add_u64(step).finish(), start);
}

std::optional<Hash256> HashChain::start_inside(ByteView array) {
    if (array.size() < 2 * kContentBytes) return std::nullopt;
    Hash256 start;
    std::copy_n(array.begin() + kContentBytes, kContentBytes, start.bytes.begin());
    return start;
}

std::vector<program::Fingerprint> HashChain::fingerprints(std::uint32_t segment, const Hash256& end) const {
    std::vector<program::Fingerprint> all;
    const program::StepRange steps = plan_.steps(segment);
    for (std::uint32_t step = steps.first; step < steps.last; ++step) {
        const Hash256 bits = base::Hasher("assay/sim/step").add(end).add_u64(step).finish();
        const auto word = [&](std::size_t at) {
            return static_cast<std::uint32_t>(bits.bytes[at] | (bits.bytes[at + 1] << 8) |
                                              (bits.bytes[at + 2] << 16));
        };
        all.push_back({small_float(word(0)), small_float(word(4))});
    }
    return all;
}

Bytes HashChain::update(const Hash256& last, std::string_view nonce) const {
    return base::to_bytes(
        base::Hasher("assay/sim/update").add(last).add(base::as_bytes(nonce)).finish().view());
}

Hash256 HashChain::content_of_update(ByteView file) { return base::hash("assay/sim/update-root", file); }

Hash256 HashChain::update_root(ByteView file) const { return array_root(content_of_update(file)); }

std::optional<program::StateHead> HashChain::read_head(ByteView file) const {
    auto head = program::decode_state_head(file);
    const auto& arrays = program::strategy_of(spec_).lane_arrays;
    if (!head.ok() || !program::fits(*head, arrays, program::carries_state(spec_))) return std::nullopt;
    return std::move(head).value();
}

bool HashChain::is_part(const program::StatePart& part, const FileRef& file) const {
    return content_of(file) == part.root;
}

FileRef HashChain::merged(const FileRef& base, const std::vector<Hash256>& updates) const {
    base::Hasher hasher("assay/sim/merge");
    hasher.add(base_root(base));
    for (const Hash256& update : updates) hasher.add(update);
    return SharedFiles::of(with_step(file_of(hasher.finish(), sizes_.base_state),
                                     step_of(base->bytes) + spec_.train.inner_steps));
}

}  // namespace assay::node::sim
