// SPDX-License-Identifier: Apache-2.0
// Stores that are opened beside the one that a role has of the same folder, as commands open them.
#include <filesystem>
#include <fstream>
#include <set>

#include "contracts/base/blob_id.hpp"
#include "node/blob/blob_store.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

/// A folder with the stores of a role and of commands, and a holder of other blobs.
class SharedStore {
public:
    [[nodiscard]] std::unique_ptr<BlobStore> open(StoreUse use, std::uint64_t quota = 1ULL << 30) const {
        return BlobStore::open({.folder = blobs(), .quota_bytes = quota, .free_bytes_min = 0, .use = use})
            .value();
    }
    [[nodiscard]] std::filesystem::path blobs() const { return folder_ / "blobs"; }
    [[nodiscard]] bool has_file(const std::string& name) const {
        return std::filesystem::exists(blobs() / name);
    }
    [[nodiscard]] std::set<std::string> files() const {
        std::set<std::string> found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(blobs())) {
            if (entry.is_regular_file()) found.insert(entry.path().lexically_relative(blobs()).string());
        }
        return found;
    }
    [[nodiscard]] BlobId offer(std::size_t chunks, std::uint8_t byte) const {
        return holder_->put(base::Bytes(chunks * kChunkBytes, byte)).value();
    }
    [[nodiscard]] std::unique_ptr<PartialBlob> begin(BlobStore& store, const BlobId& id,
                                                     Pin pin = Pin::kPinned) const {
        return store.begin(id, holder_->describe(id).value(), pin).value();
    }
    void add(PartialBlob& download, const BlobId& id, std::uint64_t index) const {
        REQUIRE(download.add(index, holder_->read_chunk(id, index).value()).ok());
    }

private:
    test::TemporaryFolder folder_;
    std::unique_ptr<BlobStore> holder_ =
        BlobStore::open({.folder = folder_ / "holder", .free_bytes_min = 0}).value();
};

}  // namespace

TEST_CASE("a store beside the one in use removes nothing of it, and drops nothing for what it adds") {
    const SharedStore shared;
    const BlobId slow = shared.offer(2, 1);
    const BlobId dear = shared.offer(2, 2);
    auto role = shared.open(StoreUse::kOwn);
    const BlobId listed = role->put(base::Bytes(1000, 3)).value();
    REQUIRE(role->set_pin(listed, Pin::kEvictable).ok());
    auto first = shared.begin(*role, slow);
    auto further = shared.begin(*role, slow);
    auto evictable = shared.begin(*role, dear, Pin::kEvictable);
    shared.add(*first, slow, 0);
    shared.add(*evictable, dear, 0);
    shared.begin(*role, shared.offer(3, 4), Pin::kEvictable).reset();  // left behind, to be gone on with
    std::ofstream(shared.blobs() / "new" / "1") << "being written";
    const auto before = shared.files();
    // Also one that was to be the store's own: the role was first.
    for (const StoreUse use : {StoreUse::kBeside, StoreUse::kOwn}) {
        const auto command = shared.open(use, kChunkBytes);
        CHECK(shared.files() == before);
        CHECK(command->read(listed).ok());
        const auto refused = command->put(base::Bytes(kChunkBytes, 5));
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().what.find("is full") != std::string::npos);
        CHECK(refused.error().fix.find("--home") != std::string::npos);
        CHECK(shared.files() == before);
    }
    // What the role had begun it ends.
    shared.add(*first, slow, 1);
    REQUIRE(first->finish().ok());
    shared.add(*evictable, dear, 1);
    REQUIRE(evictable->finish().ok());
    CHECK(role->read(listed).ok());
}

TEST_CASE("a role and a command fetch and store the same blobs at once, and both have them") {
    const SharedStore shared;
    const BlobId id = shared.offer(2, 1);
    auto role = shared.open(StoreUse::kOwn);
    auto command = shared.open(StoreUse::kBeside);
    auto roles = shared.begin(*role, id);
    auto commands = shared.begin(*command, id);
    for (std::uint64_t index = 0; index < 2; ++index) {
        shared.add(*roles, id, index);
        shared.add(*commands, id, index);
    }
    REQUIRE(commands->finish().ok());
    REQUIRE(roles->finish().ok());
    const base::Bytes work(1000, 2);
    REQUIRE(command->put(work).ok());
    REQUIRE(role->put(work).ok());
    for (const BlobStore* store : {role.get(), command.get()}) {
        CHECK(store->read(id).ok());
        CHECK(store->read(base::blob_id(work)).value() == work);
    }
    // Under the name that the role's download had another one begins; who had the name before leaves it.
    const BlobId next = shared.offer(2, 3);
    auto done = shared.begin(*command, next);
    for (std::uint64_t index = 0; index < 2; ++index) shared.add(*done, next, index);
    REQUIRE(done->finish().ok());
    auto begun = shared.begin(*role, next);
    REQUIRE(shared.has_file("partial/" + next.hex()));
    done.reset();
    CHECK(shared.has_file("partial/" + next.hex()));
}

TEST_CASE("what is fetched beside the store stays when a role starts, and is gone on with when it was not") {
    const SharedStore shared;
    const BlobId id = shared.offer(2, 1);
    const std::string file = "partial/" + id.hex();
    {
        auto command = shared.open(StoreUse::kBeside);
        shared.add(*shared.begin(*command, id), id, 0);
    }
    auto command = shared.open(StoreUse::kBeside);
    auto download = shared.begin(*command, id);
    CHECK(download->next_missing().value() == 1);
    auto further = shared.begin(*command, id);
    REQUIRE(shared.has_file(file + ".1"));
    auto role = shared.open(StoreUse::kOwn);
    REQUIRE(role->pin_only({}).ok());
    CHECK(shared.has_file(file));
    CHECK(shared.has_file(file + ".1"));
    auto roles = shared.begin(*role, id);
    CHECK(shared.has_file(file + ".2"));
    shared.add(*download, id, 1);
    REQUIRE(download->finish().ok());
    CHECK(command->read(id).ok());
}

TEST_CASE("the next store's own process removes what killed ones left, once the last has ended") {
    const SharedStore shared;
    auto role = shared.open(StoreUse::kOwn);
    std::ofstream(shared.blobs() / "new" / "1") << "cut sh";
    role.reset();
    CHECK(shared.open(StoreUse::kBeside)->list().empty());
    CHECK(shared.has_file("new/1"));
    role = shared.open(StoreUse::kOwn, 1000);
    CHECK_FALSE(shared.has_file("new/1"));
    const BlobId dropped = role->put(base::Bytes(600, 1)).value();
    REQUIRE(role->set_pin(dropped, Pin::kEvictable).ok());
    REQUIRE(role->put(base::Bytes(600, 2)).ok());
    CHECK_FALSE(role->has(dropped));
}

}  // namespace assay::node
