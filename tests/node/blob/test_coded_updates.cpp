// SPDX-License-Identifier: Apache-2.0
// An update whose length depends on its numbers, from the slot that made it to whoever merges it.
#include "node/blob/fetch.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/variable_codec.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::node {
namespace {

using test::kVariableCodec;
using trainer::decode_update;
using trainer::encode_update;
using trainer::Update;

constexpr program::RoundSettings kSettings{.sum_exponent = -10};
constexpr std::int64_t kLargest = (std::int64_t{1} << 62) - 1;

class Holder final : public BlobService {
public:
    explicit Holder(BlobService& store) : store_(store) {}
    FetchOutcome<BlobDescription> describe(const BlobId& id) override { return store_.describe(id); }
    FetchEnd fetch(const BlobId& id, std::uint64_t first, const ChunkHandler& handler) override {
        return store_.fetch(id, first, handler);
    }

private:
    BlobService& store_;
};

struct CodedWay {
    FetchEnd bring(const BlobId& id, const FetchTerms& terms) {
        const ConnectHolder connect = [this](const Endpoint&) -> base::Outcome<std::unique_ptr<BlobService>> {
            return std::unique_ptr<BlobService>(std::make_unique<Holder>(*from));
        };
        return fetch_blob(*to, id, {"slot"}, connect, {}, nullptr, terms);
    }
    test::TemporaryFolder folder;
    std::unique_ptr<BlobStore> from =
        BlobStore::open({.folder = folder / "from", .free_bytes_min = 0}).value();
    std::unique_ptr<BlobStore> to = BlobStore::open({.folder = folder / "to", .free_bytes_min = 0}).value();
};

FetchTerms terms_of(std::uint64_t parameters) {
    return {.size = std::nullopt,
            .most = kVariableCodec.magic.size() + kVariableCodec.most_bytes(parameters),
            .pin = Pin::kPinned,
            .traffic = Traffic::kUpdate};
}

std::string refusal(base::ByteView file, std::uint64_t parameters) {
    const auto refused = decode_update(file, parameters, kVariableCodec, kSettings);
    REQUIRE_FALSE(refused.ok());
    return refused.error().what;
}

TEST_CASE("updates of several lengths are encoded, fetched and decoded, each up to the codec's most") {
    CodedWay way;
    std::vector<std::size_t> lengths;
    for (const Update& update :
         {Update{{0, 0, 0, 0}}, Update{{1, -1, 63, -64}}, Update{{64, -65, 300, -1'000'000}},
          Update{{kLargest, -kLargest, kLargest, -kLargest - 1}}}) {
        const base::Bytes file = encode_update(update, kVariableCodec, kSettings);
        lengths.push_back(file.size());
        const BlobId id = way.from->put(file).value();
        REQUIRE(way.bring(id, terms_of(4)).ok());
        CHECK(decode_update(way.to->read(id).value(), 4, kVariableCodec, kSettings).value() == update);
    }
    CHECK(lengths == std::vector<std::size_t>{12, 12, 8 + 2 + 2 + 2 + 3, 8 + 4 * 9});
}

TEST_CASE("of an update that is described with more than the codec's most nothing is taken") {
    CodedWay way;
    const base::Bytes file = encode_update({{kLargest, -kLargest}}, kVariableCodec, kSettings);
    const BlobId id = way.from->put(file).value();
    const auto refused = way.bring(id, terms_of(1));
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().fault == FetchFault::kNotServed);
    CHECK(refused.error().what.find("have 26 bytes, and what it is wanted for has at most 17") !=
          std::string::npos);
    CHECK(way.to->bytes_used() == 0);
    CHECK(refusal(file, 1).find("26 bytes where codec variable writes at most 17") != std::string::npos);
}

TEST_CASE("the codec judges the length of what was fetched, and each update has one spelling") {
    const base::Bytes good = encode_update({{5, -300}}, kVariableCodec, kSettings);
    base::Bytes early = good, late = good, other = good;
    early.pop_back();
    late.push_back(0);
    for (const base::Bytes& file : {early, late}) {
        const std::string said = refusal(file, 2);
        CHECK(said.find(std::to_string(file.size()) + " bytes, which is no length that codec variable") !=
              std::string::npos);
    }
    other.back() |= 0x80U;  // the same number, with a byte more that says nothing
    other.push_back(0);
    CHECK(refusal(other, 2).find("codec variable never writes") != std::string::npos);
    CHECK(refusal(base::as_bytes("AVARI00"), 2).find("does not begin with AVARI001") != std::string::npos);
    CHECK(decode_update(good, 2, kVariableCodec, kSettings).value() == Update{{5, -300}});
}

}  // namespace
}  // namespace assay::node
