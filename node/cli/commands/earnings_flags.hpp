// SPDX-License-Identifier: Apache-2.0
// Gives `miner earnings` and `verifier earnings` the flags that they share.
#pragma once

#include <string>

#include "node/cli/commands/party_flags.hpp"
#include "node/views/earnings_view.hpp"

namespace assay::node {

struct EarningsFlags : PartyFlags {
    std::string by = "round";
    [[nodiscard]] EarningsBy rows() const;
};

/// `flags` lives as long as the app.
void add_earnings_flags(CLI::App& verb, Context& context, EarningsFlags& flags);

}  // namespace assay::node
