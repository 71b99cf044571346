// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine/engines.hpp"

#include "ledger/engine/embedded.hpp"

namespace assay::ledger {

namespace {

struct NamedEngine {
    std::string_view name;
    Outcome<std::unique_ptr<LedgerEngine>> (*open)(const EngineParts& parts);
};

constexpr NamedEngine kEngines[] = {{"embedded", EmbeddedEngine::open}};

}  // namespace

std::vector<std::string> engine_names() {
    std::vector<std::string> names;
    for (const NamedEngine& entry : kEngines) names.emplace_back(entry.name);
    return names;
}

Outcome<std::unique_ptr<LedgerEngine>> open_engine(std::string_view name, const EngineParts& parts) {
    std::string known;
    for (const NamedEngine& entry : kEngines) {
        if (entry.name == name) return entry.open(parts);
        known.append(known.empty() ? "" : ", ").append(entry.name);
    }
    std::string what = "engine '";
    what.append(name).append("' is not there: this build has ").append(known);
    return base::fail(base::ErrorKind::kPreflight, what, "use one of: " + known);
}

}  // namespace assay::ledger
