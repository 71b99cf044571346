// SPDX-License-Identifier: Apache-2.0
// Which states a program goes on from.
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

TEST_CASE("a state of an unknown schema, or of none, is refused with a sentence") {
    MemoryState nothing;
    CHECK(check_schema(nothing).error() == "the state names no schema");
    Env env;
    Overlay overlay(env.state());
    Meta meta = read_meta(overlay);
    for (const std::uint32_t schema : {0U, kOldestSchema - 1, kSchemaVersion + 1, 0xffffffffU}) {
        meta.schema = schema;
        store(overlay, meta_key(), meta);
        const auto known = check_schema(overlay);
        REQUIRE_FALSE(known.ok());
        CHECK(known.error() == "the state has schema " + std::to_string(schema) + "; this program reads " +
                                   std::to_string(kSchemaVersion));
    }
    CHECK(check_schema(env.state()).ok());
    // A newer program may have written more behind it.
    Bytes longer = base::encode(meta);
    longer.push_back(7);
    overlay.put(meta_key(), longer);
    CHECK(schema_of(overlay) == 0xffffffffU);
}

}  // namespace assay::contracts::test
