// SPDX-License-Identifier: Apache-2.0
// The latest receipt of the ledger's sequencer, kept in the home: what shows later that a copy of the ledger
// is cut or that it is another one (assay audit ledger).
#pragma once

#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "contracts/base/sign.hpp"
#include "ledger/block.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// The name it is kept under (DiskPort); the disk of a process writes into HOME/jobs.
inline constexpr std::string_view kReceiptFile = "receipt";

class ReceiptKeeper {
public:
    /// `disk` must outlive the keeper.
    ReceiptKeeper(DiskPort& disk, std::string chain_id, const base::PublicKey& sequencer)
        : disk_(disk), chain_id_(std::move(chain_id)), sequencer_(sequencer) {}

    /// Puts an encoded receipt in the place of the kept one, unless that is of a later block of this ledger;
    /// one of another ledger gives way. kVerification when the sequencer did not sign it, else the disk's
    /// error.
    base::Outcome<void> keep(base::ByteView encoded);

private:
    DiskPort& disk_;
    std::string chain_id_;
    base::PublicKey sequencer_;
};

}  // namespace assay::node
