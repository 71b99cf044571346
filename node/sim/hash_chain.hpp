// SPDX-License-Identifier: Apache-2.0
// Gives the stand-in worker HashChain, states that cost almost nothing to compute. A slot's state is a link
// of a hash chain: the root of the state after a segment follows from the root before it and from the cheat's
// nonce. The files have the sizes, heads and named roots that the job's spec asks for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_head.hpp"
#include "contracts/program/trace.hpp"
#include "node/sim/shared_files.hpp"

namespace assay::node::sim {

using base::Bytes;
using base::ByteView;
using base::Hash256;

/// Where work belongs.
struct SlotTurn {
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
};

/// Head first, then every array, in the order of the strategy's row.
struct ChainState {
    program::StateHead head;
    std::vector<FileRef> files;
    Hash256 root;

    /// The same arrays under the head of another step.
    [[nodiscard]] ChainState at_step(std::uint64_t step) const;
};

/// Caches its results: one chain serves every worker of a job. Not thread-safe.
class HashChain {
public:
    /// REQUIRES a spec that check_spec accepts.
    explicit HashChain(const program::JobSpec& spec);

    [[nodiscard]] const program::RoundPlan& plan() const { return plan_; }
    /// Base state of round 0: follows from the spec's seed.
    [[nodiscard]] FileRef initial() const;
    [[nodiscard]] Hash256 base_root(const FileRef& file) const;
    [[nodiscard]] const program::StateRoots& base_roots(const FileRef& file) const;
    /// The hash from which the numbers of an array of a base state follow.
    [[nodiscard]] static Hash256 content_of_base(ByteView file, bool outer);
    /// Root of the slot's state at boundary 0, by the job's law.
    [[nodiscard]] Hash256 first_root(const FileRef& base, SlotTurn place) const;
    /// State after the segment that begins at `start`. An honest segment has an empty nonce.
    [[nodiscard]] const ChainState& behind(std::uint32_t segment, const Hash256& start, SlotTurn place,
                                           std::string_view nonce) const;
    /// State before a step inside the segment that begins at `start` and ends at `end`.
    [[nodiscard]] const ChainState& inside(std::uint32_t step, const Hash256& start,
                                           const Hash256& end) const;
    /// The root at which the segment begins, from an array of a state inside the segment.
    [[nodiscard]] static std::optional<Hash256> start_inside(ByteView array);
    [[nodiscard]] std::vector<program::Fingerprint> fingerprints(std::uint32_t segment,
                                                                 const Hash256& end) const;
    [[nodiscard]] Bytes update(const Hash256& last, std::string_view nonce) const;
    [[nodiscard]] Hash256 update_root(ByteView file) const;
    [[nodiscard]] static Hash256 content_of_update(ByteView file);
    /// Roots of the tensors of an array, and hashes of the tiles of one tensor. Only the first tile of the
    /// first tensor depends on `content`.
    [[nodiscard]] std::vector<Hash256> tensor_roots(const Hash256& content) const;
    [[nodiscard]] std::vector<Hash256> tiles(const Hash256& content, std::uint32_t tensor) const;
    /// The head in a file; nothing when it is no head.
    [[nodiscard]] std::optional<program::StateHead> read_head(ByteView file) const;
    /// Whether the file is the array that the head names.
    [[nodiscard]] bool is_part(const program::StatePart& part, const FileRef& file) const;
    [[nodiscard]] FileRef merged(const FileRef& base, const std::vector<Hash256>& updates) const;

private:
    [[nodiscard]] Hash256 array_root(const Hash256& content) const;
    /// `within`: root of the start of the segment that the state is inside of; zero at a boundary.
    [[nodiscard]] const ChainState& state_at(std::uint64_t step, const Hash256& content,
                                             const Hash256& within) const;
    [[nodiscard]] ChainState make_state(std::uint64_t step, const Hash256& content,
                                        const Hash256& within) const;
    [[nodiscard]] const Hash256& content_of(const FileRef& array) const;
    program::JobSpec spec_;
    program::RoundPlan plan_;
    program::FileSizes sizes_;
    std::vector<program::TensorInfo> tensors_;
    std::uint64_t first_tiles_;         ///< of the first tensor
    std::vector<Hash256> tile_path_;    ///< siblings of its first tile
    std::vector<Hash256> tensor_path_;  ///< siblings of the tensor
    mutable std::map<std::tuple<std::uint64_t, Hash256, Hash256>, ChainState> states_;  ///< of state_at()
    mutable std::map<base::Hash256, program::StateRoots> base_roots_;                   ///< by file
    mutable std::map<base::Hash256, Hash256> contents_;  ///< of arrays, by file
};

}  // namespace assay::node::sim
