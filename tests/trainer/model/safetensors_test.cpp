// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/safetensors.hpp"

#include "tests/support/catch.hpp"

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
    const auto empty = parse_safetensors(file_of("{}      ", 0));
    REQUIRE(empty.ok());
    CHECK(empty->tensors.empty());
    const auto one = parse_safetensors(file_of("{" + tensor("attn.0", "[3]", "[0,12]") + "}", 12));
    REQUIRE(one.ok());
    CHECK(one->tensors.front().name == "attn.0");
    CHECK(one->data == std::vector<float>{0, 0, 0});
}

TEST_CASE("what is written reads back, and the header is padded to eight bytes") {
    const std::vector<float> data = {1, 2, 3, 4, 5, -0.0F};
    const base::Bytes file = safetensors_bytes({{"b", {2, 2}, 0, 4}, {"a", {2}, 4, 2}}, data);
    CHECK(file[0] % 8 == 0);
    const auto back = parse_safetensors(file);
    REQUIRE(back.ok());
    CHECK(back->metadata.at("format") == "pt");
    CHECK(back->tensors[0].name == "a");
    CHECK(back->data == std::vector<float>{5, -0.0F, 1, 2, 3, 4});
}

TEST_CASE("malicious headers are refused before anything is allocated") {
    const auto refused = [](const base::Bytes& file) {
        const auto result = parse_safetensors(file);
        return !result.ok() && result.error().kind == base::ErrorKind::kUsage;
    };
    const std::string a = tensor("a", "[1]", "[0,4]");
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
    CHECK(refused(file_of("{" + tensor("a", "[-1]", "[0,4]") + "}", 4)));           // negative
    CHECK(refused(file_of("{" + tensor("a", "[4294967296,4294967296]", "[0,4]") + "}", 4)));  // overflow
    CHECK(refused(file_of("{\"a\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8)));
    CHECK(refused(file_of("{\"__metadata__\":{\"x\":1}}", 0)));
}
