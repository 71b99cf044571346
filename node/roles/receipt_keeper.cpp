// SPDX-License-Identifier: Apache-2.0
#include "node/roles/receipt_keeper.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

base::Outcome<void> ReceiptKeeper::keep(base::ByteView encoded) {
    const auto receipt = base::decode<ledger::Receipt>(encoded);
    if (!receipt || !ledger::verify_receipt(*receipt, chain_id_, validators_)) {
        return fail(ErrorKind::kVerification, "the ledger's receipt is not one that its validators signed",
                    "check the address of the ledger node");
    }
    ASSAY_ASSIGN(const auto before, disk_.read(kReceiptFile));
    if (before) {
        const auto kept = base::decode<ledger::Receipt>(*before);
        if (kept && kept->height >= receipt->height &&
            ledger::verify_receipt(*kept, chain_id_, validators_)) {
            return {};
        }
    }
    return disk_.write(kReceiptFile, encoded);
}

}  // namespace assay::node
