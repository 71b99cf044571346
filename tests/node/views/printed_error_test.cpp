// SPDX-License-Identifier: Apache-2.0
#include "node/views/printed_error.hpp"

#include "tests/support/catch.hpp"

namespace assay::node {

TEST_CASE("the error that a command ended with is read back from the last line") {
    const auto error = printed_error(
        "made 3 steps\n"
        R"({"schema":"assay.error/v1","error":{"code":6,"kind":"rejected","message":"no","fix":"pay",)"
        R"("reason":{"number":26,"name":"budget_too_small"}}})"
        "\n");
    REQUIRE(error);
    CHECK(error->message == "no");
    CHECK(error->fix == "pay");
    CHECK(error->reason == 26);
    CHECK(error->reason_name == "budget_too_small");
}

TEST_CASE("what is no error object is none, whatever its members are") {
    for (const char* said : {"", "\n", "error: no", "[]", R"({"schema":"assay.error/v1"})",
                             R"({"schema":"assay.error/v1","error":1})", R"({"error":{"message":"no"}})"}) {
        CAPTURE(said);
        CHECK_FALSE(printed_error(said));
    }
    const auto odd = printed_error(
        R"({"schema":"assay.error/v1","error":{"message":1,"fix":null,"reason":{"number":-1}}})");
    REQUIRE(odd);
    CHECK(odd->message.empty());
    CHECK(odd->reason == 0);
}

TEST_CASE("why a command ended is its error's message, or else the end of what it wrote") {
    CHECK(why_it_ended("warming up\n{\"schema\":\"assay.error/v1\",\"error\":{\"message\":\"no room\"}}\n") ==
          "no room");
    CHECK(why_it_ended("terminate called\nAborted\n") == "terminate called\nAborted");
    CHECK(why_it_ended(std::string(5000, 'x')).size() == 2000);
    CHECK(why_it_ended("\n") == "it said nothing on its error stream");
}

}  // namespace assay::node
