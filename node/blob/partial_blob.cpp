// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "contracts/base/blob_id.hpp"
#include "node/blob/store_state.hpp"

namespace assay::node {

using base::ByteView;
using base::ErrorKind;
using base::fail;
using base::Outcome;

Outcome<void> check_description(const BlobDescription& description, const BlobId& id) {
    const bool fits = chunk_count(description.size) == description.leaves.size() &&
                      base::merkle_root(description.leaves) == id;
    if (fits) return {};
    return fail(ErrorKind::kVerification, "a peer described blob " + id.hex() + " by other content",
                "take it from another holder");
}

struct PartialBlob::State {
    BlobStore::State& store;
    BlobId id;
    std::uint64_t size = 0;  ///< as described
    Leaves leaves;
    Pin pin = Pin::kPinned;
    bool shows = false;  ///< whether others are told which chunks are here, once there are any
    FileHandle file = {};
    std::string name = {};  ///< of `file`; marked in `store.downloads`
    std::size_t next = 0;   ///< number of the name to try after `name`
    bool placed = false;    ///< whether `file` still has its place under `name`
    std::vector<bool> present = {};
    std::uint64_t first_missing = 0;
    std::uint64_t reserved = 0;

    Outcome<void> mark();
    Outcome<void> open_file();
    void show_chunks();
    void show_chunk(std::uint64_t index);
    [[nodiscard]] bool is_first() const { return name == partial_name(id, pin); }
};

/// Marks the next name that no other download of this process has. kFailure when there is none.
Outcome<void> PartialBlob::State::mark() {
    const std::lock_guard lock(store.mutex);
    store.downloads.erase(name);
    name.clear();
    const std::size_t most = pin == Pin::kPinned ? kMostDownloads : 1;
    while (next < most) {
        const std::string tried = next == 0 ? partial_name(id, pin) : further_name(id, next);
        ++next;
        if (!store.downloads.insert(tried).second) continue;
        name = tried;
        return {};
    }
    return fail(ErrorKind::kFailure, "blob " + id.hex() + " is being fetched already", "wait for it");
}

/// Opens the file of the marked name, or of a later one where another process holds that.
Outcome<void> PartialBlob::State::open_file() {
    while (!placed) {
        ASSAY_ASSIGN(auto opened, store.partial.open_held(name));
        placed = opened.has_value();
        if (placed) file = *std::move(opened);
        if (!placed) ASSAY_TRY(mark());
    }
    return {};
}

/// A description of which no chunk has come says nothing of the blob, and would be passed on to others.
void PartialBlob::State::show_chunks() {
    if (!shows || pin != Pin::kPinned || !is_first()) return;
    const bool any = std::find(present.begin(), present.end(), true) != present.end();
    const std::lock_guard lock(store.mutex);
    if (any) {
        store.shown[id] = {size, leaves, present};
    } else {
        store.shown.erase(id);
    }
}

void PartialBlob::State::show_chunk(std::uint64_t index) {
    if (!shows || pin != Pin::kPinned || !is_first()) return;
    const std::lock_guard lock(store.mutex);
    const auto shown = store.shown.find(id);
    if (shown != store.shown.end()) {
        shown->second.held[index] = true;
    } else {
        store.shown[id] = {size, leaves, present};
    }
}

PartialBlob::PartialBlob(std::unique_ptr<State> state) : state_(std::move(state)) {}

PartialBlob::~PartialBlob() {
    BlobStore::State& store = state_->store;
    const bool in_the_way = state_->pin == Pin::kEvictable && store.is_crowded();
    store.release(state_->reserved, state_->pin);
    const std::lock_guard lock(store.mutex);
    const bool needless = store.blobs.contains(state_->id);  // another download was quicker
    // Under the name of a file that has lost its place another process may have one by now.
    if (state_->placed && (in_the_way || !state_->is_first() || needless)) {
        (void)store.partial.remove(state_->name);
    }
    state_->file = {};  // before the mark goes: whoever sets it next finds a file that nobody holds
    store.downloads.erase(state_->name);
    if (needless) store.shown.erase(state_->id);
}

Outcome<std::unique_ptr<PartialBlob>> BlobStore::begin(const BlobId& id, const BlobDescription& description,
                                                       Pin pin, Showing showing) {
    // Only the last chunk's length depends on the stated size; it is taken from the chunk itself, as a lie
    // about it would otherwise make honest chunks look wrong.
    const Leaves& leaves = description.leaves;
    ASSAY_TRY(check_description(description, id));
    // The object undoes what is marked and reserved.
    std::unique_ptr<PartialBlob> partial(
        new PartialBlob(std::make_unique<PartialBlob::State>(PartialBlob::State{
            .store = *state_, .id = id, .size = description.size, .leaves = leaves, .pin = pin})));
    PartialBlob::State& state = *partial->state_;
    ASSAY_TRY(state.mark());
    ASSAY_TRY(state_->reserve(leaves.size() * kChunkBytes, pin));
    state.reserved = leaves.size() * kChunkBytes;
    ASSAY_TRY(state.open_file());
    state.present.assign(leaves.size(), false);
    // What an earlier process left counts only as far as it has the right hashes.
    ASSAY_ASSIGN(const Leaves found, hash_chunks(state.file));
    for (std::size_t i = 0; i < leaves.size() && i < found.size(); ++i)
        state.present[i] = found[i] == leaves[i];
    {
        const std::lock_guard lock(state_->mutex);
        state.shows = showing == Showing::kShown || state_->shown.contains(id);
    }
    state.show_chunks();
    return partial;
}

bool PartialBlob::is_of(const BlobDescription& description) const {
    return state_->leaves == description.leaves;
}

std::uint64_t PartialBlob::chunks() const { return state_->present.size(); }

bool PartialBlob::has(std::uint64_t index) const {
    return index < state_->present.size() && state_->present[index];
}

std::optional<std::uint64_t> PartialBlob::next_missing() const {
    std::uint64_t& at = state_->first_missing;
    while (at < state_->present.size() && state_->present[at]) ++at;
    if (at == state_->present.size()) return std::nullopt;
    return at;
}

Outcome<void> PartialBlob::add(std::uint64_t index, ByteView chunk) {
    const bool last = index + 1 == state_->leaves.size();
    const bool length_ok = last ? !chunk.empty() && chunk.size() <= kChunkBytes : chunk.size() == kChunkBytes;
    if (index >= state_->leaves.size() || !length_ok ||
        base::blob_chunk_hash(chunk) != state_->leaves[index]) {
        return fail(ErrorKind::kVerification,
                    "chunk " + std::to_string(index) + " of blob " + state_->id.hex() +
                        " is not the one its hash names",
                    "take it from another holder");
    }
    if (state_->present[index]) return {};
    if (state_->pin == Pin::kEvictable && state_->store.is_crowded()) {
        return fail(ErrorKind::kFailure, "blob " + state_->id.hex() + " makes room for blobs that stay",
                    "it is fetched again when there is room");
    }
    ASSAY_TRY(state_->file.write_at(index * kChunkBytes, chunk));
    state_->present[index] = true;
    state_->show_chunk(index);
    return {};
}

Outcome<void> PartialBlob::finish() {
    ASSAY_CHECK(!next_missing());
    ASSAY_TRY(state_->file.sync());
    // Read back: what becomes a blob is what is on disk, and a longer file from an earlier lie is refused
    // here.
    ASSAY_ASSIGN(const Leaves stored, hash_chunks(state_->file));
    if (base::merkle_root(stored) != state_->id) {
        {
            const std::lock_guard lock(state_->store.mutex);
            state_->store.shown.erase(state_->id);
        }
        (void)state_->store.partial.remove(state_->name);
        state_->placed = false;
        return fail(ErrorKind::kVerification,
                    "blob " + state_->id.hex() + " changed on disk while it was fetched",
                    "fetch it again; check the disk");
    }
    ASSAY_ASSIGN(const std::uint64_t size, state_->file.size());
    state_->store.release(state_->reserved - size, state_->pin);
    state_->reserved = size;
    ASSAY_TRY(state_->store.adopt(state_->store.partial, state_->name, state_->id, size, state_->pin));
    state_->reserved = 0;
    state_->placed = false;
    return {};
}

}  // namespace assay::node
