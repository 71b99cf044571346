// SPDX-License-Identifier: Apache-2.0
#include "node/sim/memory_blobs.hpp"

namespace assay::node::sim {

namespace {
base::Failed<base::Error> not_here(const BlobId& id) {
    return base::fail(base::ErrorKind::kNotFound, "blob " + id.brief() + " is not here");
}
}  // namespace

void MemoryBlobs::put_file(const FileRef& file, Serving serving, Pin pin) {
    auto [found, inserted] = blobs_.try_emplace(file->id);
    Blob& blob = found->second;
    if (inserted) {
        blob = {file, serving, pin};
    } else {
        if (serving == Serving::kServed) blob.serving = serving;
        if (pin == Pin::kPinned) blob.pin = pin;
    }
}

base::Outcome<BlobId> MemoryBlobs::put(const SharedDescriptor& descriptor, Serving serving) {
    ASSAY_ASSIGN(const FileRef file, files_.behind(descriptor));
    put_file(file, serving);
    return file->id;
}

base::Outcome<void> MemoryBlobs::serve(const BlobId& id) {
    const auto found = blobs_.find(id);
    if (found == blobs_.end()) return not_here(id);
    found->second.serving = Serving::kServed;
    return {};
}

base::Outcome<SharedDescriptor> MemoryBlobs::open(const BlobId& id) {
    const auto found = blobs_.find(id);
    if (found == blobs_.end()) return not_here(id);
    return files_.open(found->second.file);
}

base::Outcome<base::Bytes> MemoryBlobs::read(const BlobId& id, std::size_t limit) {
    const auto found = blobs_.find(id);
    if (found == blobs_.end()) return not_here(id);
    if (found->second.file->bytes.size() > limit) {
        return base::fail(base::ErrorKind::kFailure, "blob " + id.brief() + " is larger than expected");
    }
    return found->second.file->bytes;
}

std::vector<BlobId> MemoryBlobs::evictable() const {
    std::vector<BlobId> ids;
    for (const auto& [id, blob] : blobs_)
        if (blob.pin == Pin::kEvictable) ids.push_back(id);
    return ids;
}

bool MemoryBlobs::is_evictable(const BlobId& id) const {
    const auto found = blobs_.find(id);
    return found != blobs_.end() && found->second.pin == Pin::kEvictable;
}

base::Outcome<void> MemoryBlobs::set_pin(const BlobId& id, Pin pin) {
    const auto found = blobs_.find(id);
    if (found == blobs_.end()) return not_here(id);
    found->second.pin = pin;
    return {};
}

base::Outcome<void> MemoryBlobs::pin_only(const std::set<BlobId>& ids) {
    for (auto& [id, blob] : blobs_)
        if (!ids.contains(id)) blob.pin = Pin::kEvictable;
    return {};
}

FileRef MemoryBlobs::served(const BlobId& id) const {
    const auto found = blobs_.find(id);
    if (found == blobs_.end() || found->second.serving == Serving::kWithheld) return nullptr;
    return found->second.file;
}

void MemoryBlobs::evict() {
    std::erase_if(blobs_, [](const auto& entry) { return entry.second.pin == Pin::kEvictable; });
}

}  // namespace assay::node::sim
