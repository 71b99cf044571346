// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "contracts/base/blob_id.hpp"
#include "node/blob/blob_store.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

base::Bytes pattern(std::size_t size) {
    base::Bytes bytes(size);
    std::uint32_t x = 1;
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>((x = x * 1664525U + 1013904223U) >> 24);
    return bytes;
}

std::unique_ptr<BlobStore> open_in(const test::TemporaryFolder& folder, std::uint64_t quota = 1ULL << 30) {
    auto store = BlobStore::open({.folder = folder / "blobs", .quota_bytes = quota, .free_bytes_min = 0});
    REQUIRE(store.ok());
    return *std::move(store);
}

TEST_CASE("a blob is found again by its content, by this and by the next process") {
    const test::TemporaryFolder folder;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, kChunkBytes, kChunkBytes + 1, 3 * kChunkBytes + 5}) {
        const base::Bytes content = pattern(size);
        BlobId id;
        {
            auto store = open_in(folder);
            id = store->put(content).value();
            REQUIRE(id == base::blob_id(content));
            REQUIRE(store->put(content).value() == id);
        }
        auto store = open_in(folder);
        REQUIRE(store->has(id));
        REQUIRE(store->read(id).value() == content);
        REQUIRE(store->describe(id)->leaves.size() == (size + kChunkBytes - 1) / kChunkBytes);
    }
}

TEST_CASE("a byte flipped on disk is refused, whole and by chunk") {
    const test::TemporaryFolder folder;
    auto store = open_in(folder);
    const BlobId id = store->put(pattern(2 * kChunkBytes)).value();
    {
        std::fstream file(store->path(id).value(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(kChunkBytes + 7));
        file.put('\x5a');
    }
    REQUIRE(store->read(id).error().kind == base::ErrorKind::kVerification);
    REQUIRE(store->read_chunk(id, 1).error().kind == base::ErrorKind::kVerification);
    REQUIRE(store->copy_to(id, folder / "copy").error().kind == base::ErrorKind::kVerification);
    REQUIRE_FALSE(std::filesystem::exists(folder / "copy"));
}

TEST_CASE("a blob whose place is taken by a symbolic link is not read through it") {
    const test::TemporaryFolder folder;
    auto store = open_in(folder);
    const base::Bytes content = pattern(100);
    const BlobId id = store->put(content).value();
    const auto path = store->path(id).value();
    std::filesystem::rename(path, folder / "elsewhere");
    std::filesystem::create_symlink(folder / "elsewhere", path);
    REQUIRE_FALSE(store->read(id).ok());
}

TEST_CASE("names that are not blob ids are not taken for blobs") {
    const test::TemporaryFolder folder;
    open_in(folder);
    const auto place = folder / "blobs";
    std::filesystem::create_directories(place / "ab");
    for (const char* name :
         {"..x", "CDEF", "short", "0000000000000000000000000000000000000000000000000000000000000Z"}) {
        std::ofstream(place / "ab" / name) << "x";
    }
    REQUIRE(open_in(folder)->list().empty());
}

TEST_CASE("the quota refuses what does not fit, and drops evictable blobs first") {
    const test::TemporaryFolder folder;
    auto store = open_in(folder, 1000);
    const BlobId first = store->put(pattern(600)).value();
    REQUIRE(store->put(pattern(601)).error().kind == base::ErrorKind::kFailure);
    REQUIRE(store->has(first));
    REQUIRE(store->set_pin(first, Pin::kEvictable).ok());
    const BlobId second = store->put(pattern(601)).value();
    REQUIRE_FALSE(store->has(first));
    REQUIRE(store->has(second));
    REQUIRE(store->bytes_used() == 601);
}

TEST_CASE(
    "what is fetched as evictable takes nobody's place, is dropped for what is pinned, and can be kept") {
    const test::TemporaryFolder folder;
    const test::TemporaryFolder other;
    auto source = open_in(other);
    const auto offer = [&](std::size_t chunks, std::uint8_t byte) {
        const base::Bytes content(chunks * kChunkBytes, byte);
        return source->put(content).value();
    };
    const auto fetch = [&](BlobStore& store, const BlobId& id, Pin pin) -> base::Outcome<void> {
        const BlobDescription description = source->describe(id).value();
        ASSAY_ASSIGN(const auto partial, store.begin(id, description, pin));
        while (const auto wanted = partial->next_missing()) {
            ASSAY_TRY(partial->add(*wanted, source->read_chunk(id, *wanted).value()));
        }
        return partial->finish();
    };
    const BlobId first = offer(2, 1);
    const BlobId second = offer(2, 2);
    const BlobId third = offer(1, 3);
    {
        auto store = open_in(folder, 4 * kChunkBytes);
        REQUIRE(fetch(*store, first, Pin::kEvictable).ok());
        REQUIRE(fetch(*store, second, Pin::kEvictable).ok());
        CHECK(store->is_evictable(first));
        CHECK(fetch(*store, third, Pin::kEvictable).error().kind == base::ErrorKind::kFailure);
        CHECK(store->has(first));
        CHECK(store->has(second));
        // Kept from now on: by its pin, or because it is stored again.
        REQUIRE(store->set_pin(first, Pin::kPinned).ok());
    }
    auto store = open_in(folder, 4 * kChunkBytes);
    CHECK_FALSE(store->is_evictable(first));
    CHECK(store->is_evictable(second));
    REQUIRE(fetch(*store, third, Pin::kPinned).ok());
    CHECK(store->has(first));
    CHECK_FALSE(store->has(second));
    CHECK(store->bytes_used() == 3 * kChunkBytes);
    REQUIRE(store->set_pin(third, Pin::kEvictable).ok());
    REQUIRE(store->put(base::Bytes(kChunkBytes, 3)).value() == third);
    CHECK_FALSE(store->is_evictable(third));
}

TEST_CASE("a blob can be fetched to stay while it is fetched to be dropped, and stays") {
    const test::TemporaryFolder folder;
    const test::TemporaryFolder other;
    auto source = open_in(other);
    const BlobId id = source->put(pattern(kChunkBytes)).value();
    const base::Bytes chunk = source->read_chunk(id, 0).value();
    {
        auto store = open_in(folder);
        auto slow = store->begin(id, source->describe(id).value(), Pin::kEvictable).value();
        auto quick = store->begin(id, source->describe(id).value(), Pin::kPinned).value();
        for (PartialBlob* each : {quick.get(), slow.get()}) {
            REQUIRE(each->add(0, chunk).ok());
            REQUIRE(each->finish().ok());
        }
        CHECK_FALSE(store->is_evictable(id));
        CHECK(store->bytes_used() == kChunkBytes);
    }
    auto store = open_in(folder);
    CHECK_FALSE(store->is_evictable(id));
    CHECK(store->read(id).value() == chunk);
}

TEST_CASE(
    "a slow download of a blob that stays holds up no other of it, and leaves nothing when it is late") {
    const test::TemporaryFolder folder;
    const test::TemporaryFolder other;
    auto source = open_in(other);
    const BlobId id = source->put(pattern(2 * kChunkBytes)).value();
    const BlobDescription description = source->describe(id).value();
    auto store = open_in(folder);
    const auto files = [&] {
        return std::distance(std::filesystem::directory_iterator(folder / "blobs" / "partial"),
                             std::filesystem::directory_iterator());
    };
    std::vector<std::unique_ptr<PartialBlob>> open;
    for (int i = 0; i < 8; ++i) open.push_back(store->begin(id, description, Pin::kPinned).value());
    CHECK_FALSE(store->begin(id, description, Pin::kPinned).ok());
    CHECK(files() == 8);
    REQUIRE(open.front()->add(0, source->read_chunk(id, 0).value()).ok());
    for (std::uint64_t index = 0; index < 2; ++index) {
        REQUIRE(open.back()->add(index, source->read_chunk(id, index).value()).ok());
    }
    SECTION("one that came whole") {
        REQUIRE(open.back()->finish().ok());
        open.clear();
        CHECK(store->read(id).ok());
        CHECK(files() == 0);
        CHECK(store->bytes_used() == 2 * kChunkBytes);
    }
    SECTION("none: the first alone is gone on from") {
        open.clear();
        CHECK(files() == 1);
        CHECK(store->begin(id, description, Pin::kPinned).value()->next_missing() == 1);
    }
}

TEST_CASE("removing a blob removes what an unfinished download left of it") {
    const test::TemporaryFolder folder;
    const test::TemporaryFolder other;
    auto source = open_in(other);
    const BlobId id = source->put(pattern(2 * kChunkBytes)).value();
    auto store = open_in(folder);
    const auto left = folder / "blobs/partial" / (id.hex() + ".evictable");
    {
        auto partial = store->begin(id, source->describe(id).value(), Pin::kEvictable).value();
        REQUIRE(partial->add(0, source->read_chunk(id, 0).value()).ok());
        CHECK_FALSE(store->remove(id).ok());
        CHECK(std::filesystem::exists(left));  // still open
    }
    CHECK(std::filesystem::exists(left));
    CHECK(store->remove(id).error().kind == base::ErrorKind::kNotFound);
    CHECK_FALSE(std::filesystem::exists(left));
}

TEST_CASE("unfinished evictable downloads, open or left behind, make room for what stays") {
    const test::TemporaryFolder folder;
    const test::TemporaryFolder other;
    auto source = open_in(other);
    const BlobId slow = source->put(pattern(3 * kChunkBytes)).value();
    const BlobId late = source->put(base::Bytes(2 * kChunkBytes, 2)).value();
    const base::Bytes work(3 * kChunkBytes, 1);
    auto store = open_in(folder, 4 * kChunkBytes);
    const auto begin = [&](const BlobId& id) {
        return store->begin(id, source->describe(id).value(), Pin::kEvictable);
    };
    const auto chunk = [&](const BlobId& id, std::uint64_t index) {
        return source->read_chunk(id, index).value();
    };
    const auto left = folder / "blobs/partial" / (slow.hex() + ".evictable");

    SECTION("left behind") {
        {
            auto partial = begin(slow).value();
            REQUIRE(partial->add(0, chunk(slow, 0)).ok());
            REQUIRE(partial->add(1, chunk(slow, 1)).ok());
        }
        REQUIRE(std::filesystem::exists(left));
        // Other evictable blobs respect what is there, the same one goes on from it.
        CHECK(store->put(base::Bytes(kChunkBytes, 3)).ok());
        CHECK(begin(late).error().what.find("is full") != std::string::npos);
        CHECK(begin(slow).value()->next_missing().value() == 2);
        REQUIRE(store->put(work).ok());
        CHECK_FALSE(std::filesystem::exists(left));
        CHECK(store->bytes_used() == 4 * kChunkBytes);
    }
    SECTION("open") {
        auto partial = begin(slow).value();
        REQUIRE(partial->add(0, chunk(slow, 0)).ok());
        CHECK_FALSE(begin(late).ok());
        REQUIRE(store->put(work).ok());
        CHECK(partial->add(1, chunk(slow, 1)).error().what.find("makes room") != std::string::npos);
        partial.reset();
        CHECK_FALSE(std::filesystem::exists(left));
        CHECK(store->bytes_used() == 3 * kChunkBytes);
        CHECK_FALSE(begin(late).ok());
    }
    SECTION("complete, and not yet a blob") {
        auto partial = begin(slow).value();
        for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(partial->add(i, chunk(slow, i)).ok());
        REQUIRE(store->put(work).ok());
        CHECK(partial->finish().error().kind == base::ErrorKind::kFailure);
        partial.reset();
        CHECK_FALSE(store->has(slow));
        CHECK_FALSE(std::filesystem::exists(left));
        CHECK(store->bytes_used() == 3 * kChunkBytes);
    }
    // Nothing is counted twice or for ever: the fourth chunk is free, or taken as it should be.
    REQUIRE(store->set_pin(base::blob_id(work), Pin::kEvictable).ok());
    REQUIRE(store->remove(base::blob_id(work)).ok());
    const std::uint64_t rest = store->bytes_used();
    auto partial = begin(late).value();
    REQUIRE(partial->add(0, chunk(late, 0)).ok());
    REQUIRE(partial->add(1, chunk(late, 1)).ok());
    REQUIRE(partial->finish().ok());
    CHECK(store->is_evictable(late));
    CHECK(store->bytes_used() == rest + 2 * kChunkBytes);
}

TEST_CASE("the next process takes up unfinished downloads of what stays, and throws the others away") {
    const test::TemporaryFolder folder;
    const test::TemporaryFolder other;
    auto source = open_in(other);
    const BlobId id = source->put(pattern(2 * kChunkBytes)).value();
    const BlobDescription description = source->describe(id).value();
    {
        auto store = open_in(folder);
        for (const Pin pin : {Pin::kPinned, Pin::kEvictable}) {
            auto partial = store->begin(id, description, pin).value();
            REQUIRE(partial->add(0, source->read_chunk(id, 0).value()).ok());
        }
    }
    const auto file = folder / "blobs/partial" / id.hex();
    REQUIRE(std::filesystem::exists(file.string() + ".evictable"));
    auto store = open_in(folder);
    CHECK(std::filesystem::exists(file));
    CHECK_FALSE(std::filesystem::exists(file.string() + ".evictable"));
    CHECK(store->begin(id, description).value()->next_missing().value() == 1);
    CHECK(store->begin(id, description, Pin::kEvictable).value()->next_missing().value() == 0);
}

TEST_CASE("a blob that is stored while it is removed is whole or gone") {
    const test::TemporaryFolder folder;
    auto store = open_in(folder);
    const base::Bytes content = pattern(10);
    const BlobId id = base::blob_id(content);
    for (int round = 0; round < 40; ++round) {
        std::atomic<int> writing = 3;
        std::vector<std::thread> threads;
        for (int writer = 0; writer < 3; ++writer) {
            threads.emplace_back([&] {
                (void)store->put(content);
                --writing;
            });
        }
        while (writing > 0) (void)store->remove(id);
        for (std::thread& thread : threads) thread.join();
        if (store->has(id)) REQUIRE(store->read(id).value() == content);
        REQUIRE(store->bytes_used() == (store->has(id) ? content.size() : 0));
        (void)store->remove(id);
    }
}

TEST_CASE("below the free-disk watermark nothing is added") {
    const test::TemporaryFolder folder;
    auto store = BlobStore::open({.folder = folder / "blobs", .free_bytes_min = 1ULL << 62}).value();
    const auto refused = store->put(pattern(10));
    REQUIRE(refused.error().what.find("nearly full") != std::string::npos);
    REQUIRE(store->bytes_used() == 0);
}

TEST_CASE("a download resumes after a restart and re-checks what it had") {
    const test::TemporaryFolder folder;
    const base::Bytes content = pattern(3 * kChunkBytes - 9);
    const base::ByteView view = content;
    const BlobId id = base::blob_id(content);
    const test::TemporaryFolder other;
    const BlobDescription description = [&] {
        auto source = open_in(other);
        return source->describe(source->put(content).value()).value();
    }();
    {
        auto store = open_in(folder);
        auto partial = store->begin(id, description).value();
        REQUIRE(partial->add(0, view.first(kChunkBytes)).ok());
        REQUIRE(partial->add(1, view.subspan(kChunkBytes, kChunkBytes)).ok());
        REQUIRE(partial->add(2, view.subspan(0, 10)).error().kind == base::ErrorKind::kVerification);
    }
    {
        std::fstream file(folder / "blobs" / "partial" / id.hex(),
                          std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(5);
        file.put('\x11');
    }
    auto store = open_in(folder);
    auto partial = store->begin(id, description).value();
    REQUIRE(partial->next_missing().value() == 0);  // damaged in between
    REQUIRE(partial->add(0, view.first(kChunkBytes)).ok());
    REQUIRE(partial->next_missing().value() == 2);  // chunk 1 was kept
    REQUIRE(partial->add(2, view.subspan(2 * kChunkBytes)).ok());
    REQUIRE(partial->finish().ok());
    partial.reset();
    REQUIRE(store->read(id).value() == content);
    REQUIRE(store->bytes_used() == content.size());
}

TEST_CASE("all but what is named loses its pin, and unfinished downloads of others are gone") {
    const test::TemporaryFolder folder;
    const base::Bytes content = pattern(2 * kChunkBytes);
    const BlobId unfinished = base::blob_id(content);
    const base::Bytes kept_content = pattern(3 * kChunkBytes);
    const BlobId kept_unfinished = base::blob_id(kept_content);
    const auto begin = [](BlobStore& store, const base::Bytes& bytes) {
        BlobDescription description{bytes.size(), {}};
        const base::ByteView view = bytes;
        for (std::size_t at = 0; at < bytes.size(); at += kChunkBytes)
            description.leaves.push_back(base::blob_chunk_hash(
                view.subspan(at, std::min<std::size_t>(kChunkBytes, view.size() - at))));
        auto partial = store.begin(base::blob_id(bytes), description).value();
        REQUIRE(partial->add(0, view.first(kChunkBytes)).ok());
        return partial;
    };
    auto store = open_in(folder);
    const BlobId kept = store->put(pattern(10)).value();
    const BlobId settled = store->put(pattern(20)).value();
    CHECK(store->bytes_pinned() == 30);
    begin(*store, content).reset();
    REQUIRE(std::filesystem::exists(folder / "blobs" / "partial" / unfinished.hex()));
    auto open_one = begin(*store, kept_content);
    REQUIRE(store->pin_only({kept}).ok());
    CHECK(store->bytes_pinned() == 10 + 3 * kChunkBytes);  // what is open goes on
    CHECK_FALSE(std::filesystem::exists(folder / "blobs" / "partial" / unfinished.hex()));
    CHECK_FALSE(store->is_evictable(kept));
    CHECK(store->is_evictable(settled));
    CHECK(store->read(settled).ok());  // served until its room is needed
    open_one.reset();
    REQUIRE(store->pin_only({kept, kept_unfinished}).ok());
    CHECK(store->bytes_pinned() == 10);
    // The next process finds the same.
    store.reset();
    store = open_in(folder);
    CHECK(store->is_evictable(settled));
    const base::ByteView view = kept_content;
    BlobDescription description{kept_content.size(), {}};
    for (std::size_t at = 0; at < kept_content.size(); at += kChunkBytes)
        description.leaves.push_back(
            base::blob_chunk_hash(view.subspan(at, std::min<std::size_t>(kChunkBytes, view.size() - at))));
    CHECK(*store->begin(kept_unfinished, description).value()->next_missing() == 1);
}

TEST_CASE("a store whose names are of another law is refused as such and left as it is") {
    const test::TemporaryFolder folder;
    const auto format = folder / "blobs" / "format";
    const BlobId id = open_in(folder)->put(pattern(10)).value();
    const auto text = [&format] {
        std::ifstream file(format);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    CHECK(text() == "assay.blobs/v2\n");
    CHECK(open_in(folder)->has(id));
    const auto refused = [&] {
        const auto store = BlobStore::open({.folder = folder / "blobs"});
        REQUIRE_FALSE(store.ok());
        CHECK(store.error().kind == base::ErrorKind::kUsage);
        CHECK(store.error().what.find("not damaged") != std::string::npos);
        CHECK(std::filesystem::exists(folder / "blobs" / id.hex().substr(0, 2) / id.hex().substr(2)));
    };
    for (const std::string other : {"assay.blobs/v3\n", "assay.blobs/v2", "assay.blobs/v2\n\n", ""}) {
        INFO(other);
        std::ofstream(format) << other;
        refused();
        CHECK(text() == other);
    }
    std::filesystem::remove(format);  // as stores of the first version have none
    refused();
    CHECK_FALSE(std::filesystem::exists(format));
}

TEST_CASE("a store says how full it is of what has to stay") {
    const test::TemporaryFolder folder;
    auto store = open_in(folder, 1000);
    CHECK(store->percent_full() == 0);
    CHECK(store->bytes_for_pins() == 1000);
    const BlobId first = store->put(pattern(790)).value();
    CHECK(store->bytes_for_pins() == 1000);
    CHECK(store->percent_full() == 79);
    REQUIRE(store->put(pattern(10)).ok());
    CHECK(store->percent_full() == 80);
    REQUIRE(store->set_pin(first, Pin::kEvictable).ok());
    CHECK(store->percent_full() == 1);
    auto disk = BlobStore::open({.folder = folder / "disk", .free_bytes_min = 1ULL << 62}).value();
    CHECK(disk->percent_full() == 100);  // nothing more can stay
    CHECK(disk->bytes_for_pins() == 0);
}

TEST_CASE("a blob that the disk has changed is not taken for whole") {
    const test::TemporaryFolder folder;
    auto store = open_in(folder);
    const BlobId id = store->put(pattern(5000)).value();
    CHECK(store->verify(id).ok());
    CHECK_FALSE(store->verify(base::blob_id(pattern(1))).ok());
    {
        std::fstream file(store->path(id).value(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(17);
        file.put('\x11');
    }
    CHECK(store->verify(id).error().kind == base::ErrorKind::kVerification);
}

TEST_CASE("a description of other content is refused") {
    const test::TemporaryFolder folder;
    auto store = open_in(folder);
    BlobDescription lie{kChunkBytes, {base::Hash256{}}};
    REQUIRE(store->begin(base::blob_id(pattern(5)), lie).error().kind == base::ErrorKind::kVerification);
}

}  // namespace
}  // namespace assay::node
