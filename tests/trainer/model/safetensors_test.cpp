// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/safetensors.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trainer/data/files.hpp"

using namespace assay;
using namespace assay::trainer;

namespace {

base::Bytes file_of(const std::string& header, std::size_t data_bytes) {
    base::Bytes out;
    for (std::size_t i = 0; i < 8; ++i)
        out.push_back(static_cast<std::uint8_t>((header.size() >> (8 * i)) & 0xffU));
    out.insert(out.end(), header.begin(), header.end());
    out.resize(out.size() + data_bytes);
    return out;
}

std::string tensor(const std::string& name, const std::string& shape, const std::string& range) {
    return "\"" + name + "\":{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":" + range + "}";
}

}  // namespace

TEST_CASE("the reference library's vectors are read") {
    const base::Bytes nothing = file_of("{}      ", 0);
    const auto empty = parse_safetensors_header(nothing, nothing.size());
    REQUIRE(empty.ok());
    CHECK(empty->tensors.empty());
    const base::Bytes file = file_of("{" + tensor("attn.0", "[3]", "[0,12]") + "}", 12);
    const auto one = parse_safetensors_header(file, file.size());
    REQUIRE(one.ok());
    CHECK(one->tensors.front() == SafetensorsEntry{"attn.0", "F32", {3}, 3, 0, 12});
    CHECK(one->data_begin == file.size() - 12);
}

TEST_CASE("what is written reads back bit for bit, and the header is padded to eight bytes") {
    const test::TemporaryFolder folder;
    const std::vector<float> data = {1, 2, 3, 4, 5, -0.0F};
    REQUIRE(write_safetensors(folder / "m",
                              {{"b", {2, 2}, std::span(data).first(4)}, {"a", {2}, std::span(data).last(2)}})
                .ok());
    const auto file = SafetensorsReader::open(folder / "m");
    REQUIRE(file.ok());
    CHECK(file->header().data_begin % 8 == 0);
    CHECK(file->header().metadata.at("format") == "pt");
    REQUIRE(file->header().tensors.size() == 2);
    CHECK(file->header().tensors[0].name == "a");
    std::vector<float> a(2);
    std::vector<float> b(4);
    REQUIRE(file->read(file->header().tensors[0], a).ok());
    REQUIRE(file->read(file->header().tensors[1], b).ok());
    CHECK(a == std::vector<float>{5, 0});
    CHECK(std::signbit(a[1]));
    CHECK(b == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("every BF16 and F16 number is widened exactly, and what is not finite is refused by name") {
    const test::TemporaryFolder folder;
    for (const bool brain : {true, false}) {
        // All 65,536 patterns but the infinities and NaNs of the type, then one of these.
        base::Bytes values;
        std::vector<double> expected;
        for (std::uint32_t bits = 0; bits < 65536; ++bits) {
            const int exponent_bits = brain ? 8 : 5;
            const int fraction_bits = 15 - exponent_bits;
            const auto exponent = static_cast<int>((bits >> fraction_bits) & ((1U << exponent_bits) - 1U));
            const auto fraction = static_cast<double>(bits & ((1U << fraction_bits) - 1U));
            if (exponent == (1 << exponent_bits) - 1) continue;
            const int bias = (1 << (exponent_bits - 1)) - 1;
            const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                                   : std::ldexp(fraction + std::ldexp(1.0, fraction_bits),
                                                                exponent - bias - fraction_bits);
            expected.push_back((bits & 0x8000U) != 0 ? -magnitude : magnitude);
            values.push_back(static_cast<std::uint8_t>(bits & 0xffU));
            values.push_back(static_cast<std::uint8_t>(bits >> 8U));
        }
        const std::string type = brain ? "BF16" : "F16";
        const auto write = [&](const base::Bytes& data) {
            base::Bytes file =
                file_of("{\"w\":{\"dtype\":\"" + type + "\",\"shape\":[" + std::to_string(data.size() / 2) +
                            "],\"data_offsets\":[0," + std::to_string(data.size()) + "]}}",
                        0);
            file.insert(file.end(), data.begin(), data.end());
            REQUIRE(write_file(folder / type, file).ok());
            auto opened = SafetensorsReader::open(folder / type);
            REQUIRE(opened.ok());
            return std::move(opened).value();
        };
        std::vector<float> read(expected.size());
        {
            const SafetensorsReader file = write(values);
            REQUIRE(file.read(file.header().tensors[0], read).ok());
        }
        for (std::size_t i = 0; i < read.size(); ++i) {
            if (static_cast<double>(read[i]) != expected[i] ||
                std::signbit(read[i]) != std::signbit(expected[i]))
                FAIL(type << " number " << i << " is " << read[i] << ", not " << expected[i]);
        }
        base::Bytes infinite = values;
        infinite[2 * 777] = 0;
        infinite[2 * 777 + 1] = brain ? 0x7f : 0x7c;
        if (brain) infinite[2 * 777] = 0x80;
        const SafetensorsReader file = write(infinite);
        const auto refused = file.read(file.header().tensors[0], read);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().kind == base::ErrorKind::kUsage);
        CHECK(refused.error().what.find("\"w\" holds an infinity at element 777") != std::string::npos);
    }
}

TEST_CASE("malicious headers are refused before anything is allocated") {
    const auto refused = [](const base::Bytes& file) {
        const auto result = parse_safetensors_header(file, file.size());
        return !result.ok() && result.error().kind == base::ErrorKind::kUsage;
    };
    const std::string a = tensor("a", "[1]", "[0,4]");
    CHECK_FALSE(refused(file_of("{" + a + "}", 4)));
    CHECK(refused({1, 2, 3}));
    CHECK(refused({255, 255, 255, 255, 255, 255, 255, 127, '{', '}'}));             // beyond the cap
    CHECK(refused({200, 0, 0, 0, 0, 0, 0, 0, '{', '}'}));                           // beyond the file
    CHECK(refused(file_of(" {}", 0)));                                              // no '{' first
    CHECK(refused(file_of("{", 0)));                                                // not JSON
    CHECK(refused(file_of("{\"\xff\":1}", 0)));                                     // not UTF-8
    CHECK(refused(file_of("{" + a + "}", 8)));                                      // bytes left over
    CHECK(refused(file_of("{" + a + "," + a + "}", 4)));                            // key twice
    CHECK(refused(file_of("{" + tensor("a", "[1]", "[4,8]") + "}", 8)));            // hole
    CHECK(refused(file_of("{" + a + "," + tensor("b", "[1]", "[0,4]") + "}", 4)));  // overlap
    CHECK(refused(file_of("{" + tensor("a", "[2]", "[0,4]") + "}", 4)));            // shape
    CHECK(refused(file_of("{" + tensor("a", "[1]", "[4,0]") + "}", 4)));            // backwards
    CHECK(refused(file_of("{" + tensor("a", "[1]", "[0,8]") + "}", 4)));            // out of the file
    CHECK(refused(file_of("{" + tensor("a", "[-1]", "[0,4]") + "}", 4)));           // negative
    CHECK(refused(file_of("{" + tensor("a", "[4294967296,4294967296]", "[0,4]") + "}", 4)));  // overflow
    CHECK(refused(file_of("{\"a\":{\"dtype\":\"Q9\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8)));
    CHECK(refused(file_of("{\"__metadata__\":{\"x\":1}}", 0)));
}
