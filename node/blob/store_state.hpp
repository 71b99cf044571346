// SPDX-License-Identifier: Apache-2.0
// Gives the store and its unfinished downloads what they share. Internal to node/blob.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/merkle.hpp"
#include "node/blob/blob_store.hpp"
#include "node/blob/folder.hpp"

namespace assay::node {

using Leaves = std::vector<base::Hash256>;

struct BlobStore::State {
    State(BlobStoreOptions wanted, Folder top, Folder fresh, Folder unfinished)
        : options(std::move(wanted)),
          root(std::move(top)),
          temporary(std::move(fresh)),
          partial(std::move(unfinished)) {}

    BlobStoreOptions options;
    Folder root, temporary, partial;
    std::optional<FileHandle> own;  ///< the lock file, of the store's own process

    mutable std::mutex mutex;  ///< guards all below
    std::map<BlobId, BlobInfo> blobs;
    mutable std::map<BlobId, Leaves> leaves;  ///< of blobs that were verified whole since the start
    std::set<std::string> downloads;          ///< open downloads, by their files in `partial`
    /// Unfinished downloads that peers can have, in the files partial_name(id, Pin::kPinned).
    std::map<BlobId, BlobDescription> shown;
    std::uint64_t used = 0;       ///< bytes of blobs, and reservations of what will be pinned
    std::uint64_t evictable = 0;  ///< reservations of open evictable downloads; they displace nothing

    /// Whether blobs, and what other processes left, may be removed here.
    [[nodiscard]] bool owns() const { return own.has_value(); }
    /// Removes what earlier processes did not finish, except downloads of blobs that are to stay.
    base::Outcome<void> clean() const;
    /// Fills `blobs` and `used` from the disk.
    base::Outcome<void> look_around();

    /// Reserves `bytes`; release() undoes it. To make room for pinned blobs, a store's own process drops
    /// evictable downloads that are not open, and then evictable blobs.
    base::Outcome<void> reserve(std::uint64_t bytes, Pin pin = Pin::kPinned);
    void release(std::uint64_t bytes, Pin pin = Pin::kPinned);
    /// Whether open evictable downloads take room that pinned blobs need, and have to end.
    [[nodiscard]] bool is_crowded() const;
    /// Moves a finished, synced file to its place. Its reservation, `size` by now, becomes the blob's.
    /// kFailure for an evictable blob that has no room any more.
    base::Outcome<void> adopt(const Folder& from, const std::string& name, const BlobId& id,
                              std::uint64_t size, Pin pin = Pin::kPinned, Serving serving = Serving::kServed);

    // REQUIRE mutex held.
    base::Outcome<void> erase(const BlobId& id);
    [[nodiscard]] std::uint64_t& reserved(Pin pin) { return pin == Pin::kPinned ? used : evictable; }
    /// Files of evictable downloads that are not open.
    [[nodiscard]] std::vector<std::string> left_behind() const;
    [[nodiscard]] std::uint64_t bytes_left_behind() const;
};

inline constexpr std::string_view kEvictableEnding = ".evictable";

/// File of an unfinished download. Evictable and pinned downloads of one blob have different files, so that a
/// slow holder of the first does not hold up the second.
inline std::string partial_name(const BlobId& id, Pin pin) {
    return pin == Pin::kPinned ? id.hex() : id.hex() + std::string(kEvictableEnding);
}

/// File of a further download of a pinned blob, while `number` others of it are open. It is removed with its
/// download; only the first download's file is kept to resume from.
inline std::string further_name(const BlobId& id, std::size_t number) {
    return id.hex() + "." + std::to_string(number);
}
/// The most downloads of one pinned blob at a time, each from another party that owes it.
inline constexpr std::size_t kMostDownloads = 8;

/// `ab` and the other 62 digits.
struct BlobName {
    explicit BlobName(const BlobId& id) : folder(id.hex().substr(0, 2)), file(id.hex().substr(2)) {}
    std::string folder, file;
    [[nodiscard]] std::string evictable() const { return file + std::string(kEvictableEnding); }
    [[nodiscard]] std::string withheld() const { return file + ".withheld"; }
};

/// Leaf hashes of the chunks of an open file.
base::Outcome<Leaves> hash_chunks(const FileHandle& file);

inline std::uint64_t chunk_count(std::uint64_t size) {
    return size / kChunkBytes + (size % kChunkBytes != 0 ? 1 : 0);
}

}  // namespace assay::node
