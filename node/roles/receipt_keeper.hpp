// SPDX-License-Identifier: Apache-2.0
// Gives roles a keeper of the latest receipt of the ledger's validators, kept in the home: what shows
// later that a copy of the ledger is cut or that it is another one (assay audit ledger).
#pragma once

#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "contracts/base/sign.hpp"
#include "ledger/store/block.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// The name it is kept under (DiskPort); the disk of a process writes into HOME/jobs.
inline constexpr std::string_view kReceiptFile = "receipt";

class ReceiptKeeper {
public:
    /// `disk` must outlive the keeper.
    ReceiptKeeper(DiskPort& disk, std::string chain_id, contracts::ValidatorSet validators)
        : disk_(disk), chain_id_(std::move(chain_id)), validators_(std::move(validators)) {}

    /// Puts an encoded receipt in the place of the kept one, unless that is of a later block of this ledger;
    /// one of another ledger gives way. kVerification when no validator signed it, else the disk's
    /// error.
    base::Outcome<void> keep(base::ByteView encoded);

private:
    DiskPort& disk_;
    std::string chain_id_;
    contracts::ValidatorSet validators_;
};

}  // namespace assay::node
