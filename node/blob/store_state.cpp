// SPDX-License-Identifier: Apache-2.0
// What a store knows of its folder: which blobs there are, the room that they take, and what gives way.
#include "node/blob/store_state.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using base::Outcome;

Outcome<void> BlobStore::State::clean() const {
    for (const std::string& name : temporary.names()) ASSAY_TRY(temporary.remove_unheld(name));
    // Nobody knows any more what an evictable one was fetched for; of a blob that stays one is enough.
    for (const std::string& name : partial.names()) {
        if (!base::parse_hash(name)) ASSAY_TRY(partial.remove_unheld(name));
    }
    return {};
}

Outcome<void> BlobStore::State::look_around() {
    for (const std::string& top : root.names()) {
        if (top.size() != 2) continue;
        ASSAY_ASSIGN(const Folder folder, root.subfolder(top));
        for (const std::string& name : folder.names()) {
            const auto id = base::parse_hash(top + name);
            if (!id) continue;  // a marker, or nothing of ours
            const auto file = folder.open_file(name, Access::kRead);
            // The process whose store it is may have dropped it since.
            if (!file.ok() && file.error().kind == ErrorKind::kNotFound && !owns()) continue;
            if (!file.ok()) return base::failed(file.error());
            ASSAY_ASSIGN(const std::uint64_t size, file->size());
            const Pin pin = folder.has(BlobName(*id).evictable()) ? Pin::kEvictable : Pin::kPinned;
            const bool withheld = folder.has(BlobName(*id).withheld());
            blobs[*id] = {*id, size, pin, withheld ? Serving::kWithheld : Serving::kServed};
            used += size;
        }
    }
    return {};
}

Outcome<void> BlobStore::State::reserve(std::uint64_t bytes, Pin pin) {
    const std::lock_guard lock(mutex);
    if (bytes > options.blob_bytes_max) {
        return fail(ErrorKind::kFailure,
                    "a blob of " + std::to_string(bytes) + " bytes is above the limit of " +
                        std::to_string(options.blob_bytes_max),
                    "raise the limit, or split the data");
    }
    const auto disk_is_full = [&] {
        const std::uint64_t free = root.free_bytes();
        return free < bytes || free - bytes < options.free_bytes_min;
    };
    std::uint64_t left = bytes_left_behind();
    const auto taken = [&] { return used + left + (pin == Pin::kEvictable ? evictable : 0); };
    const auto quota_is_full = [&] { return taken() + bytes > options.quota_bytes; };
    const bool drops = pin == Pin::kPinned && owns();
    if (drops && (quota_is_full() || disk_is_full())) {
        for (const std::string& name : left_behind()) ASSAY_TRY(partial.remove_unheld(name));
        left = bytes_left_behind();
    }
    for (auto next = blobs.begin(); drops && next != blobs.end() && (quota_is_full() || disk_is_full());) {
        const BlobInfo info = (next++)->second;
        if (info.pin == Pin::kEvictable) ASSAY_TRY(erase(info.id));
    }
    if (quota_is_full()) {
        return fail(ErrorKind::kFailure,
                    "the blob store " + options.folder.string() + " is full (" + std::to_string(taken()) +
                        " of " + std::to_string(options.quota_bytes) + " bytes)",
                    owns() ? "remove blobs that are no longer needed, or raise the quota"
                           : "only its home's role drops blobs: name another home with --home DIR");
    }
    if (disk_is_full()) {
        return fail(ErrorKind::kFailure,
                    "the disk of " + options.folder.string() + " is nearly full (" +
                        std::to_string(root.free_bytes() >> 20) + " MiB free)",
                    "free some disk space and try again");
    }
    reserved(pin) += bytes;
    return {};
}

void BlobStore::State::release(std::uint64_t bytes, Pin pin) {
    const std::lock_guard lock(mutex);
    reserved(pin) -= bytes;
}

bool BlobStore::State::is_crowded() const {
    const std::lock_guard lock(mutex);
    return used + evictable > options.quota_bytes;
}

std::vector<std::string> BlobStore::State::left_behind() const {
    std::vector<std::string> files = partial.names();
    std::erase_if(files, [&](const std::string& name) {
        return !name.ends_with(kEvictableEnding) || downloads.contains(name);
    });
    return files;
}

std::uint64_t BlobStore::State::bytes_left_behind() const {
    std::uint64_t bytes = 0;
    for (const std::string& name : left_behind()) {
        const auto file = partial.open_file(name, Access::kRead);
        if (!file.ok()) continue;
        const auto size = file->size();
        if (size.ok()) bytes += *size;
    }
    return bytes;
}

Outcome<void> BlobStore::State::adopt(const Folder& from, const std::string& name, const BlobId& id,
                                      std::uint64_t size, Pin pin, Serving serving) {
    const BlobName place(id);
    ASSAY_ASSIGN(const Folder folder, root.subfolder(place.folder));
    // Disk and map change together: an erase() in between would leave the map with a blob that is gone.
    const std::lock_guard lock(mutex);
    if (pin == Pin::kEvictable && used + evictable > options.quota_bytes) {
        return fail(ErrorKind::kFailure, "blob " + id.hex() + " has made room for blobs that stay",
                    "it is fetched again when there is room");
    }
    const auto known = blobs.find(id);
    const bool stays = pin == Pin::kPinned || (known != blobs.end() && known->second.pin == Pin::kPinned);
    // The mark comes first: a crash in between leaves no blob that is pinned for ever.
    if (!stays) ASSAY_TRY(folder.replace(place.evictable(), {}));
    // For the same reason: a crash in between gives nothing to peers.
    const bool withheld = known == blobs.end() && serving == Serving::kWithheld;
    if (withheld) ASSAY_TRY(folder.replace(place.withheld(), {}));
    ASSAY_TRY(from.rename_to(name, folder, place.file));
    reserved(pin) -= size;
    shown.erase(id);
    if (known == blobs.end()) {
        blobs.emplace(id, BlobInfo{id, size, pin, withheld ? Serving::kWithheld : Serving::kServed});
        used += size;
    } else if (stays) {
        known->second.pin = Pin::kPinned;
    }
    // What the disk says wrongly here is a blob that may be dropped after the next start: no loss.
    if (stays) (void)folder.remove(place.evictable());
    return {};
}

Outcome<void> BlobStore::State::erase(const BlobId& id) {
    const auto found = blobs.find(id);
    if (found == blobs.end()) return {};
    const BlobName name(id);
    ASSAY_ASSIGN(const Folder folder, root.subfolder(name.folder));
    ASSAY_TRY(folder.remove(name.file));
    ASSAY_TRY(folder.remove(name.evictable()));
    ASSAY_TRY(folder.remove(name.withheld()));
    used -= found->second.size;
    blobs.erase(found);
    leaves.erase(id);
    return {};
}

}  // namespace assay::node
