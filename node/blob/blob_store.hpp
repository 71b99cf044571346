// SPDX-License-Identifier: Apache-2.0
// Gives roles BlobStore, blobs on disk that are named by their content. The file of a finished blob is
// `ab/cd…`: two hex digits, then the other 62. File names come only from BlobId, so no peer's text reaches
// the file system. Folders are opened once, and files below them without following links.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/seams/blob_service.hpp"

namespace assay::node {

inline constexpr std::uint64_t kChunkBytes = 1024 * 1024;
inline constexpr std::uint64_t kMaxBlobBytes = 64ULL << 30;

/// Whose store it is to a process. The store's own removes what earlier processes did not finish, and drops
/// evictable blobs for such as are to stay. Those beside it read, and add what there is room for.
enum class StoreUse : std::uint8_t { kOwn, kBeside };

struct BlobStoreOptions {
    std::filesystem::path folder;                  ///< created when missing, mode 0700
    std::uint64_t quota_bytes = 64ULL << 30;       ///< all blobs together, unfinished ones included
    std::uint64_t free_bytes_min = 256ULL << 20;   ///< nothing is added below this much free disk
    std::uint64_t blob_bytes_max = kMaxBlobBytes;  ///< one blob
    StoreUse use = StoreUse::kOwn;                 ///< kBeside for commands: in their home a role may run
};

struct BlobInfo {
    BlobId id;
    std::uint64_t size = 0;
    Pin pin = Pin::kEvictable;
    Serving serving = Serving::kServed;
};

class PartialBlob;

/// Refuses a description that cannot be of this blob (kVerification): its root is another, or it has another
/// number of hashes than its size takes.
base::Outcome<void> check_description(const BlobDescription& description, const BlobId& id);

/// Thread-safe. One in a folder is the store's own, as long as it lives, and others are beside it, in this
/// process or in others. Each knows the blobs that were there when it was opened, and its own. Errors:
/// kFailure (disk, quota), kNotFound, kVerification.
class BlobStore final : public BlobService {
public:
    /// Opens the store; as one beside another when that is the store's own. The store's own removes what
    /// earlier processes did not finish, except downloads of blobs that are to stay.
    static base::Outcome<std::unique_ptr<BlobStore>> open(const BlobStoreOptions& options);
    ~BlobStore() override;

    /// Stores bytes, or a copy of a file (a regular file; read once). They are on disk when it returns. New
    /// blobs are pinned. Storing a blob that is there already pins it and changes nothing else.
    /// A blob that is put as withheld is given to no peer until serve(), also after a restart. A blob that is
    /// here and served stays served.
    base::Outcome<BlobId> put(base::ByteView content, Serving serving = Serving::kServed);
    base::Outcome<void> serve(const BlobId& id);
    base::Outcome<BlobId> put_file(const std::filesystem::path& file);

    /// Whether it is the store's own process: false for one beside another.
    [[nodiscard]] bool is_own() const;
    [[nodiscard]] bool has(const BlobId& id) const;
    [[nodiscard]] bool is_evictable(const BlobId& id) const;  ///< false for one that is not here
    base::Outcome<std::uint64_t> size(const BlobId& id) const;
    /// The whole blob, verified against its id. kVerification when the disk no longer holds what was stored,
    /// or, before a byte is read, when it has more than `most`.
    base::Outcome<base::Bytes> read(const BlobId& id, std::uint64_t most = UINT64_MAX) const;
    /// One chunk, verified (the leaf hashes are read and checked once per open blob).
    base::Outcome<base::Bytes> read_chunk(const BlobId& id, std::uint64_t index) const;
    /// Writes a verified copy to `target`, which it replaces atomically.
    base::Outcome<void> copy_to(const BlobId& id, const std::filesystem::path& target) const;
    /// Path of the blob's file, for a worker that maps it. Its content is not verified; verify it before use.
    base::Outcome<std::filesystem::path> path(const BlobId& id) const;

    base::Outcome<void> set_pin(const BlobId& id, Pin pin);
    /// Removes the blob, and what is left of an evictable download of it that is not open any more. kNotFound
    /// when there is no such blob.
    base::Outcome<void> remove(const BlobId& id);
    /// Makes every blob except these evictable, and removes what is left of downloads of others that are not
    /// open. kFailure when the disk refuses some of the changes: those blobs keep their pins.
    base::Outcome<void> pin_only(const std::set<BlobId>& ids);
    /// kVerification when the disk no longer holds what was stored; reads the whole blob.
    base::Outcome<void> verify(const BlobId& id) const;
    [[nodiscard]] std::vector<BlobInfo> list() const;  ///< ascending ids
    [[nodiscard]] std::uint64_t bytes_used() const;
    [[nodiscard]] std::uint64_t bytes_pinned() const;
    /// Total room for pinned blobs, by the quota or the disk, whichever is less.
    [[nodiscard]] std::uint64_t bytes_for_pins() const;
    /// How much of the room for blobs that stay is taken, by the quota or by the disk, whichever is fuller.
    [[nodiscard]] unsigned percent_full() const;

    /// Begins or resumes a download. kVerification when the description does not belong to the id, kFailure
    /// when there is no room. An evictable download never displaces another blob, and ends with kFailure when
    /// pinned blobs need its room. A blob that is here and pinned stays pinned.
    base::Outcome<std::unique_ptr<PartialBlob>> begin(const BlobId& id, const BlobDescription& description,
                                                      Pin pin = Pin::kPinned,
                                                      Showing showing = Showing::kHidden);

    // What peers are served. A withheld blob gives kNotFound, like one that is not here. A pinned download
    // that was begun with Showing::kShown gives the chunks that are here, from the first one on, until it is
    // finished or removed, or the store is opened again.
    FetchOutcome<BlobDescription> describe(const BlobId& id) override;
    FetchEnd fetch(const BlobId& id, std::uint64_t first_chunk, const ChunkHandler& handler) override;

private:
    friend class PartialBlob;
    struct State;
    explicit BlobStore(std::unique_ptr<State> state);
    [[nodiscard]] bool is_withheld(const BlobId& id) const;
    [[nodiscard]] std::optional<BlobDescription> describe_unfinished(const BlobId& id) const;
    FetchEnd fetch_unfinished(const BlobId& id, const BlobDescription& description, std::uint64_t first_chunk,
                              const ChunkHandler& handler) const;
    [[nodiscard]] FetchOutcome<BlobDescription> describe_any(const BlobId& id) const;
    std::unique_ptr<State> state_;
};

/// A download that keeps what it has. Chunks are verified when they come, and again when a later process
/// resumes the download. Not thread-safe; must not outlive its store.
class PartialBlob {
public:
    ~PartialBlob();
    /// The first chunk still missing; nothing when all are there.
    [[nodiscard]] std::optional<std::uint64_t> next_missing() const;
    /// Whether it was begun with this description. Several fit one id: an inner node of the tree can pass for
    /// a chunk's hash. Only whoever gives all chunks has shown that its own is true.
    [[nodiscard]] bool is_of(const BlobDescription& description) const;
    [[nodiscard]] std::uint64_t chunks() const;
    [[nodiscard]] bool has(std::uint64_t index) const;  ///< false behind the end
    /// Adds a chunk. kVerification when it does not match its leaf hash; what is stored stays unchanged.
    /// kFailure when the disk fails, or when pinned blobs need the room of this evictable one.
    base::Outcome<void> add(std::uint64_t index, base::ByteView chunk);
    /// Makes it a blob of the store. REQUIRES !next_missing().
    base::Outcome<void> finish();

private:
    friend class BlobStore;
    struct State;
    explicit PartialBlob(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace assay::node
