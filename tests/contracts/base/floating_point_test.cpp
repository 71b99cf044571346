// SPDX-License-Identifier: Apache-2.0
// The floating-point mode: every bit that can change a result is known by name.
#include "contracts/base/floating_point.hpp"

#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/floating_point_mode.hpp"

namespace assay::base {

TEST_CASE("every mode bit that can change a result is a fault with its name, and flags are none") {
    CHECK(mxcsr_faults(0x1f80) == 0);
    CHECK(mxcsr_faults(0x1fbf) == 0);  // what operations so far have met
    const std::pair<std::uint32_t, const char*> x86[] = {
        {0x1f80 | 0x0040, "DAZ"}, {0x1f80 | 0x8000, "FTZ"}, {0x1f80 | 0x2000, "RC"}, {0x1f80 | 0x4000, "RC"},
        {0x1f80 | 0x6000, "RC"},  {0x1f00, "mask"},         {0x0f80, "mask"},
    };
    for (const auto& [value, name] : x86) {
        INFO(name);
        REQUIRE(mxcsr_faults(value) != 0);
        CHECK(mxcsr_fault_text(mxcsr_faults(value)).find(name) != std::string::npos);
    }
    CHECK(fpcr_faults(0) == 0);
    const std::pair<unsigned, const char*> arm[] = {
        {0, "FIZ"},     {1, "AH ("},    {2, "NEP"},     {8, "a trap"},  {9, "a trap"},
        {10, "a trap"}, {11, "a trap"}, {12, "a trap"}, {15, "a trap"}, {19, "FZ16"},
        {22, "RMode"},  {23, "RMode"},  {24, "FZ ("},   {25, "DN"},     {26, "AHP"},
    };
    for (const auto& [bit, name] : arm) {
        INFO(name);
        REQUIRE(fpcr_faults(1ULL << bit) == 1ULL << bit);
        CHECK(fpcr_fault_text(1ULL << bit).find(name) == 0);
    }
    CHECK(mxcsr_fault_text(mxcsr_faults(0x1f80 | 0x8040)).find("DAZ") != std::string::npos);
    CHECK(mxcsr_fault_text(mxcsr_faults(0x1f80 | 0x8040)).find("FTZ") != std::string::npos);
}

TEST_CASE("a thread in the law's mode has no fault, and any other is refused as this machine's failure") {
    CHECK(floating_point_faults() == 0);
    CHECK(refuse_floating_point(0));
    for (const test::WrongMode mode : test::kWrongModes) {
        CAPTURE(static_cast<int>(mode));
        test::ScopedMode::set(mode);
        const auto refused = refuse_floating_point(floating_point_faults());
        test::ScopedMode::reset();
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::kPreflight);
        const bool flushes = mode == test::WrongMode::kFlushesSubnormals;
        const char* const named = flushes ? "denormal" : "round to nearest";
        CHECK(refused.error().what.find(named) != std::string::npos);
    }
    CHECK(floating_point_faults() == 0);
}

}  // namespace assay::base
