// SPDX-License-Identifier: Apache-2.0
// What a training step of a role may take where its owner says nothing, and what the owner can say.
#include "node/cli/commands/role_memory.hpp"

#include <cstdlib>

#include "node/runtime/machine_memory.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30U;

/// ASSAY_MEMORY for the length of a test.
struct MemoryVariable {
    explicit MemoryVariable(const char* text) { REQUIRE(::setenv("ASSAY_MEMORY", text, 1) == 0); }
    ~MemoryVariable() { ::unsetenv("ASSAY_MEMORY"); }
    MemoryVariable(const MemoryVariable&) = delete;
    MemoryVariable& operator=(const MemoryVariable&) = delete;
};

}  // namespace

TEST_CASE("a step of a role may take three eighths of the machine, divided by its devices") {
    CHECK(default_role_memory(24 * kGibibyte, 1) == 9 * kGibibyte);
    CHECK(default_role_memory(128 * kGibibyte, 8) == 6 * kGibibyte);
    CHECK(default_role_memory(0, 2) == 0);
    ::unsetenv("ASSAY_MEMORY");
    CHECK(role_memory("", 2).value() == default_role_memory(memory_of_machine(), 2));
    CHECK(role_memory("", 1).value() > 0);
}

TEST_CASE("the flag says it before the variable does, and zero is no limit in both") {
    const MemoryVariable variable("2GiB");
    CHECK(role_memory("", 4).value() == 2 * kGibibyte);  // of each: the owner's number is not divided
    CHECK(role_memory("512MiB", 4).value() == kGibibyte / 2);
    CHECK(role_memory("0", 1).value() == 0);
    const MemoryVariable none("0");
    CHECK(role_memory("", 1).value() == 0);
    const MemoryVariable empty("");
    CHECK(role_memory("", 1).value() > 0);
}

TEST_CASE("the worker of a role is told its limit, or that it has none") {
    const MemoryVariable variable("much");  // of the process that starts it: the worker hears the flag's
    WorkerOptions worker;
    REQUIRE(limit_memory(worker, "3GiB", 1));
    CHECK(worker.memory == "3221225472B");
    REQUIRE(limit_memory(worker, "0", 1));
    CHECK(worker.memory == "0");
    for (const char* text : {"much", "-1", "0.5", "00", "0 GiB"}) {
        CAPTURE(text);
        const auto refused = limit_memory(worker, text, 1);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == base::ErrorKind::kUsage);
    }
    CHECK_FALSE(limit_memory(worker, "", 1));
}

}  // namespace assay::node
