// SPDX-License-Identifier: Apache-2.0
#include "verifier/compare.hpp"

#include <bit>

#include "tests/support/catch.hpp"

using namespace assay;

namespace {

std::vector<program::TensorInfo> two_tensors() {
    return {{"a.bias", 1, 3, 0, true}, {"b.weight", 2, 4, 3, false}};
}

}  // namespace

TEST_CASE("equal arrays have no difference, and minus zero differs from zero") {
    std::vector<float> values(11, 0.0F);
    CHECK_FALSE(verifier::first_difference(two_tensors(), "parameters", values, values).has_value());
    std::vector<float> other = values;
    other[10] = -0.0F;
    const auto found = verifier::first_difference(two_tensors(), "parameters", values, other);
    REQUIRE(found.has_value());
    CHECK(found->bit() == 31);
}

TEST_CASE("the first difference names tensor, element, row, column and bit") {
    std::vector<float> claimed(11, 1.5F);
    const std::vector<float> recomputed = claimed;
    claimed[8] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(1.5F) ^ 8U);
    claimed[9] = 2.0F;
    const auto found = verifier::first_difference(two_tensors(), "parameters", claimed, recomputed);
    REQUIRE(found.has_value());
    CHECK(found->tensor == "b.weight");
    CHECK(found->index == 5);
    CHECK(found->row == 1);
    CHECK(found->column == 1);
    CHECK(found->bit() == 3);
    CHECK(found->count == 2);
    CHECK(verifier::describe(*found) ==
          "parameters: b.weight[5] (row 1, column 1) differs in bit 3: claimed 0x3fc00008 (1.50000095), "
          "recomputed 0x3fc00000 (1.5); 2 elements differ");
}

TEST_CASE("the first and last element of every tensor are found under its name") {
    const auto tensors = two_tensors();
    for (const auto& tensor : tensors) {
        for (const std::uint64_t index : {std::uint64_t{0}, tensor.size() - 1}) {
            std::vector<std::int64_t> claimed(11, 7);
            const std::vector<std::int64_t> recomputed = claimed;
            claimed[tensor.offset + index] = -7;
            const auto found = verifier::first_difference(tensors, "update", claimed, recomputed);
            REQUIRE(found.has_value());
            CHECK(found->tensor == tensor.name);
            CHECK(found->index == index);
            CHECK(found->width == 64);
            CHECK(found->count == 1);
        }
    }
}
