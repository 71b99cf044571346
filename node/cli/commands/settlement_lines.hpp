// SPDX-License-Identifier: Apache-2.0
// Settlement lines as `miner why` and `payout explain` show them.
#pragma once

#include <optional>
#include <vector>

#include "node/cli/context.hpp"
#include "node/cli/state_source.hpp"

namespace assay::node {

struct LineFilter {
    base::PublicKey node;
    std::optional<std::uint32_t> round;
    bool unpaid_only = false;
};

/// Lines of every job, jobs and rounds ascending.
std::vector<contracts::SettlementLine> find_lines(const contracts::StateView& state,
                                                  const LineFilter& filter);

/// A table with the sentence behind each reason, or JSON {"lines": […]} under `schema`.
void print_lines(const Context& context, const std::string& schema,
                 const std::vector<contracts::SettlementLine>& lines);

}  // namespace assay::node
