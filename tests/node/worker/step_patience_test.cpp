// SPDX-License-Identifier: Apache-2.0
#include "node/worker/step_patience.hpp"

#include "tests/support/catch.hpp"

using assay::node::StepPatience;
using namespace std::chrono_literals;

TEST_CASE("a worker may be silent for much longer than ever before, and never for less than the floor") {
    StepPatience patience(2min);
    CHECK(patience.limit() == 1h);  // nothing is known of a step
    patience.heard(10ms);
    CHECK(patience.limit() == 2min);
    patience.heard(1min);
    patience.heard(1s);
    CHECK(patience.limit() == 32min);
    patience.forget();
    CHECK(patience.limit() == 1h);
}
