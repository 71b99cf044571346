// SPDX-License-Identifier: Apache-2.0
// The example of docs/formats/trace.md.
#include "contracts/program/round_plan.hpp"
#include "contracts/program/trace.hpp"
#include "contracts/program/trace_tree.hpp"
#include "tests/support/format_example.hpp"

namespace assay::program {

TEST_CASE("the example of docs/formats/trace.md is right") {
    const auto named = [](const std::string& name) { return base::hash("example", base::as_bytes(name)); };
    JobSpec spec;
    spec.train.inner_steps = 4;
    spec.security.segment_steps = 2;
    const TraceRecord trace{.boundaries = {named("boundary 0"), named("boundary 1"), named("boundary 2")},
                            .fingerprints = {{0x40f4ccca, 0x406467f6},
                                             {0x40f05243, 0x402a3141},
                                             {0x40eb3f67, 0x3fce964f},
                                             {0x40e51eb8, 0x3fb33333}},
                            .divergence = std::nullopt,
                            .update = named("update"),
                            .carried = std::nullopt};
    REQUIRE(is_well_formed(trace, spec));
    assay::test::check_example("trace.md", base::encode(trace));
    const std::string page = assay::test::format_page("trace.md");
    const auto says = [&](const std::string& what, const base::Hash256& hash) {
        INFO(what << " " << hash.hex());
        CHECK(page.find(what + " `" + hash.hex() + "`") != std::string::npos);
    };
    says("unit 0", unit_root(trace, spec, 0));
    says("unit 1", unit_root(trace, spec, 1));
    says("`finalise`", unit_root(trace, spec, 2));
    const base::Hash256 salt = named("salt");
    says("trace", TraceTree(trace, spec, salt).root());
    says("leaf salt 2", trace_leaf_salt(salt, 2));
    assay::test::check_example(
        "trace.md", base::encode(TraceTree(trace, spec, salt).open(TraceLeafKind::kStart, 1).leaf));
}

}  // namespace assay::program
