// SPDX-License-Identifier: Apache-2.0
#include "node/sim/memory_blobs.hpp"

#include <algorithm>

#include "contracts/base/blob_id.hpp"
#include "contracts/worker/frames.hpp"

namespace assay::node::sim {

namespace {
constexpr std::size_t kOpenFiles = 8;

base::Failed<base::Error> not_here(const BlobId& id) {
    return base::fail(base::ErrorKind::kNotFound, "blob " + id.brief() + " is not here");
}
}  // namespace

BlobId MemoryBlobs::put_bytes(base::Bytes bytes, Serving serving, Pin pin) {
    const BlobId id = base::blob_id(bytes);
    put_known(id, std::move(bytes), serving, pin);
    return id;
}

void MemoryBlobs::put_known(const BlobId& id, base::Bytes bytes, Serving serving, Pin pin) {
    auto [found, inserted] = blobs_.try_emplace(id);
    Blob& blob = found->second;
    if (inserted) {
        blob = {std::move(bytes), serving, pin};
    } else {
        if (serving == Serving::kServed) blob.serving = serving;
        if (pin == Pin::kPinned) blob.pin = pin;
    }
}

base::Outcome<BlobId> MemoryBlobs::put(const SharedDescriptor& file, Serving serving) {
    ASSAY_ASSIGN(auto bytes, worker::read_all(*file, worker::kMaxBulk));
    return put_bytes(std::move(bytes), serving);
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
    const auto open =
        std::find_if(opened_.begin(), opened_.end(), [&](const auto& e) { return e.first == id; });
    if (open != opened_.end()) return open->second;
    ASSAY_ASSIGN(SharedDescriptor file, worker::memory_file("blob", found->second.bytes));
    if (opened_.size() == kOpenFiles) opened_.pop_front();
    opened_.emplace_back(id, file);
    return file;
}

base::Outcome<base::Bytes> MemoryBlobs::read(const BlobId& id, std::size_t limit) {
    const auto found = blobs_.find(id);
    if (found == blobs_.end()) return not_here(id);
    if (found->second.bytes.size() > limit) {
        return base::fail(base::ErrorKind::kFailure, "blob " + id.brief() + " is larger than expected");
    }
    return found->second.bytes;
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

const base::Bytes* MemoryBlobs::served(const BlobId& id) const {
    const auto found = blobs_.find(id);
    if (found == blobs_.end() || found->second.serving == Serving::kWithheld) return nullptr;
    return &found->second.bytes;
}

void MemoryBlobs::evict() {
    std::erase_if(blobs_, [](const auto& entry) { return entry.second.pin == Pin::kEvictable; });
}

}  // namespace assay::node::sim
