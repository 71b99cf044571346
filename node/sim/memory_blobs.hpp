// SPDX-License-Identifier: Apache-2.0
// Gives the parties of a simulation their blobs, in memory.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "node/seams/blob_files.hpp"
#include "node/sim/shared_files.hpp"

namespace assay::node::sim {

class MemoryBlobs final : public BlobFiles {
public:
    /// `files` outlives it.
    explicit MemoryBlobs(SharedFiles& files) : files_(files) {}
    base::Outcome<BlobId> put(const SharedDescriptor& file, Serving serving = Serving::kServed) override;
    base::Outcome<void> serve(const BlobId& id) override;
    base::Outcome<SharedDescriptor> open(const BlobId& id) override;
    base::Outcome<base::Bytes> read(const BlobId& id, std::size_t limit) override;
    [[nodiscard]] bool has(const BlobId& id) const override { return blobs_.contains(id); }
    void drop(const BlobId& id) override { blobs_.erase(id); }
    [[nodiscard]] std::vector<BlobId> evictable() const override;
    [[nodiscard]] bool is_evictable(const BlobId& id) const override;
    base::Outcome<void> set_pin(const BlobId& id, Pin pin) override;
    base::Outcome<void> pin_only(const std::set<BlobId>& ids) override;
    [[nodiscard]] bool is_intact(const BlobId& id) const override { return has(id); }
    [[nodiscard]] unsigned percent_full() const override { return 0; }
    [[nodiscard]] StoreRoom room() const override { return {UINT64_MAX, 0}; }

    void put_file(const FileRef& file, Serving serving = Serving::kServed, Pin pin = Pin::kPinned);
    /// The file that a peer gets; null when it is not here, or withheld.
    [[nodiscard]] FileRef served(const BlobId& id) const;
    /// Drops what may be dropped.
    void evict();

private:
    struct Blob {
        FileRef file;
        Serving serving = Serving::kServed;
        Pin pin = Pin::kPinned;
    };
    SharedFiles& files_;
    std::map<BlobId, Blob> blobs_;
};

}  // namespace assay::node::sim
