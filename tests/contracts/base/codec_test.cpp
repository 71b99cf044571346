// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/codec.hpp"

#include "tests/support/properties.hpp"

namespace {
enum class Colour : std::uint8_t { kRed = 1, kBlue = 2 };
}  // namespace
namespace assay::base {
ASSAY_ENUM_RANGE(Colour, kRed, kBlue);
}

namespace {
using namespace assay::base;

struct Inner {
    std::uint16_t number = 0;
    friend bool operator==(const Inner&, const Inner&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.number);
    }
};

struct Everything {
    bool flag = false;
    std::int32_t number = 0;
    Colour colour = Colour::kRed;
    Amount amount;
    std::string text;
    Bytes bytes;
    std::vector<Inner> list;
    std::optional<std::uint64_t> maybe;
    std::map<std::uint8_t, std::string> names;
    Hash256 hash;
    friend bool operator==(const Everything&, const Everything&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.flag, self.number, self.colour, self.amount, self.text, self.bytes, self.list, self.maybe,
              self.names, self.hash);
    }
};

Everything sample() {
    Everything value;
    value.flag = true;
    value.number = -2;
    value.colour = Colour::kBlue;
    value.amount = units(7);
    value.text = "h\xc3\xa9";
    value.bytes = {9, 8};
    value.list = {{513}, {2}};
    value.maybe = 5;
    value.names = {{1, "a"}, {3, "b"}};
    value.hash.bytes[0] = 0xee;
    return value;
}

template <class T>
DecodeError error_of(const Bytes& bytes) {
    const auto result = decode<T>(bytes);
    REQUIRE_FALSE(result.ok());
    return result.error();
}
}  // namespace

TEST_CASE("a record's encoding is little-endian, prefixed by lengths and without padding") {
    CHECK(to_hex(encode(sample())) ==
          "01"
          "feffffff"
          "02"
          "0700000000000000"
          "03000000"
          "68c3a9"
          "02000000"
          "0908"
          "02000000"
          "0102"
          "0200"
          "01"
          "0500000000000000"
          "02000000"
          "01"
          "01000000"
          "61"
          "03"
          "01000000"
          "62"
          "ee00000000000000000000000000000000000000000000000000000000000000");
    const auto back = decode<Everything>(encode(sample()));
    REQUIRE(back.ok());
    CHECK(*back == sample());
}

TEST_CASE("every way to be non-canonical has its error") {
    CHECK(error_of<std::uint32_t>({1, 2, 3}) == DecodeError::kTruncated);
    CHECK(error_of<std::uint8_t>({1, 2}) == DecodeError::kTrailingBytes);
    CHECK(error_of<bool>({2}) == DecodeError::kBadBool);
    CHECK(error_of<std::optional<std::uint8_t>>({2, 0}) == DecodeError::kBadBool);
    CHECK(error_of<Colour>({0}) == DecodeError::kBadEnum);
    CHECK(error_of<Colour>({3}) == DecodeError::kBadEnum);
    CHECK(error_of<Bytes>({0xff, 0xff, 0xff, 0xff, 1}) == DecodeError::kTooLong);
    CHECK(error_of<std::vector<Inner>>({9, 0, 0, 0, 1, 0}) == DecodeError::kTooLong);
    CHECK(error_of<std::string>({1, 0, 0, 0, 0xff}) == DecodeError::kNotUtf8);
    using Map = std::map<std::uint8_t, std::uint8_t>;
    CHECK(error_of<Map>({2, 0, 0, 0, 5, 0, 4, 0}) == DecodeError::kUnsortedKeys);
    CHECK(error_of<Map>({2, 0, 0, 0, 5, 0, 5, 0}) == DecodeError::kUnsortedKeys);
    CHECK(error_of<Amount>(Bytes(8, 0xff)) == DecodeError::kAmountTooLarge);
    for (int i = 1; i <= 9; ++i) CHECK_FALSE(to_text(static_cast<DecodeError>(i)).empty());
}

TEST_CASE("every shorter prefix and every longer string is refused") {
    Bytes bytes = encode(sample());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CHECK_FALSE(decode<Everything>(ByteView(bytes).first(size)).ok());
    }
    bytes.push_back(0);
    CHECK(error_of<Everything>(bytes) == DecodeError::kTrailingBytes);
}

namespace {

Everything any_record() {
    const auto word = rc::gen::container<std::string>(rc::gen::inRange<char>('a', 'z'));
    Everything value;
    value.flag = *rc::gen::arbitrary<bool>();
    value.number = *rc::gen::arbitrary<std::int32_t>();
    value.colour = *rc::gen::element(Colour::kRed, Colour::kBlue);
    value.amount = Amount::of(*assay::tests::between<std::uint64_t>(0, kAmountMax)).value();
    value.text = *word;
    value.bytes = *rc::gen::arbitrary<Bytes>();
    for (const std::uint16_t number : *rc::gen::arbitrary<std::vector<std::uint16_t>>())
        value.list.push_back({number});
    if (*rc::gen::arbitrary<bool>()) value.maybe = *assay::tests::any_word();
    value.names =
        *rc::gen::container<std::map<std::uint8_t, std::string>>(rc::gen::arbitrary<std::uint8_t>(), word);
    for (std::uint8_t& byte : value.hash.bytes) byte = *rc::gen::arbitrary<std::uint8_t>();
    return value;
}

}  // namespace

TEST_CASE("any record comes back from its encoding, and no prefix of it does") {
    assay::tests::check_property(1'000, [] {
        const Everything value = any_record();
        const Bytes bytes = encode(value);
        const auto back = decode<Everything>(bytes);
        RC_ASSERT(back.ok());
        RC_ASSERT(*back == value);
        RC_ASSERT(encode(*back) == bytes);
        const auto cut = *assay::tests::between<std::size_t>(0, bytes.size() - 1);
        RC_ASSERT(!decode<Everything>(ByteView(bytes).first(cut)).ok());
    });
}

TEST_CASE("whatever decodes encodes to the same bytes") {
    const Bytes original = encode(sample());
    int accepted = 0;
    assay::tests::check_property(20'000, [&] {
        Bytes bytes = original;
        for (int flips = *assay::tests::between(1, 3); flips > 0; --flips) {
            const auto place = *assay::tests::between<std::size_t>(0, bytes.size() - 1);
            bytes[place] = static_cast<std::uint8_t>(*assay::tests::between(0, 255));
        }
        const auto value = decode<Everything>(bytes);
        if (!value.ok()) return;
        ++accepted;
        RC_ASSERT(encode(*value) == bytes);
    });
    CHECK(accepted > 1000);
}
