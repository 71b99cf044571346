// SPDX-License-Identifier: Apache-2.0
// The bench of disputes at smaller shapes: every kind of operator is in it, and every witness within its
// bound. Times are the bench's own affair.
#include "node/cli/verify/dispute_shapes.hpp"

#include <map>

#include "contracts/program/operator_table.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {

TEST_CASE("a dispute over any operator, update, merge or state has a witness within the bound") {
    const auto shapes = dispute_shapes({.runs = 1, .small = true}, [](const std::string&) {});
    std::map<std::string, int> seen;
    for (const DisputeShape& shape : shapes) {
        INFO(shape.name);
        ++seen[shape.name];
        CHECK(shape.witness_bytes <= dispute::kMaxWitnessBytes);
        CHECK(shape.bytes >= shape.witness_bytes);
        CHECK(shape.referee_us > 0);
        if (shape.group == "data") continue;
        CHECK(shape.referee_us_subnormal > 0);
        CHECK(shape.moves >= 1);
        CHECK(shape.witness_bytes > 0);
    }
    for (const program::OperatorRow& row : program::operator_table()) CHECK(seen[std::string(row.name)] == 2);
    for (const char* name : {"update, int64", "update, fp16", "merge, parameters", "merge, momentum",
                             "merge, clip", "state behind a step", "fingerprint", "handed on", "batch map"})
        CHECK(seen[name] == 2);
}

TEST_CASE("only what is asked for is measured") {
    const auto shapes =
        dispute_shapes({.runs = 1, .small = true, .only = "merge, clip"}, [](const std::string&) {});
    REQUIRE(shapes.size() == 2);
    CHECK(shapes[0].name == "merge, clip");
    CHECK(dispute_shapes({.runs = 1, .small = true, .only = "GPT-2 5M"}, [](const std::string&) {}).empty());
}

}  // namespace assay::node
