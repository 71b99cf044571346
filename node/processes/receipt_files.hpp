// SPDX-License-Identifier: Apache-2.0
// Gives auditors the receipts that roles have kept in their homes (node/roles/receipt_keeper.hpp), and reads
// them from files.
#pragma once

#include <filesystem>
#include <vector>

#include "contracts/base/error.hpp"
#include "ledger/audit/audit.hpp"
#include "node/roles/receipt_keeper.hpp"
#include "node/runtime/home.hpp"

namespace assay::node {

/// Reads a receipt file. kNotFound, or kUsage when its bytes are no receipt. Its signature is not checked.
base::Outcome<ledger::Receipt> read_receipt(const std::filesystem::path& file);

/// The receipts kept in a home and in the homes directly inside it, as a local network has them, by ascending
/// path. Leaves out files that cannot be read.
std::vector<ledger::HeldReceipt> find_receipts(const Home& home);

}  // namespace assay::node
