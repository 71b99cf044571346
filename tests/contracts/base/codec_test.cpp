// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/codec.hpp"

#include <random>

#include "tests/support/catch.hpp"

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

TEST_CASE("whatever decodes encodes to the same bytes") {
    std::mt19937_64 random(20261121);
    const Bytes original = encode(sample());
    int accepted = 0;
    for (int i = 0; i < 20'000; ++i) {
        Bytes bytes = original;
        for (int flips = 0; flips < 1 + i % 3; ++flips) {
            bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
        }
        const auto value = decode<Everything>(bytes);
        if (!value.ok()) continue;
        ++accepted;
        REQUIRE(encode(*value) == bytes);
    }
    CHECK(accepted > 1000);
}
