// SPDX-License-Identifier: Apache-2.0
// What is remembered of a pure function: results come from it alone, and those asked for in turns are made
// once.
#include "contracts/program/recent.hpp"

#include "contracts/program/step_program.hpp"
#include "tests/contracts/program/tiny.hpp"
#include "tests/support/catch.hpp"

using assay::program::Recent;

TEST_CASE("the results that were asked for last are made once, and the one least lately asked for goes") {
    Recent<int, int, 3> recent;
    int made = 0;
    const auto square = [&](int of) {
        return recent.get(of, [&] {
            ++made;
            return of * of;
        });
    };
    for (int turn = 0; turn < 5; ++turn)
        for (const int of : {1, 2, 3}) CHECK(square(of) == of * of);
    CHECK(made == 3);
    CHECK(square(1) == 1);
    CHECK(square(4) == 16);  // 2 goes
    CHECK(square(1) == 1);
    CHECK(square(3) == 9);
    CHECK(made == 4);
    CHECK(square(2) == 4);
    CHECK(made == 5);
}

TEST_CASE("step programs of jobs that are asked for in turns are built once each") {
    assay::program::JobSpec one = tiny::spec(), other = tiny::spec();
    ++other.model.layers;
    const auto first = assay::program::step_program(one);
    const auto second = assay::program::step_program(other);
    CHECK(first->operators.size() < second->operators.size());
    CHECK(assay::program::step_program(one).get() == first.get());
    CHECK(assay::program::step_program(other).get() == second.get());
    ++one.train.batch;
    CHECK(assay::program::step_program(one).get() != first.get());
}
