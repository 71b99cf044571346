// SPDX-License-Identifier: Apache-2.0
// Gives `miner why` and `payout explain` the settlement lines as they show them.
#pragma once

#include <string>

#include "node/cli/context.hpp"
#include "node/cli/state_source.hpp"
#include "node/views/payout_view.hpp"

namespace assay::node {

/// A table with the sentence behind each reason, or JSON {"lines": […]} under `schema`.
void print_lines(const Context& context, const std::string& schema, const PayoutLines& found);

}  // namespace assay::node
