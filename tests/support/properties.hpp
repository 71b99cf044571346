// SPDX-License-Identifier: Apache-2.0
// Properties: statements about random arguments. RapidCheck draws them, from small to large, and shrinks what
// breaks one to the smallest that does; the failure prints it. The seed is fixed: every run is like the last.
#pragma once

#include <rapidcheck.h>
#include <cstdint>
#include <sstream>
#include <utility>

#include "tests/support/catch.hpp"

namespace assay::tests {

/// Checks `property` for `cases` draws. It draws with *gen and states with RC_ASSERT.
template <class Property>
void check_property(int cases, Property&& property, std::uint64_t seed = 20261122) {
    // Whatever the library prints of its own settings is the same in every run, too.
    static const bool kSettled = ::setenv("RC_PARAMS", "seed=20261122", 0) == 0;
    REQUIRE(kSettled);
    rc::detail::TestParams parameters;
    parameters.seed = seed;
    parameters.maxSuccess = cases;
    const auto result =
        rc::detail::checkTestable(std::forward<Property>(property), rc::detail::TestMetadata{}, parameters);
    std::ostringstream said;
    rc::detail::printResultMessage(result, said);
    INFO(said.str());
    REQUIRE(result.template is<rc::detail::SuccessResult>());
}

/// A number of [low, high], whatever the size of the case.
template <class Number>
rc::Gen<Number> between(Number low, Number high) {
    return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Number>(low, static_cast<Number>(high + 1)));
}

/// Any 64 bits, whatever the size of the case.
inline rc::Gen<std::uint64_t> any_word() {
    return rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
}

}  // namespace assay::tests
