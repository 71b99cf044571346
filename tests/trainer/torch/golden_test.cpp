// SPDX-License-Identifier: Apache-2.0
// LibTorch gives memory and nothing else: the golden steps do not know which LibTorch is linked.
#include <cstdio>
#include <cstdlib>

#include "tests/portability/golden.hpp"
#include "tests/support/catch.hpp"
#include "trainer/torch/backend.hpp"

TEST_CASE("steps in LibTorch's memory have the golden bits") {
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    std::printf("%s\n", assay::trainer::peer_name().c_str());
    const auto golden =
        assay::portability::read_lines(std::string(source) + "/tests/vectors/golden_steps.txt");
    const auto arena = assay::trainer::make_tensor_arena();
    CHECK(assay::portability::check(golden, arena.get()));
}
