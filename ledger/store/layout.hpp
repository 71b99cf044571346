// SPDX-License-Identifier: Apache-2.0
// Layout has the names of a ledger's files.
#pragma once

#include <string>

namespace assay::ledger {

/// Files of a ledger under a home directory.
struct Layout {
    explicit Layout(const std::string& home)
        : directory(home + "/ledger"),
          log(directory + "/blocks.log"),
          index(directory + "/index"),
          genesis(directory + "/genesis.bin") {}
    std::string directory, log, index, genesis;
};

}  // namespace assay::ledger
