// SPDX-License-Identifier: Apache-2.0
// Migrates a state of an older schema to this program's schema, for the ledger. It is pure and deterministic,
// like every rule: everyone who executes the same block on the same state migrates to the same bytes.
// docs/formats/state.md says when it happens and who does it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "contracts/base/result.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// The oldest schema that migrate() accepts; it has the same law as this one. A job of an earlier schema has
/// other parameters, bonds and settlement lines, so a ledger of that time goes on under the programs of that
/// time (decision 52).
inline constexpr std::uint32_t kOldestSchema = 10;

/// The schema that Meta names; nothing when there is no Meta. Reads nothing else, so that it works on any
/// state.
std::optional<std::uint32_t> schema_of(const StateView& state);

/// Whether this program can begin a block on `state`: its schema is kSchemaVersion, or one that migrate()
/// accepts. The error names both schemas. Every other reader of records REQUIRES kSchemaVersion itself.
base::Result<void, std::string> check_schema(const StateView& state);

/// Rewrites every record of an older schema and sets Meta::schema; does nothing to a state of this schema.
/// Moves no money. The first thing that begin_block does. REQUIRES check_schema.
void migrate(State& state);

}  // namespace assay::contracts
