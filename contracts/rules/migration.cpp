// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/migration.hpp"

#include "contracts/rules/migration_steps.hpp"

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
    if (*schema >= 1 && *schema <= kSchemaVersion) return {};
    return base::failed("the state has schema " + std::to_string(*schema) + "; this program reads 1 to " +
                        std::to_string(kSchemaVersion));
}

void migrate(State& state) {
    if (schema_of(state) == kSchemaVersion) return;
    ASSAY_CHECK(check_schema(state).ok());
    const std::uint32_t schema = *schema_of(state);
    if (schema < 2) from_1_to_2(state);
    if (schema < 3) from_2_to_3(state);
    from_3_to_4(state);
    Meta meta = read_meta(state);
    meta.schema = kSchemaVersion;
    store(state, meta_key(), meta);
}

}  // namespace assay::contracts
