// SPDX-License-Identifier: Apache-2.0
// Gives `assay node genesis` network.toml, what the operator of a new ledger wants other than the defaults:
//
//   [parameters]            # names of docs/reference/parameters.md; amounts in base units
//   claim_window = 3000
//   [market]                # those of the market between jobs
//   epoch = 36000
//   [balances]              # owner key = amount, ASY or base units
//   "8084…" = "1000"
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/rules/market/params.hpp"
#include "contracts/rules/state/params.hpp"

namespace assay::node {

struct NetworkFile {
    contracts::Params params;  ///< the defaults, but for what the file says
    contracts::MarketParams market;
    std::vector<std::pair<base::PublicKey, base::Amount>> balances;  ///< in the order of the keys' digits
};

/// Parses strictly. `name` stands for the file in errors. kUsage, with line and fix: an unknown section or
/// name, a value of another type or outside its range, parameters that do not go together, an owner that is
/// no key, an amount that is none.
base::Outcome<NetworkFile> parse_network_text(std::string_view toml, std::string_view name);

/// The same of a file; kNotFound.
base::Outcome<NetworkFile> read_network_file(const std::filesystem::path& path);

}  // namespace assay::node
