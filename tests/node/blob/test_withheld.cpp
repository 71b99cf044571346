// SPDX-License-Identifier: Apache-2.0
// What a store withholds: bytes that are there, and that peers are not given.
#include "contracts/base/blob_id.hpp"
#include "node/blob/blob_store.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

std::unique_ptr<BlobStore> withholding_store(const test::TemporaryFolder& folder) {
    auto store =
        BlobStore::open({.folder = folder / "blobs", .quota_bytes = 1ULL << 30, .free_bytes_min = 0});
    REQUIRE(store.ok());
    return *std::move(store);
}

TEST_CASE("a withheld blob is given to no peer, by this or the next process, until it is served") {
    const test::TemporaryFolder folder;
    const base::Bytes content = base::Bytes(kChunkBytes + 1, std::uint8_t{7});
    const BlobId id = base::blob_id(content);
    const auto is_given = [&](BlobStore& store) {
        std::size_t chunks = 0;
        const auto count = [&](std::uint64_t, base::ByteView) { return ++chunks > 0; };
        const bool described = store.describe(id).ok();
        const auto end = store.fetch(id, 0, count);
        if (!described) CHECK(end.error().kind == base::ErrorKind::kNotFound);
        CHECK((chunks == 2) == described);
        return described;
    };
    {
        auto store = withholding_store(folder);
        REQUIRE(store->put(content, Serving::kWithheld).value() == id);
        CHECK_FALSE(is_given(*store));
        CHECK(store->read(id).value() == content);  // it is ours
        REQUIRE(store->put(content, Serving::kWithheld).ok());
        CHECK_FALSE(is_given(*store));
    }
    auto store = withholding_store(folder);
    CHECK_FALSE(is_given(*store));
    REQUIRE(store->serve(id).ok());
    CHECK(is_given(*store));
    // What was served once stays so.
    REQUIRE(store->put(content, Serving::kWithheld).ok());
    CHECK(is_given(*store));
    CHECK(is_given(*withholding_store(folder)));
    // A new blob of the same content begins anew.
    REQUIRE(store->remove(id).ok());
    CHECK(store->serve(id).error().kind == base::ErrorKind::kNotFound);
    REQUIRE(store->put(content, Serving::kWithheld).ok());
    CHECK_FALSE(is_given(*store));
    REQUIRE(store->put(content).ok());
    CHECK(is_given(*store));
}

}  // namespace
}  // namespace assay::node
