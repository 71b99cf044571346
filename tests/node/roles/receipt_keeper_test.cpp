// SPDX-License-Identifier: Apache-2.0
#include "node/roles/receipt_keeper.hpp"

#include <filesystem>
#include <fstream>

#include "node/runtime/ledger_link.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

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
    test::TemporaryFolder folder;
    Home home{folder.path() / "home"};
    std::unique_ptr<DiskPort> disk = make_disk_port(home.jobs()).value();
    [[nodiscard]] ReceiptKeeper keeper(const std::string& chain_id = test::kChainId) const {
        return {*disk, chain_id, key_of("sequencer").public_key()};
    }
    [[nodiscard]] std::uint64_t height() const { return read_receipt(home.jobs() / kReceiptFile)->height; }
};

}  // namespace

TEST_CASE("a home keeps the latest receipt of its ledger, and one of another ledger gives way") {
    KeptHome kept;
    CHECK(find_receipts(kept.home).empty());
    REQUIRE(kept.keeper().keep(receipt_at(5)));
    CHECK(kept.height() == 5);
    REQUIRE(kept.keeper().keep(receipt_at(9)));
    CHECK(kept.height() == 9);
    REQUIRE(kept.keeper().keep(receipt_at(7)));  // answers may overtake each other
    CHECK(kept.height() == 9);
    REQUIRE(kept.keeper("next-chain").keep(receipt_at(1, "next-chain")));
    CHECK(kept.height() == 1);
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

TEST_CASE("receipts are found in a home and in the homes inside it; what is none is left out") {
    KeptHome kept;
    REQUIRE(kept.keeper().keep(receipt_at(5)));
    const Home inside{kept.home.root / "miner-1"};
    const auto disk = make_disk_port(inside.jobs()).value();
    REQUIRE(ReceiptKeeper(*disk, test::kChainId, key_of("sequencer").public_key()).keep(receipt_at(8)));
    std::filesystem::create_directories(kept.home.root / "miner-2" / "jobs");
    std::ofstream(kept.home.root / "miner-2" / "jobs" / "receipt") << "not a receipt";
    const auto found = find_receipts(kept.home);
    REQUIRE(found.size() == 2);
    CHECK(found[0].receipt.height == 5);
    CHECK(found[1].receipt.height == 8);
    CHECK(found[1].source == ledger::ReceiptSource::kFound);
    CHECK(read_receipt(kept.home.root / "nothing").error().kind == base::ErrorKind::kNotFound);
    CHECK(read_receipt(kept.home.root / "miner-2" / "jobs" / "receipt").error().kind ==
          base::ErrorKind::kUsage);
}

}  // namespace assay::node
