// SPDX-License-Identifier: Apache-2.0
// Blobs that several store together: each takes its part of the owner and the rest of the others.
#include "node/blob/parts.hpp"

#include <map>
#include <thread>

#include "node/blob/fetch.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;

base::Bytes content_of(std::size_t chunks) {
    base::Bytes content(chunks * kChunkBytes - 5);
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::uint8_t>(i / 4099 + i);
    return content;
}

/// How a party serves, beside honestly.
struct Manner {
    std::optional<std::uint64_t> false_chunk;
    std::optional<ChunkRange> only;          ///< serves these chunks alone
    std::chrono::milliseconds each_chunk{};  ///< takes so long over one
    std::optional<BlobDescription> described;
    bool gone = false;
};

/// "mia" has the blob; the others store it together.
class Together {
public:
    explicit Together(std::vector<std::string> verifiers, std::size_t chunks)
        : verifiers_(std::move(verifiers)), content(content_of(chunks)) {
        open("mia");
        for (const auto& name : verifiers_) open(name);
        id = stores.at("mia")->put(content).value();
    }
    void open(const std::string& name) {
        stores.erase(name);
        stores[name] = BlobStore::open({.folder = folder_ / name, .free_bytes_min = 0}).value();
    }
    /// One attempt at its part and at those of others.
    FetchEnd attempt(const std::string& name, std::vector<HolderReport>* reports = nullptr) {
        std::vector<Endpoint> holders;
        std::uint32_t mine = 0;
        for (std::uint32_t i = 0; i < verifiers_.size(); ++i) {
            if (verifiers_[i] == name) mine = i;
            if (verifiers_[i] != name) holders.push_back(verifiers_[i]);
        }
        holders.emplace_back("mia");
        FetchTerms wanted = terms;
        wanted.share = BlobShare{mine, static_cast<std::uint32_t>(verifiers_.size())};
        return fetch_blob(*stores.at(name), id, holders, connect_, {}, reports, wanted);
    }
    /// One attempt at all that is lacking: of the others, then of the owner.
    FetchEnd attempt_whole(const std::string& name) {
        std::vector<Endpoint> holders = verifiers_;
        std::erase(holders, name);
        holders.emplace_back("mia");
        return fetch_blob(*stores.at(name), id, holders, connect_, {}, nullptr, terms);
    }
    [[nodiscard]] std::filesystem::path folder(const std::string& name) const { return folder_ / name; }
    [[nodiscard]] bool whole(const std::string& name) const { return stores.at(name)->has(id); }

    FetchTerms terms;
    std::map<std::string, std::unique_ptr<BlobStore>> stores;
    std::map<std::string, Manner> manners;
    std::map<std::string, std::uint64_t> given;  ///< chunks

private:
    class Served final : public BlobService {
    public:
        Served(Together& all, std::string name) : all_(all), name_(std::move(name)) {}
        FetchOutcome<BlobDescription> describe(const BlobId& id) override {
            const auto& described = all_.manners[name_].described;
            return described ? FetchOutcome<BlobDescription>(*described) : truth().describe(id);
        }
        FetchEnd fetch(const BlobId& id, std::uint64_t first, const ChunkHandler& handler) override {
            const Manner& manner = all_.manners[name_];
            bool refused = false;
            const auto end = truth().fetch(id, first, [&](std::uint64_t index, base::ByteView chunk) {
                refused = manner.only && (index < manner.only->first || index >= manner.only->end);
                if (refused) return false;
                base::Bytes copy = base::to_bytes(chunk);
                if (index == manner.false_chunk) copy[9] ^= 1;
                std::this_thread::sleep_for(manner.each_chunk);
                ++all_.given[name_];
                return handler(index, copy);
            });
            if (refused) return base::fail(ErrorKind::kNotFound, "not given");
            return end;
        }

    private:
        BlobStore& truth() { return *all_.stores.at(name_); }
        Together& all_;
        std::string name_;
    };

    test::TemporaryFolder folder_;
    std::vector<std::string> verifiers_;
    const ConnectHolder connect_ = [this](const Endpoint& at) -> base::Outcome<std::unique_ptr<BlobService>> {
        if (manners[at].gone) return base::fail(ErrorKind::kUnreachable, "gone");
        return std::unique_ptr<BlobService>(std::make_unique<Served>(*this, at));
    };

public:
    base::Bytes content;
    BlobId id;
};

}  // namespace

TEST_CASE("parts cover a blob without overlap, and none is larger than another by more than a chunk") {
    for (std::uint64_t chunks = 0; chunks < 40; ++chunks) {
        for (std::uint32_t of = 1; of <= 9; ++of) {
            INFO(chunks << " chunks in " << of << " parts");
            std::uint64_t at = 0;
            std::uint64_t least = chunks, most = 0;
            for (std::uint32_t mine = 0; mine < of; ++mine) {
                const ChunkRange part = part_of(chunks, {mine, of});
                REQUIRE(part.first == at);
                REQUIRE(part.end >= part.first);
                at = part.end;
                least = std::min(least, part.size());
                most = std::max(most, part.size());
            }
            REQUIRE(at == chunks);
            REQUIRE(most - least <= 1);
        }
    }
    CHECK(part_of(1, {0, 3}).size() + part_of(1, {1, 3}).size() + part_of(1, {2, 3}).size() == 1);
    const std::uint64_t many = std::uint64_t{1} << 32;
    CHECK(part_of(many, {4'294'967'294U, 4'294'967'295U}).end == many);
}

TEST_CASE("three who store a blob take it once from who owes it") {
    Together all({"vera", "viki", "vito"}, 7);
    for (const std::string name : {"vera", "viki"}) {
        const FetchEnd end = all.attempt(name);
        REQUIRE_FALSE(end.ok());
        CHECK(end.error().fault == FetchFault::kPartsLacking);
        CHECK_FALSE(all.whole(name));
    }
    CHECK(all.attempt("vito").ok());
    CHECK(all.attempt("vera").ok());
    CHECK(all.attempt("viki").ok());
    for (const std::string name : {"vera", "viki", "vito"})
        CHECK(all.stores.at(name)->read(all.id).value() == all.content);
    CHECK(all.given["mia"] == 7);
    CHECK(all.given["vera"] + all.given["viki"] + all.given["vito"] == 14);
}

TEST_CASE("of a blob with fewer chunks than there are parts one takes it, and the others of that one") {
    Together all({"vera", "viki", "vito"}, 1);
    CHECK(all.attempt("vera").error().fault == FetchFault::kPartsLacking);
    CHECK(all.attempt("vito").ok());  // the last part is the one that is not empty
    CHECK(all.attempt("vera").ok());
    CHECK(all.attempt("viki").ok());
    CHECK(all.given["mia"] == 1);
}

TEST_CASE("an unfinished download is given chunk by chunk to peers when it is shown, and else to nobody") {
    Together all({"vera", "viki"}, 4);
    REQUIRE_FALSE(all.attempt("vera").ok());
    BlobStore& store = *all.stores.at("vera");
    const auto description = store.describe(all.id).value();
    CHECK(description.held == std::vector<bool>{true, true, false, false});
    std::vector<std::uint64_t> given;
    const ChunkHandler note = [&](std::uint64_t index, base::ByteView) {
        given.push_back(index);
        return true;
    };
    CHECK(store.fetch(all.id, 0, note).ok());
    CHECK(given == std::vector<std::uint64_t>{0, 1});
    CHECK(store.fetch(all.id, 2, note).error().kind == ErrorKind::kNotFound);
    CHECK(store.fetch(all.id, 9, note).error().kind == ErrorKind::kNotFound);
    CHECK_FALSE(store.read_chunk(all.id, 0).ok());  // it is no blob yet
    // Nobody needs it any more.
    REQUIRE(store.pin_only({}).ok());
    CHECK(store.describe(all.id).error().kind == ErrorKind::kNotFound);
    // One that was begun for ourselves alone.
    auto description_of_mia = all.stores.at("mia")->describe(all.id).value();
    const auto hidden = store.begin(all.id, description_of_mia).value();
    REQUIRE(hidden->add(0, base::ByteView(all.content).first(kChunkBytes)).ok());
    CHECK(store.describe(all.id).error().kind == ErrorKind::kNotFound);
    CHECK(store.fetch(all.id, 0, note).error().kind == ErrorKind::kNotFound);
}

TEST_CASE("what is damaged on disk of an unfinished download is not given") {
    Together all({"vera", "viki"}, 4);
    REQUIRE_FALSE(all.attempt("vera").ok());
    BlobStore& store = *all.stores.at("vera");
    test::flip_byte(all.folder("vera") / "partial" / all.id.hex(), 100, 0x10);
    const auto end = store.fetch(all.id, 0, [](std::uint64_t, base::ByteView) { return true; });
    CHECK(end.error().kind == ErrorKind::kVerification);
}

TEST_CASE("who gives a false part is named, and the part is taken of another") {
    Together all({"vera", "viki", "vito"}, 6);
    REQUIRE_FALSE(all.attempt("viki").ok());
    REQUIRE_FALSE(all.attempt("vito").ok());  // has viki's part too
    all.manners["viki"].false_chunk = 2;
    std::vector<HolderReport> reports;
    REQUIRE(all.attempt("vera", &reports).ok());
    REQUIRE(reports.size() == 3);
    CHECK(reports[0].holder == "mia");
    CHECK(reports[0].chunks == 2);
    CHECK(reports[1].holder == "viki");
    CHECK(reports[1].failure->kind == ErrorKind::kVerification);
    CHECK(reports[2].chunks == 4);
    CHECK(all.stores.at("vera")->read(all.id).value() == all.content);
    // Where nobody else has it, the attempt says who it was.
    Together two({"vera", "viki"}, 4);
    REQUIRE_FALSE(two.attempt("viki").ok());
    two.manners["viki"].false_chunk = 2;
    const FetchEnd end = two.attempt("vera");
    CHECK(end.error().fault == FetchFault::kPartsLacking);
    CHECK(end.error().what.find("viki: chunk 2 ") != std::string::npos);
}

TEST_CASE("a verifier that describes other chunks harms nobody's part and nobody's name") {
    Together all({"vera", "viki", "vito"}, 6);
    REQUIRE_FALSE(all.attempt("vito").ok());
    const bool owner_is_gone = GENERATE(false, true);
    CAPTURE(owner_is_gone);
    if (owner_is_gone) {
        // What vera lacks of her own part vito has.
        REQUIRE(all.attempt_whole("vito").ok());
    }
    all.manners["mia"].gone = owner_is_gone;
    all.manners["viki"].described = BlobDescription{1, {all.id}, {}};
    std::vector<HolderReport> reports;
    const FetchEnd end = all.attempt("vera", &reports);
    REQUIRE(reports.size() == 3);
    CHECK(reports[1].holder == "viki");
    CHECK(reports[1].failure);
    CHECK_FALSE(reports[2].failure);
    CHECK(reports[2].chunks == (owner_is_gone ? 6 : 2));
    if (owner_is_gone) {
        CHECK(end.ok());
    } else {
        CHECK(end.error().fault == FetchFault::kPartsLacking);  // viki's part
        CHECK(all.stores.at("vera")->describe(all.id).value().leaves.size() == 6);
    }
}

TEST_CASE("a description of which no chunk came is not passed on") {
    Together all({"vera", "viki"}, 4);
    all.manners["mia"].gone = true;
    all.manners["viki"].described = BlobDescription{1, {all.id}, {}};
    REQUIRE_FALSE(all.attempt("vera").ok());
    CHECK(all.stores.at("vera")->describe(all.id).error().kind == ErrorKind::kNotFound);
    all.manners["mia"].gone = false;
    REQUIRE(all.attempt("vera").error().fault == FetchFault::kPartsLacking);
    CHECK(all.stores.at("vera")->describe(all.id).value().leaves.size() == 4);
}

TEST_CASE("a verifier that trickles is left for the next") {
    Together all({"vera", "viki", "vito"}, 12);
    REQUIRE_FALSE(all.attempt("viki").ok());
    REQUIRE_FALSE(all.attempt("vito").ok());
    // Slow beyond doubt, and nobody else is: not on a busy machine either.
    all.terms.patience = std::chrono::milliseconds(1'000);
    all.terms.pace = std::chrono::milliseconds(500);
    all.manners["viki"].each_chunk = std::chrono::milliseconds(1'200);
    std::vector<HolderReport> reports;
    REQUIRE(all.attempt("vera", &reports).ok());
    CHECK(reports[1].failure->what.find("slowly") != std::string::npos);
    CHECK(reports[1].chunks < 4);
    CHECK(reports[2].chunks + reports[1].chunks == 8);
}

TEST_CASE("a miner that gives one part alone is refused by everybody else, who accuse no verifier") {
    Together all({"vera", "viki", "vito"}, 6);
    all.manners["mia"].only = ChunkRange{0, 2};
    CHECK(all.attempt("vera").error().fault == FetchFault::kPartsLacking);
    for (const std::string name : {"viki", "vito"}) {
        const FetchEnd end = all.attempt(name);
        CHECK(end.error().fault == FetchFault::kNotServed);
        CHECK(end.error().what.starts_with("mia: "));
        CHECK(all.stores.at(name)->describe(all.id)->held ==
              std::vector<bool>{true, true, false, false, false, false});
    }
    CHECK(all.attempt("vera").error().fault == FetchFault::kPartsLacking);
    CHECK_FALSE(all.whole("vera"));
    // It thinks better of it.
    all.manners["mia"].only.reset();
    for (int i = 0; i < 2; ++i) {
        for (const std::string name : {"vera", "viki", "vito"}) (void)all.attempt(name);
    }
    for (const std::string name : {"vera", "viki", "vito"}) CHECK(all.whole(name));
    CHECK(all.given["mia"] == 6);
}

TEST_CASE(
    "the description comes of another verifier when the miner is gone, and so does what it gave before") {
    Together all({"vera", "viki"}, 4);
    REQUIRE_FALSE(all.attempt("viki").ok());
    all.manners["mia"].gone = true;
    const FetchEnd end = all.attempt("vera");
    CHECK(end.error().fault == FetchFault::kNotServed);
    CHECK(end.error().what.find("mia: gone") != std::string::npos);
    CHECK(all.stores.at("vera")->describe(all.id)->held == std::vector<bool>{false, false, true, true});
}

TEST_CASE("a verifier that starts again goes on with what it had, and shows it again") {
    Together all({"vera", "viki"}, 6);
    REQUIRE_FALSE(all.attempt("vera").ok());
    CHECK(all.given["mia"] == 3);
    all.open("vera");
    CHECK(all.stores.at("vera")->describe(all.id).error().kind == ErrorKind::kNotFound);
    CHECK(all.attempt("vera").error().fault == FetchFault::kPartsLacking);
    CHECK(all.given["mia"] == 3);  // nothing twice
    CHECK(all.attempt("viki").ok());
    CHECK(all.attempt("vera").ok());
    CHECK(all.given["mia"] == 6);
}

TEST_CASE("what another verifier never fetched comes of the miner, and of others what they have") {
    Together all({"vera", "viki", "vito"}, 6);
    all.manners["vito"].gone = true;
    REQUIRE_FALSE(all.attempt("vera").ok());
    REQUIRE_FALSE(all.attempt("viki").ok());
    REQUIRE_FALSE(all.attempt("vera").ok());
    CHECK(all.given["mia"] == 4);
    CHECK(all.attempt_whole("vera").ok());
    CHECK(all.given["mia"] == 6);
    CHECK(all.attempt("viki").ok());
    CHECK(all.given["mia"] == 6);
}

}  // namespace assay::node
