// SPDX-License-Identifier: Apache-2.0
#include "node/blob/fetch.hpp"

#include <thread>

#include "node/blob/fetch_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

// Gives what another store has, save that chunk `bad` has one bit flipped.
class Liar final : public BlobService {
public:
    Liar(BlobService& truth, std::uint64_t bad) : truth_(truth), bad_(bad) {}
    FetchOutcome<BlobDescription> describe(const BlobId& id) override { return truth_.describe(id); }
    FetchEnd fetch(const BlobId& id, std::uint64_t first, const ChunkHandler& handler) override {
        return truth_.fetch(id, first, [&](std::uint64_t index, base::ByteView chunk) {
            base::Bytes copy = base::to_bytes(chunk);
            if (index == bad_) copy[100] ^= 1;
            return handler(index, copy);
        });
    }

private:
    BlobService& truth_;
    std::uint64_t bad_;
};

TEST_CASE("a holder that lies in one chunk is named, and the next one goes on from there") {
    const test::TemporaryFolder folder;
    auto source = BlobStore::open({.folder = folder / "source", .free_bytes_min = 0}).value();
    auto target = BlobStore::open({.folder = folder / "target", .free_bytes_min = 0}).value();
    const base::Bytes content(5 * kChunkBytes - 3, 0x42);
    const BlobId id = source->put(content).value();
    const ConnectHolder connect = [&](const Endpoint& at) -> base::Outcome<std::unique_ptr<BlobService>> {
        if (at == "gone") return base::fail(base::ErrorKind::kUnreachable, "gone");
        const std::uint64_t bad = at == "liar" ? 2 : 1000;
        return std::unique_ptr<BlobService>(std::make_unique<Liar>(*source, bad));
    };
    std::vector<HolderReport> reports;
    REQUIRE(fetch_blob(*target, id, {"gone", "liar", "honest"}, connect, {}, &reports).ok());
    REQUIRE(target->read(id).value() == content);
    REQUIRE(reports.size() == 3);
    REQUIRE(reports[0].failure->kind == base::ErrorKind::kUnreachable);
    REQUIRE(reports[1].failure->kind == base::ErrorKind::kVerification);
    REQUIRE(reports[1].chunks == 2);
    REQUIRE(reports[2].chunks == 3);

    auto empty = BlobStore::open({.folder = folder / "empty", .free_bytes_min = 0}).value();
    REQUIRE(fetch_blob(*empty, id, {"liar"}, connect).error().kind == base::ErrorKind::kVerification);
    REQUIRE_FALSE(empty->has(id));
    REQUIRE(fetch_blob(*empty, id, {}, connect).error().kind == base::ErrorKind::kNotFound);
}

// Describes a blob by other chunks whose root is the blob's id, and gives the one of them that it has.
class FalseDescriber final : public BlobService {
public:
    FalseDescriber(BlobService& truth, BlobDescription description, std::uint64_t chunk)
        : truth_(truth), description_(std::move(description)), chunk_(chunk) {}
    FetchOutcome<BlobDescription> describe(const BlobId&) override { return description_; }
    FetchEnd fetch(const BlobId& id, std::uint64_t, const ChunkHandler& handler) override {
        const std::uint64_t as = description_.leaves.size() - 1;
        return truth_.fetch(id, chunk_, [&](std::uint64_t, base::ByteView chunk) {
            static_cast<void>(handler(as, chunk));
            return false;
        });
    }

private:
    BlobService& truth_;
    BlobDescription description_;
    std::uint64_t chunk_;
};

TEST_CASE("a false description makes nobody else's chunks look false, whoever is asked first") {
    const test::TemporaryFolder folder;
    auto source = BlobStore::open({.folder = folder / "source", .free_bytes_min = 0}).value();
    auto target = BlobStore::open({.folder = folder / "target", .free_bytes_min = 0}).value();
    base::Bytes content(3 * kChunkBytes - 7);
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::uint8_t>(i / 4099);
    const BlobId id = source->put(content).value();
    const auto leaves = source->describe(id).value().leaves;
    // An inner node as a chunk's hash: of the whole blob, and of its first two chunks.
    const BlobDescription one{1, {id}, {}};
    const BlobDescription two{2 * kChunkBytes - 7, {base::merkle_node(leaves[0], leaves[1]), leaves[2]}, {}};
    REQUIRE(base::merkle_root(two.leaves) == id);
    const ConnectHolder connect = [&](const Endpoint& at) -> base::Outcome<std::unique_ptr<BlobService>> {
        if (at == "one")
            return std::unique_ptr<BlobService>(std::make_unique<FalseDescriber>(*source, one, 0));
        if (at == "two")
            return std::unique_ptr<BlobService>(std::make_unique<FalseDescriber>(*source, two, 2));
        return std::unique_ptr<BlobService>(std::make_unique<Liar>(*source, at == "part" ? 1 : 1000));
    };
    const std::vector<Endpoint> holders =
        GENERATE(std::vector<Endpoint>{"one", "honest"}, std::vector<Endpoint>{"two", "honest"},
                 std::vector<Endpoint>{"part", "one", "honest"},
                 std::vector<Endpoint>{"two", "part", "one", "honest"});
    std::vector<HolderReport> reports;
    REQUIRE(fetch_blob(*target, id, holders, connect, {}, &reports, {.most = content.size()}).ok());
    CHECK(target->read(id).value() == content);
    REQUIRE(reports.size() == holders.size());
    for (std::size_t i = 0; i + 1 < reports.size(); ++i) CHECK(reports[i].failure);
}

TEST_CASE("a failure of our own store is told from a blob that nobody served") {
    const test::TemporaryFolder folder;
    auto source = BlobStore::open({.folder = folder / "source", .free_bytes_min = 0}).value();
    const base::Bytes content(2 * kChunkBytes, 0x42);
    const BlobId id = source->put(content).value();
    const ConnectHolder connect = [&](const Endpoint& at) -> base::Outcome<std::unique_ptr<BlobService>> {
        if (at == "gone") return base::fail(base::ErrorKind::kUnreachable, "gone");
        return std::unique_ptr<BlobService>(std::make_unique<Liar>(*source, at == "liar" ? 1 : 1000));
    };
    const auto fault = [&](BlobStore& store, const std::vector<Endpoint>& holders,
                           const FetchTerms& terms = {}) {
        std::vector<HolderReport> reports;
        const auto ended = fetch_blob(store, id, holders, connect, {}, &reports, terms);
        REQUIRE_FALSE(ended.ok());
        // What our own store refuses, no other holder mends.
        if (ended.error().fault == FetchFault::kOwnStore) CHECK(reports.back().holder == "honest");
        return ended.error().fault;
    };
    auto roomy = BlobStore::open({.folder = folder / "roomy", .free_bytes_min = 0}).value();
    CHECK(fault(*roomy, {}) == FetchFault::kNotServed);
    CHECK(fault(*roomy, {"gone"}) == FetchFault::kNotServed);
    CHECK(fault(*roomy, {"liar"}) == FetchFault::kNotServed);
    CHECK(fault(*roomy, {"honest"}, {.size = 5, .pin = Pin::kPinned}) == FetchFault::kNotServed);
    auto small = BlobStore::open(
        {.folder = folder / "small", .quota_bytes = 2 * kChunkBytes - 1, .free_bytes_min = 0});
    CHECK(fault(*small.value(), {"gone", "honest", "liar"}) == FetchFault::kOwnStore);
    auto full_disk = BlobStore::open({.folder = folder / "disk", .free_bytes_min = 1ULL << 62});
    CHECK(fault(*full_disk.value(), {"honest", "gone"}) == FetchFault::kOwnStore);
    auto limited =
        BlobStore::open({.folder = folder / "limited", .free_bytes_min = 0, .blob_bytes_max = kChunkBytes});
    CHECK(fault(*limited.value(), {"honest"}) == FetchFault::kOwnStore);
}

/// A store with a blob of two chunks, its holder, and an empty store.
struct OneHolder {
    test::TemporaryFolder folder;
    std::unique_ptr<BlobStore> source =
        BlobStore::open({.folder = folder / "source", .free_bytes_min = 0}).value();
    std::unique_ptr<BlobStore> target =
        BlobStore::open({.folder = folder / "target", .free_bytes_min = 0}).value();
    base::Bytes content = base::Bytes(2 * kChunkBytes, 0x42);
    BlobId id = source->put(content).value();
    ConnectHolder connect = [this](const Endpoint&) -> base::Outcome<std::unique_ptr<BlobService>> {
        return std::unique_ptr<BlobService>(std::make_unique<Liar>(*source, 1000));
    };
};

TEST_CASE("of a blob that is described with another size than it is wanted for nothing is taken") {
    const OneHolder at;
    const auto& [folder, source, target, content, id, connect] = at;
    std::vector<HolderReport> reports;
    const auto refused = fetch_blob(*target, id, {"holder"}, connect, {}, &reports,
                                    {.size = content.size() + 1, .pin = Pin::kEvictable});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kVerification);
    CHECK(refused.error().what.find("is said to have 2097152 bytes") != std::string::npos);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].chunks == 0);
    CHECK(target->bytes_used() == 0);
    REQUIRE(fetch_blob(*target, id, {"holder"}, connect, {}, nullptr,
                       {.size = content.size(), .pin = Pin::kEvictable})
                .ok());
    CHECK(target->is_evictable(id));
}

TEST_CASE("what is above the limit of what it is wanted for is refused before it is fetched, or read") {
    const OneHolder at;
    const auto& [folder, source, target, content, id, connect] = at;
    FetchTerms terms;
    terms.most = content.size() - 1;
    std::vector<HolderReport> reports;
    const auto refused = fetch_blob(*target, id, {"holder"}, connect, {}, &reports, terms);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kVerification);
    CHECK(refused.error().what.find("at most 2097151") != std::string::npos);
    CHECK(reports.at(0).chunks == 0);
    CHECK(target->bytes_used() == 0);
    // A store that has it for other reasons fetches nothing: there the limit is that of reading.
    REQUIRE(target->put(content).ok());
    CHECK(fetch_blob(*target, id, {"holder"}, connect, {}, nullptr, terms).ok());
    const auto unread = target->read(id, *terms.most);
    REQUIRE_FALSE(unread.ok());
    CHECK(unread.error().kind == base::ErrorKind::kVerification);
    CHECK(unread.error().what.find("at most 2097151") != std::string::npos);
    CHECK(target->read(id, content.size()).value() == content);
}

TEST_CASE("a blob that came from elsewhere and went again ends a fetch with an error") {
    const test::TemporaryFolder folder;
    auto source = BlobStore::open({.folder = folder / "source", .free_bytes_min = 0}).value();
    auto target = BlobStore::open({.folder = folder / "target", .free_bytes_min = 0}).value();
    const base::Bytes content(2 * kChunkBytes, 0x42);
    const BlobId id = source->put(content).value();
    const auto download = target->begin(id, source->describe(id).value()).value();
    REQUIRE(download->add(0, source->read_chunk(id, 0).value()).ok());
    REQUIRE(target->put(content).ok());
    CHECK(end_download(*target, id, *download).ok());
    REQUIRE(target->remove(id).ok());
    const FetchEnd gone = end_download(*target, id, *download);
    REQUIRE_FALSE(gone.ok());
    CHECK(gone.error().kind == base::ErrorKind::kUnreachable);
    CHECK(gone.error().fault == FetchFault::kNotServed);  // the next holder is asked, and goes on from here
    REQUIRE(download->add(1, source->read_chunk(id, 1).value()).ok());
    CHECK(end_download(*target, id, *download).ok());
    CHECK(target->read(id).value() == content);
}

// Gives each chunk after a while, and answers that it is full while the test says so.
class Slow final : public BlobService {
public:
    Slow(BlobService& truth, std::chrono::milliseconds pause, bool full = false)
        : truth_(truth), pause_(pause), full_(full) {}
    FetchOutcome<BlobDescription> describe(const BlobId& id) override {
        if (full_) {
            return base::failed(FetchFailure({base::ErrorKind::kUnreachable, "full", {}}, FetchFault::kBusy));
        }
        return truth_.describe(id);
    }
    FetchEnd fetch(const BlobId& id, std::uint64_t first, const ChunkHandler& handler) override {
        return truth_.fetch(id, first, [&](std::uint64_t index, base::ByteView chunk) {
            std::this_thread::sleep_for(pause_);
            return handler(index, chunk);
        });
    }

private:
    BlobService& truth_;
    std::chrono::milliseconds pause_;
    bool full_;
};

TEST_CASE("a slow holder is left for the next one, which goes on from there; the last is left at no pace") {
    using std::chrono::milliseconds;
    const test::TemporaryFolder folder;
    auto source = BlobStore::open({.folder = folder / "source", .free_bytes_min = 0}).value();
    auto target = BlobStore::open({.folder = folder / "target", .free_bytes_min = 0}).value();
    auto other = BlobStore::open({.folder = folder / "other", .free_bytes_min = 0}).value();
    const base::Bytes content(4 * kChunkBytes, 0x42);
    const BlobId id = source->put(content).value();
    const ConnectHolder connect = [&](const Endpoint& at) -> base::Outcome<std::unique_ptr<BlobService>> {
        const milliseconds pause(at == "slow" ? 60 : 0);
        return std::unique_ptr<BlobService>(std::make_unique<Slow>(*source, pause));
    };
    FetchTerms terms;
    terms.patience = milliseconds(80);
    terms.pace = milliseconds(10);
    std::vector<HolderReport> reports;
    REQUIRE(fetch_blob(*target, id, {"slow", "quick"}, connect, {}, &reports, terms).ok());
    REQUIRE(reports.size() == 2);
    CHECK(reports[0].chunks >= 1);  // two, unless the machine is slow too
    CHECK(reports[0].chunks < 4);
    CHECK(reports[0].failure.has_value());
    CHECK(reports[0].chunks + reports[1].chunks == 4);
    reports.clear();
    REQUIRE(fetch_blob(*other, id, {"slow"}, connect, {}, &reports, terms).ok());
    CHECK(reports[0].chunks == 4);
}

TEST_CASE("a holder that is full is told from one that does not serve, and the next one is asked") {
    const test::TemporaryFolder folder;
    auto source = BlobStore::open({.folder = folder / "source", .free_bytes_min = 0}).value();
    auto target = BlobStore::open({.folder = folder / "target", .free_bytes_min = 0}).value();
    const BlobId id = source->put(base::Bytes(kChunkBytes, 0x42)).value();
    const ConnectHolder connect = [&](const Endpoint& at) -> base::Outcome<std::unique_ptr<BlobService>> {
        if (at == "gone") return base::fail(base::ErrorKind::kUnreachable, "gone");
        return std::unique_ptr<BlobService>(
            std::make_unique<Slow>(*source, std::chrono::milliseconds(0), at == "full"));
    };
    CHECK(fetch_blob(*target, id, {"gone", "full"}, connect).error().fault == FetchFault::kBusy);
    CHECK(fetch_blob(*target, id, {"full", "gone"}, connect).error().fault == FetchFault::kBusy);
    CHECK(fetch_blob(*target, id, {"full", "honest"}, connect).ok());
}

}  // namespace
}  // namespace assay::node
