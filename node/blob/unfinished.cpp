// SPDX-License-Identifier: Apache-2.0
// What the store gives peers of downloads that are not finished.
#include <algorithm>

#include "contracts/base/blob_id.hpp"
#include "node/blob/store_state.hpp"

namespace assay::node {

using base::Bytes;
using base::ErrorKind;
using base::fail;

std::optional<BlobDescription> BlobStore::describe_unfinished(const BlobId& id) const {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->shown.find(id);
    if (found == state_->shown.end() || state_->blobs.contains(id)) return std::nullopt;
    return found->second;
}

namespace {
base::Failed<base::Error> changed(const BlobId& id) {
    return fail(ErrorKind::kVerification, "an unfinished download of blob " + id.hex() + " changed on disk",
                "check the disk; what is wrong of it is fetched again after a start");
}
}  // namespace

FetchEnd BlobStore::fetch_unfinished(const BlobId& id, const BlobDescription& description,
                                     std::uint64_t first_chunk, const ChunkHandler& handler) const {
    if (first_chunk >= description.held.size() || !description.held[first_chunk]) {
        return fail(ErrorKind::kNotFound,
                    "chunk " + std::to_string(first_chunk) + " of blob " + id.hex() + " is not here yet",
                    "ask again, or another holder");
    }
    ASSAY_ASSIGN(const FileHandle file,
                 state_->partial.open_file(partial_name(id, Pin::kPinned), Access::kRead));
    for (std::uint64_t at = first_chunk; at < description.held.size() && description.held[at]; ++at) {
        ASSAY_ASSIGN(const std::uint64_t size, file.size());
        const std::uint64_t begin = at * kChunkBytes;
        if (begin >= size) return changed(id);
        ASSAY_ASSIGN(const Bytes chunk, file.read_at(begin, std::min(kChunkBytes, size - begin)));
        if (base::blob_chunk_hash(chunk) != description.leaves[at]) return changed(id);
        if (!handler(at, chunk)) return {};
    }
    return {};
}

}  // namespace assay::node
