// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/job/leaving.hpp"
#include "contracts/rules/migration_steps.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

/// Every record has the layout that it had. The jobs that have ended are due to leave: at once, and as many
/// of their records in a block as any block takes out.
void from_3_to_4(State& state) {
    for (const auto& [key, value] : state.scan(table_prefix(Table::kJobProgress))) {
        auto progress = stored<JobProgress>(value);
        if (progress.phase != JobPhase::kEnded) continue;
        schedule_leaving(state, base::hash_from(ByteView(key).subspan(1)), progress, 1);
        store(state, key, progress);
    }
}

}  // namespace assay::contracts
