// SPDX-License-Identifier: Apache-2.0
#include "node/roles/receipt_keeper.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

std::optional<ledger::Receipt> ReceiptKeeper::signed_in(base::ByteView encoded) const {
    const auto receipt = base::decode<ledger::Receipt>(encoded);
    if (!receipt || !ledger::verify_receipt(*receipt, chain_id_, validators_)) return std::nullopt;
    return *receipt;
}

std::optional<std::uint64_t> ReceiptKeeper::block_of(const base::Hash256& transaction,
                                                     base::ByteView encoded) const {
    const auto receipt = signed_in(encoded);
    if (!receipt || receipt->transaction != transaction) return std::nullopt;
    return receipt->height;
}

base::Outcome<void> ReceiptKeeper::keep(base::ByteView encoded) {
    const auto receipt = signed_in(encoded);
    if (!receipt) {
        return fail(ErrorKind::kVerification, "the ledger's receipt is not one that its validators signed",
                    "check the address of the ledger node");
    }
    ASSAY_ASSIGN(const auto before, disk_.read(kReceiptFile));
    const auto kept = before ? signed_in(*before) : std::nullopt;
    if (kept && kept->height >= receipt->height) return {};
    return disk_.write(kReceiptFile, encoded);
}

}  // namespace assay::node
