// SPDX-License-Identifier: Apache-2.0
// Gives a role BlobFiles: its local blobs as file descriptors. Blobs go to its worker and come back in this
// form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/error.hpp"
#include "node/seams/blob_service.hpp"
#include "node/wire/descriptor.hpp"

namespace assay::node {

using worker::SharedDescriptor;

/// Room for blobs that stay, in bytes.
struct StoreRoom {
    std::uint64_t whole = 0;   ///< by the quota or the disk, whichever is less; includes `pinned`
    std::uint64_t pinned = 0;  ///< taken by pinned blobs and their downloads
    /// Whether there is room to pin `bytes` more.
    [[nodiscard]] bool holds(std::uint64_t bytes) const { return pinned <= whole && bytes <= whole - pinned; }
};

/// Calls block for as long as the disk takes; nothing here waits for a peer.
class BlobFiles {
public:
    virtual ~BlobFiles() = default;
    /// Stores all bytes of `file`; they are on disk when it returns. A withheld blob stays withheld over a
    /// restart, until serve(). A blob that is served already stays served.
    virtual base::Outcome<BlobId> put(const SharedDescriptor& file, Serving serving = Serving::kServed) = 0;
    /// Lets peers have the blob from now on. kNotFound for a blob that is not here.
    virtual base::Outcome<void> serve(const BlobId& id) = 0;
    /// The blob's file, open for reading; kNotFound when it is not in the store.
    virtual base::Outcome<SharedDescriptor> open(const BlobId& id) = 0;
    /// The blob's bytes; kNotFound when it is not in the store, kFailure when it has more than `limit`.
    virtual base::Outcome<base::Bytes> read(const BlobId& id, std::size_t limit) = 0;
    [[nodiscard]] virtual bool has(const BlobId& id) const = 0;
    /// Removes the blob; nothing happens when it is not here.
    virtual void drop(const BlobId& id) = 0;
    /// Blobs here that may be dropped to make room.
    [[nodiscard]] virtual std::vector<BlobId> evictable() const = 0;
    [[nodiscard]] virtual bool is_evictable(const BlobId& id) const = 0;
    /// kNotFound for a blob that is not here; kFailure when the disk does not take the change. The pin then
    /// stays as it was.
    virtual base::Outcome<void> set_pin(const BlobId& id, Pin pin) = 0;
    /// Pins these blobs and makes all others evictable (BlobStore::pin_only).
    virtual base::Outcome<void> pin_only(const std::set<BlobId>& ids) = 0;
    /// Whether the disk still holds what was stored under this name; false when it is not here.
    [[nodiscard]] virtual bool is_intact(const BlobId& id) const = 0;
    /// How much of the room for blobs that stay is taken, by the quota or by the disk, whichever is fuller.
    [[nodiscard]] virtual unsigned percent_full() const = 0;
    [[nodiscard]] virtual StoreRoom room() const = 0;
};

}  // namespace assay::node
