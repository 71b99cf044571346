// SPDX-License-Identifier: Apache-2.0
#include "node/roles/receipt_keeper.hpp"

#include "tests/node/roles/quiet_ports.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using test::key_of;

Bytes receipt_at(std::uint64_t height, const std::string& chain_id = test::kChainId,
                 const std::string& signer = "sequencer") {
    ledger::Receipt receipt;
    receipt.height = height;
    ledger::sign_receipt(receipt, chain_id, key_of(signer));
    return base::encode(receipt);
}

struct KeptHome {
    test::MemoryDisk disk;
    ReceiptKeeper keeper(const std::string& chain_id = test::kChainId) {
        return {disk, chain_id, contracts::ValidatorSet::of_one(key_of("sequencer").public_key())};
    }
    [[nodiscard]] std::uint64_t height() const {
        return base::decode<ledger::Receipt>(disk.files.at(std::string(kReceiptFile)))->height;
    }
};

}  // namespace

TEST_CASE("a home keeps the latest receipt of its ledger, and one of another ledger gives way") {
    KeptHome kept;
    REQUIRE(kept.keeper().keep(receipt_at(5)));
    CHECK(kept.height() == 5);
    REQUIRE(kept.keeper().keep(receipt_at(9)));
    CHECK(kept.height() == 9);
    REQUIRE(kept.keeper().keep(receipt_at(7)));  // answers may overtake each other
    CHECK(kept.height() == 9);
    REQUIRE(kept.keeper("next-chain").keep(receipt_at(1, "next-chain")));
    CHECK(kept.height() == 1);
}

TEST_CASE("a receipt tells the block of its own transaction and of no other") {
    KeptHome kept;
    CHECK(kept.keeper().block_of({}, receipt_at(5)) == 5);
    CHECK_FALSE(kept.keeper().block_of(base::hash("test", {}), receipt_at(5)));
    CHECK_FALSE(kept.keeper().block_of({}, receipt_at(5, test::kChainId, "alice")));
    CHECK_FALSE(kept.keeper().block_of({}, Bytes{}));
}

TEST_CASE("what the sequencer did not sign for this chain is not kept as a receipt") {
    KeptHome kept;
    REQUIRE(kept.keeper().keep(receipt_at(5)));
    Bytes bent = receipt_at(6);
    bent.back() ^= 1;
    for (const Bytes& bad :
         {receipt_at(9, test::kChainId, "alice"), receipt_at(9, "other"), bent, Bytes{}, Bytes(500, 7)}) {
        CHECK(kept.keeper().keep(bad).error().kind == base::ErrorKind::kVerification);
        CHECK(kept.height() == 5);
    }
}

}  // namespace assay::node
