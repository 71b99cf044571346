// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/migration.hpp"

#include "contracts/rules/state/store.hpp"
#include "contracts/rules/state/tables.hpp"

namespace assay::contracts {

std::optional<std::uint32_t> schema_of(const StateView& state) {
    const auto meta = state.get(meta_key());
    if (!meta || meta->size() < sizeof(std::uint32_t)) return std::nullopt;
    const auto schema = base::decode<std::uint32_t>(ByteView(*meta).first(sizeof(std::uint32_t)));
    return schema ? std::optional(*schema) : std::nullopt;
}

base::Result<void, std::string> check_schema(const StateView& state) {
    const auto schema = schema_of(state);
    if (!schema) return base::failed(std::string("the state names no schema"));
    if (*schema >= kOldestSchema && *schema <= kSchemaVersion) return {};
    std::string known = std::to_string(kSchemaVersion);
    if (kOldestSchema < kSchemaVersion) known = std::to_string(kOldestSchema) + " to " + known;
    return base::failed("the state has schema " + std::to_string(*schema) + "; this program reads " + known);
}

void migrate(State& state) {
    if (schema_of(state) == kSchemaVersion) return;
    ASSAY_CHECK(check_schema(state).ok());
    // A step for each schema from the oldest on stands here; there is none yet.
    Meta meta = read_meta(state);
    meta.schema = kSchemaVersion;
    store(state, meta_key(), meta);
}

}  // namespace assay::contracts
