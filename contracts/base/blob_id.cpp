// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/blob_id.hpp"

#include <algorithm>
#include <utility>

#include "contracts/base/merkle.hpp"

namespace assay::base {

BlobHasher& BlobHasher::add(ByteView data) {
    while (!data.empty()) {
        if (partial_.empty() && data.size() >= kBlobChunk) {  // whole chunks are hashed where they lie
            leaves_.push_back(merkle_leaf(data.first(kBlobChunk)));
            data = data.subspan(kBlobChunk);
            continue;
        }
        const std::size_t taken = std::min(data.size(), kBlobChunk - partial_.size());
        const ByteView head = data.first(taken);
        partial_.insert(partial_.end(), head.begin(), head.end());
        data = data.subspan(taken);
        if (partial_.size() == kBlobChunk) {
            leaves_.push_back(merkle_leaf(partial_));
            partial_.clear();
        }
    }
    return *this;
}

std::vector<Hash256> BlobHasher::finish_leaves() {
    if (!partial_.empty()) leaves_.push_back(merkle_leaf(partial_));
    partial_.clear();
    return std::move(leaves_);
}

Hash256 BlobHasher::finish() { return merkle_root(finish_leaves()); }

Hash256 blob_id(ByteView data) { return BlobHasher().add(data).finish(); }

}  // namespace assay::base
