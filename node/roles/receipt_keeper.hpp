// SPDX-License-Identifier: Apache-2.0
// The latest receipt of the ledger's sequencer, kept in the home: what shows later that a copy of the ledger
// is cut or that it is another one (assay audit ledger).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/base/sign.hpp"
#include "ledger/audit.hpp"
#include "node/runtime/home.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// Its name in HOME/jobs.
inline constexpr std::string_view kReceiptFile = "receipt";

class ReceiptKeeper {
public:
    /// `disk` writes into HOME/jobs and must outlive the keeper.
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

/// Reads a receipt file. kNotFound, or kUsage when its bytes are no receipt. Its signature is not checked.
base::Outcome<ledger::Receipt> read_receipt(const std::filesystem::path& file);

/// The receipts kept in a home and in the homes right inside it, as a local network has them; ascending
/// paths. What cannot be read is left out.
std::vector<ledger::HeldReceipt> find_receipts(const Home& home);

}  // namespace assay::node
