// SPDX-License-Identifier: Apache-2.0
#include "node/blob/blob_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "contracts/base/blob_id.hpp"
#include "node/blob/store_state.hpp"

namespace assay::node {

static_assert(kChunkBytes == base::kBlobChunk);

using base::Bytes;
using base::ByteView;
using base::ErrorKind;
using base::fail;
using base::Outcome;

namespace {

base::Failed<base::Error> not_here(const BlobId& id) {
    return fail(ErrorKind::kNotFound, "blob " + id.hex() + " is not in the store", "fetch it from a holder");
}

base::Failed<base::Error> damaged(const BlobId& id) {
    return fail(ErrorKind::kVerification, "blob " + id.hex() + " on disk is not what was stored",
                "remove it and fetch it again; check the disk");
}

// Opens a blob for reading and makes sure, once since the start, that it is the whole truth.
Outcome<FileHandle> open_blob(const Folder& root, const BlobId& id) {
    const BlobName name(id);
    ASSAY_ASSIGN(const Folder folder, root.subfolder(name.folder));
    return folder.open_file(name.file, Access::kRead);
}

// Says of which format the names are: those of version 1, which no file told, are no ids any more.
constexpr std::string_view kFormatFile = "format";
constexpr std::string_view kFormat = "assay.blobs/v2\n";

// Held by the store's own process.
constexpr std::string_view kLockFile = "lock";

bool has_blobs(const Folder& root) {
    const std::vector<std::string> names = root.names();
    return std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return name.size() == 2 && base::from_hex(name).has_value();
    });
}

// An empty store gets the file; one with blobs and without it, or with another one, is refused.
Outcome<void> check_format(const Folder& root, const std::filesystem::path& path) {
    if (!root.has(std::string(kFormatFile)) && !has_blobs(root))
        return root.replace(std::string(kFormatFile), base::as_bytes(kFormat));
    if (root.has(std::string(kFormatFile))) {
        ASSAY_ASSIGN(const FileHandle file, root.open_file(std::string(kFormatFile), Access::kRead));
        ASSAY_ASSIGN(const std::uint64_t size, file.size());
        ASSAY_ASSIGN(const Bytes found, file.read_at(0, std::min<std::uint64_t>(size, kFormat.size() + 1)));
        if (base::as_text(found) == kFormat) return {};
    }
    return fail(
        ErrorKind::kUsage,
        "the blob store " + path.string() +
            " is of another format than assay.blobs/v2: its blobs are not damaged, but their names are "
            "not the ids of this program's law",
        "use the program that filled it, or another home");
}

}  // namespace

Outcome<Leaves> hash_chunks(const FileHandle& file) {
    ASSAY_ASSIGN(const std::uint64_t size, file.size());
    Leaves leaves;
    for (std::uint64_t at = 0; at < size; at += kChunkBytes) {
        ASSAY_ASSIGN(const Bytes chunk, file.read_at(at, std::min(kChunkBytes, size - at)));
        leaves.push_back(base::blob_chunk_hash(chunk));
    }
    return leaves;
}

BlobStore::BlobStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
BlobStore::~BlobStore() = default;

Outcome<std::unique_ptr<BlobStore>> BlobStore::open(const BlobStoreOptions& options) {
    ASSAY_ASSIGN(Folder root, Folder::open(options.folder));
    ASSAY_ASSIGN(Folder temporary, root.subfolder("new"));
    ASSAY_ASSIGN(Folder partial, root.subfolder("partial"));
    ASSAY_TRY(check_format(root, options.folder));
    auto state = std::make_unique<State>(options, std::move(root), std::move(temporary), std::move(partial));
    if (options.use == StoreUse::kOwn) {
        ASSAY_ASSIGN(state->own, state->root.open_held(std::string(kLockFile)));
        if (state->owns()) ASSAY_TRY(state->clean());
    }
    ASSAY_TRY(state->look_around());
    return std::unique_ptr<BlobStore>(new BlobStore(std::move(state)));
}

Outcome<BlobId> BlobStore::put(ByteView content, Serving serving) {
    const BlobId id = base::blob_id(content);
    if (has(id)) {
        ASSAY_TRY(set_pin(id, Pin::kPinned));
        if (serving == Serving::kServed) ASSAY_TRY(serve(id));
        return id;
    }
    ASSAY_TRY(state_->reserve(content.size()));
    FreshFile fresh;
    const auto store = [&]() -> Outcome<void> {
        ASSAY_ASSIGN(fresh, state_->temporary.make_fresh());
        ASSAY_TRY(fresh.file.write_at(0, content));
        ASSAY_TRY(fresh.file.sync());
        return state_->adopt(state_->temporary, fresh.name, id, content.size(), Pin::kPinned, serving);
    };
    const auto stored = store();
    if (stored) return id;
    state_->release(content.size());
    if (fresh.file.ok()) (void)state_->temporary.remove(fresh.name);  // the first error is the one to tell
    return base::failed(stored.error());
}

Outcome<BlobId> BlobStore::put_file(const std::filesystem::path& path) {
    const FileHandle source(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!source.ok() || fstat(source.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return fail(ErrorKind::kNotFound, "cannot read the file " + path.string(),
                    "check the path and its permissions");
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    ASSAY_TRY(state_->reserve(size));
    FreshFile fresh;
    const auto store = [&]() -> Outcome<BlobId> {
        ASSAY_ASSIGN(fresh, state_->temporary.make_fresh());
        Leaves leaves;
        for (std::uint64_t at = 0; at < size; at += kChunkBytes) {
            ASSAY_ASSIGN(const Bytes chunk, source.read_at(at, std::min(kChunkBytes, size - at)));
            leaves.push_back(base::blob_chunk_hash(chunk));
            ASSAY_TRY(fresh.file.write_at(at, chunk));
        }
        ASSAY_TRY(fresh.file.sync());
        const BlobId id = base::merkle_root(leaves);
        ASSAY_TRY(state_->adopt(state_->temporary, fresh.name, id, size));
        return id;
    };
    auto stored = store();
    if (stored) return stored;
    state_->release(size);
    if (fresh.file.ok()) (void)state_->temporary.remove(fresh.name);
    return stored;
}

bool BlobStore::is_own() const { return state_->owns(); }

bool BlobStore::has(const BlobId& id) const {
    const std::lock_guard lock(state_->mutex);
    return state_->blobs.contains(id);
}

bool BlobStore::is_evictable(const BlobId& id) const {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->blobs.find(id);
    return found != state_->blobs.end() && found->second.pin == Pin::kEvictable;
}

Outcome<std::uint64_t> BlobStore::size(const BlobId& id) const {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->blobs.find(id);
    if (found == state_->blobs.end()) return not_here(id);
    return found->second.size;
}

Outcome<void> BlobStore::serve(const BlobId& id) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->blobs.find(id);
    if (found == state_->blobs.end()) return not_here(id);
    if (found->second.serving == Serving::kServed) return {};
    const BlobName name(id);
    ASSAY_ASSIGN(const Folder folder, state_->root.subfolder(name.folder));
    ASSAY_TRY(folder.remove(name.withheld()));
    found->second.serving = Serving::kServed;
    return {};
}

bool BlobStore::is_withheld(const BlobId& id) const {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->blobs.find(id);
    return found != state_->blobs.end() && found->second.serving == Serving::kWithheld;
}

FetchOutcome<BlobDescription> BlobStore::describe(const BlobId& id) {
    if (is_withheld(id)) return not_here(id);
    if (auto unfinished = describe_unfinished(id)) return *std::move(unfinished);
    return describe_any(id);
}

FetchOutcome<BlobDescription> BlobStore::describe_any(const BlobId& id) const {
    ASSAY_ASSIGN(const std::uint64_t bytes, size(id));
    {
        const std::lock_guard lock(state_->mutex);
        const auto known = state_->leaves.find(id);
        if (known != state_->leaves.end()) return BlobDescription{bytes, known->second};
    }
    ASSAY_ASSIGN(const FileHandle file, open_blob(state_->root, id));
    ASSAY_ASSIGN(Leaves leaves, hash_chunks(file));
    if (base::merkle_root(leaves) != id) return damaged(id);
    const std::lock_guard lock(state_->mutex);
    return BlobDescription{bytes, state_->leaves[id] = std::move(leaves)};
}

Outcome<Bytes> BlobStore::read_chunk(const BlobId& id, std::uint64_t index) const {
    ASSAY_ASSIGN(const BlobDescription description, describe_any(id));
    if (index >= description.leaves.size()) {
        return fail(ErrorKind::kUsage, "blob " + id.hex() + " has no chunk " + std::to_string(index));
    }
    ASSAY_ASSIGN(const FileHandle file, open_blob(state_->root, id));
    const std::uint64_t at = index * kChunkBytes;
    ASSAY_ASSIGN(Bytes chunk, file.read_at(at, std::min(kChunkBytes, description.size - at)));
    if (base::blob_chunk_hash(chunk) != description.leaves[index]) return damaged(id);
    return chunk;
}

Outcome<Bytes> BlobStore::read(const BlobId& id, std::uint64_t most) const {
    if (!has(id)) return not_here(id);
    ASSAY_ASSIGN(const FileHandle file, open_blob(state_->root, id));
    ASSAY_ASSIGN(const std::uint64_t bytes, file.size());
    if (bytes > most) {
        return fail(ErrorKind::kVerification,
                    "blob " + id.hex() + " has " + std::to_string(bytes) +
                        " bytes, and what it is wanted for has at most " + std::to_string(most),
                    "whoever named the blob named the wrong one");
    }
    ASSAY_ASSIGN(Bytes content, file.read_at(0, bytes));
    if (base::blob_id(content) != id) return damaged(id);
    return content;
}

Outcome<void> BlobStore::copy_to(const BlobId& id, const std::filesystem::path& target) const {
    ASSAY_ASSIGN(const Folder folder, Folder::open(target.has_parent_path() ? target.parent_path() : "."));
    ASSAY_ASSIGN(const BlobDescription description, describe_any(id));
    const std::string name = target.filename().string() + ".part";
    ASSAY_TRY(folder.remove(name));
    const auto copy = [&]() -> Outcome<void> {
        ASSAY_ASSIGN(FileHandle file, folder.open_file(name, Access::kCreateNew));
        for (std::uint64_t index = 0; index < description.leaves.size(); ++index) {
            ASSAY_ASSIGN(const Bytes chunk, read_chunk(id, index));
            ASSAY_TRY(file.write_at(index * kChunkBytes, chunk));
        }
        ASSAY_TRY(file.sync());
        return folder.rename_to(name, folder, target.filename().string());
    };
    auto copied = copy();
    if (!copied) (void)folder.remove(name);
    return copied;
}

Outcome<std::filesystem::path> BlobStore::path(const BlobId& id) const {
    if (!has(id)) return not_here(id);
    const BlobName name(id);
    return state_->root.path() / name.folder / name.file;
}

Outcome<void> BlobStore::set_pin(const BlobId& id, Pin pin) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->blobs.find(id);
    if (found == state_->blobs.end()) return not_here(id);
    if (found->second.pin == pin) return {};
    const BlobName name(id);
    ASSAY_ASSIGN(const Folder folder, state_->root.subfolder(name.folder));
    if (pin == Pin::kPinned) {
        ASSAY_TRY(folder.remove(name.evictable()));
    } else {
        ASSAY_TRY(folder.replace(name.evictable(), {}));
    }
    found->second.pin = pin;
    return {};
}

Outcome<void> BlobStore::remove(const BlobId& id) {
    const std::lock_guard lock(state_->mutex);
    const std::string unfinished = partial_name(id, Pin::kEvictable);
    if (!state_->downloads.contains(unfinished)) ASSAY_TRY(state_->partial.remove_unheld(unfinished));
    if (!state_->blobs.contains(id)) return not_here(id);
    return state_->erase(id);
}

Outcome<void> BlobStore::pin_only(const std::set<BlobId>& ids) {
    Outcome<void> all;
    for (const BlobInfo& info : list()) {
        if (info.pin == Pin::kEvictable || ids.contains(info.id)) continue;
        const auto unpinned = set_pin(info.id, Pin::kEvictable);
        if (!unpinned.ok() && unpinned.error().kind != ErrorKind::kNotFound) all = unpinned;
    }
    const std::lock_guard lock(state_->mutex);
    for (const std::string& name : state_->partial.names()) {
        const auto id = base::parse_hash(name);
        if (!id || ids.contains(*id) || state_->downloads.contains(name)) continue;
        state_->shown.erase(*id);
        if (const auto removed = state_->partial.remove_unheld(name); !removed.ok()) all = removed;
    }
    return all;
}

Outcome<void> BlobStore::verify(const BlobId& id) const {
    if (!has(id)) return not_here(id);
    ASSAY_ASSIGN(const FileHandle file, open_blob(state_->root, id));
    ASSAY_ASSIGN(const Leaves leaves, hash_chunks(file));
    return base::merkle_root(leaves) == id ? Outcome<void>{} : damaged(id);
}

std::uint64_t BlobStore::bytes_pinned() const {
    const std::lock_guard lock(state_->mutex);
    std::uint64_t bytes = state_->used;
    for (const auto& [id, info] : state_->blobs) bytes -= info.pin == Pin::kEvictable ? info.size : 0;
    return bytes;
}

std::uint64_t BlobStore::bytes_for_pins() const {
    const std::uint64_t pinned = bytes_pinned();
    const std::uint64_t evictable = bytes_used() - std::min(bytes_used(), pinned);
    const std::uint64_t free = state_->root.free_bytes();
    const std::uint64_t left = free - std::min(free, state_->options.free_bytes_min) + evictable;
    return std::min(state_->options.quota_bytes, pinned + left);
}

unsigned BlobStore::percent_full() const {
    const std::uint64_t whole = bytes_for_pins();
    if (whole == 0) return 100;
    const double percent = 100.0 * static_cast<double>(bytes_pinned()) / static_cast<double>(whole);
    return static_cast<unsigned>(std::min(percent, 100.0));
}

std::vector<BlobInfo> BlobStore::list() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<BlobInfo> all;
    for (const auto& [id, info] : state_->blobs) all.push_back(info);
    return all;
}

std::uint64_t BlobStore::bytes_used() const {
    const std::lock_guard lock(state_->mutex);
    return state_->used;
}

FetchEnd BlobStore::fetch(const BlobId& id, std::uint64_t first_chunk, const ChunkHandler& handler) {
    ASSAY_ASSIGN(const BlobDescription description, describe(id));
    if (!description.held.empty()) return fetch_unfinished(id, description, first_chunk, handler);
    for (std::uint64_t index = first_chunk; index < description.leaves.size(); ++index) {
        ASSAY_ASSIGN(const Bytes chunk, read_chunk(id, index));
        if (!handler(index, chunk)) return {};
    }
    return {};
}

}  // namespace assay::node
