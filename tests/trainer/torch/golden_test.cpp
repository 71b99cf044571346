// SPDX-License-Identifier: Apache-2.0
// What LibTorch sets in a process (threads, modes of floating point, BLAS) does not reach the kernels.
#include <cstdio>
#include <cstdlib>

#include "tests/portability/golden.hpp"
#include "tests/support/catch.hpp"
#include "trainer/torch/peer.hpp"

TEST_CASE("steps have the golden bits in a process that has run LibTorch") {
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    std::printf("%s\n", assay::trainer::peer_name().c_str());
    const auto golden =
        assay::portability::read_lines(std::string(source) + "/tests/vectors/golden_steps.txt");
    assay::trainer::make_peer_gemm({64, 64, 64}, assay::trainer::GemmKind::kForward, 2)();
    CHECK(assay::portability::check(golden, nullptr));
}
