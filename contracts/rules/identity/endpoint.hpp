// SPDX-License-Identifier: Apache-2.0
// The form of a network address on the ledger, for the rules and for genesis.
#pragma once

#include <string_view>

namespace assay::contracts {

/// True when `endpoint` is "host:port" of printable characters with a port from 1 to 65535.
bool is_endpoint(std::string_view endpoint);

}  // namespace assay::contracts
