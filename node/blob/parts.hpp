// SPDX-License-Identifier: Apache-2.0
// Gives verifiers that store one blob together the part that each fetches from the party that owes it.
#pragma once

#include <cstdint>

#include "node/seams/blob_service.hpp"

namespace assay::node {

/// Chunks from `first` up to, but not including, `end`.
struct ChunkRange {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    [[nodiscard]] std::uint64_t size() const { return end - first; }
    friend bool operator==(const ChunkRange&, const ChunkRange&) = default;
};

/// Part `share.mine` of a blob of `chunks` chunks. The parts follow one another, cover the blob, and differ
/// in size by one chunk at most. With fewer chunks than parts some are empty. REQUIRES share.mine < share.of,
/// and chunks <= 2^32.
ChunkRange part_of(std::uint64_t chunks, const BlobShare& share);

}  // namespace assay::node
