// SPDX-License-Identifier: Apache-2.0
// Before a process judges anything: whatever mode its thread is in but the law's is named, and shows in the
// known answers even where the control word is not looked at.
#include "contracts/dispute/machine_check.hpp"

#include "contracts/arithmetic/known_answers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/floating_point_mode.hpp"

namespace {
using namespace assay;
using namespace assay::dispute;
}  // namespace

TEST_CASE("a sound machine passes, and its referee's known answers are those of every other") {
    const auto checked = check_machine();
    INFO(referee_digest().hex());
    if (!checked.ok()) FAIL(checked.error().what);
    CHECK(check_thread());
    CHECK_FALSE(arithmetic::wrong_operation());
}

TEST_CASE("a thread that rounds otherwise or flushes subnormal numbers is refused by name") {
    const base::Hash256 right = referee_digest();
    for (const test::WrongMode mode : test::kWrongModes) {
        CAPTURE(static_cast<int>(mode));
        base::Outcome<void> machine;
        base::Outcome<void> thread;
        std::optional<std::string_view> operation;
        base::Hash256 digest;
        {
            const test::ScopedMode wrong(mode);
            machine = check_machine();
            thread = check_thread();
            operation = arithmetic::wrong_operation();
            digest = referee_digest();
        }
        REQUIRE_FALSE(machine.ok());
        REQUIRE_FALSE(thread.ok());
        CHECK(machine.error().kind == base::ErrorKind::kPreflight);
        CHECK(machine.error().what == thread.error().what);
        CHECK(machine.error().what.find("floating-point mode") != std::string::npos);
        CHECK_FALSE(machine.error().fix.empty());
        // The operations and the partials would tell as well.
        CHECK(operation.has_value());
        CHECK(digest != right);
    }
    CHECK(check_machine());
}
