// SPDX-License-Identifier: Apache-2.0
// Gives `job why` and `miner why` the flags by which past clearings are found, and the clearings themselves:
// gone through where the genesis is at hand, and left out with a note where it is not.
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

/// Calls `visit` with each clearing that the flags ask for. False: they were not gone through, and a note on
/// stderr says why. Errors of visit_clearings.
base::Outcome<bool> find_clearings(const Context& context, const ChainSource& chain,
                                   const ClearingFlags& flags,
                                   const std::function<void(const ClearedMarket&)>& visit);

}  // namespace assay::node
