// SPDX-License-Identifier: Apache-2.0
// Gives roles ReceiptKeeper, which keeps the latest receipt of the ledger's validators in the home. The
// receipt shows later whether a copy of the ledger is cut off, or is another ledger (assay audit ledger).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "contracts/base/sign.hpp"
#include "ledger/store/block.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// Its name for DiskPort. The disk port of a process writes to HOME/jobs.
inline constexpr std::string_view kReceiptFile = "receipt";

class ReceiptKeeper {
public:
    /// `disk` must outlive the keeper.
    ReceiptKeeper(DiskPort& disk, std::string chain_id, contracts::ValidatorSet validators)
        : disk_(disk), chain_id_(std::move(chain_id)), validators_(std::move(validators)) {}

    /// The block that holds the transaction, as an encoded receipt says that one of the validators signed;
    /// nothing when it is no such receipt.
    [[nodiscard]] std::optional<std::uint64_t> block_of(const base::Hash256& transaction,
                                                        base::ByteView encoded) const;

    /// Replaces the kept receipt with this encoded one, unless the kept one is of a later block of this
    /// ledger. A kept receipt of another ledger is always replaced. kVerification when no validator signed
    /// it, else the disk's error.
    base::Outcome<void> keep(base::ByteView encoded);

private:
    /// The receipt, if one of the validators signed it for this chain.
    [[nodiscard]] std::optional<ledger::Receipt> signed_in(base::ByteView encoded) const;

    DiskPort& disk_;
    std::string chain_id_;
    contracts::ValidatorSet validators_;
};

}  // namespace assay::node
