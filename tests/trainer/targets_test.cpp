// SPDX-License-Identifier: Apache-2.0
#include "trainer/host/targets.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

namespace assay::trainer {

TEST_CASE("no restriction chooses the machine's fastest target", "[trainer][targets]") {
    CHECK(to_text(choose_target("").value()) == machine_targets().front());
    CHECK(machine_targets().back() == "scalar");
}

TEST_CASE("a restriction chooses the fastest target that it names", "[trainer][targets]") {
    CHECK(choose_target("scalar").value() == Target::kScalar);
    for (const auto& word : machine_targets())
        CHECK(to_text(choose_target("scalar," + word).value()) == word);
}

TEST_CASE("an unknown or absent target is an error with the choices", "[trainer][targets]") {
    for (const char* wrong : {"avx", "AVX2", "scalar,", ",", " avx2", "scalar,mmx"}) {
        const auto chosen = choose_target(wrong);
        REQUIRE_FALSE(chosen.ok());
        CHECK(chosen.error().kind == base::ErrorKind::kUsage);
        CHECK(chosen.error().fix.find("scalar") != std::string::npos);
    }
    const auto mine = machine_targets();
    for (const char* word : {"avx2", "avx512"}) {
        if (std::find(mine.begin(), mine.end(), word) != mine.end()) continue;
        CHECK(choose_target(word).error().kind == base::ErrorKind::kPreflight);
    }
}

}  // namespace assay::trainer
