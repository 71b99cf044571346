// SPDX-License-Identifier: Apache-2.0
// Gives `job why` and `miner why` the flags for past clearings, and the clearings themselves. Without a
// genesis at hand, the clearings are left out with a note.
#pragma once

#include <functional>
#include <string>

#include "node/cli/context.hpp"
#include "node/cli/past_clearings.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace assay::node {

struct ClearingFlags {
    PastClearings wanted;
    bool none = false;  ///< --no-clearings
};

/// --epoch, --genesis and --no-clearings; `flags` lives as long as the app.
void add_clearing_flags(CLI::App& verb, ClearingFlags& flags);

/// Calls `visit` with each clearing that the flags ask for. False when they were left out; a note on stderr
/// says why. Errors: those of visit_clearings.
base::Outcome<bool> find_clearings(const Context& context, const ChainSource& chain,
                                   const ClearingFlags& flags,
                                   const std::function<void(const ClearedMarket&)>& visit);

}  // namespace assay::node
