// SPDX-License-Identifier: Apache-2.0
#include "node/processes/receipt_files.hpp"

#include <filesystem>
#include <fstream>

#include "node/runtime/ledger_link.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using test::key_of;

void keep_receipt_at(const Home& home, std::uint64_t height) {
    ledger::Receipt receipt;
    receipt.height = height;
    ledger::sign_receipt(receipt, test::kChainId, key_of("sequencer"));
    const auto disk = make_disk_port(home.jobs()).value();
    const auto validators = contracts::ValidatorSet::of_one(key_of("sequencer").public_key());
    REQUIRE(ReceiptKeeper(*disk, test::kChainId, validators).keep(base::encode(receipt)));
}

}  // namespace

TEST_CASE("receipts are found in a home and in the homes inside it; what is none is left out") {
    const test::TemporaryFolder folder;
    const Home home{folder.path() / "home"};
    CHECK(find_receipts(home).empty());
    keep_receipt_at(home, 5);
    keep_receipt_at(Home{home.root / "miner-1"}, 8);
    std::filesystem::create_directories(home.root / "miner-2" / "jobs");
    std::ofstream(home.root / "miner-2" / "jobs" / "receipt") << "not a receipt";
    const auto found = find_receipts(home);
    REQUIRE(found.size() == 2);
    CHECK(found[0].receipt.height == 5);
    CHECK(found[1].receipt.height == 8);
    CHECK(found[1].source == ledger::ReceiptSource::kFound);
    CHECK(read_receipt(home.root / "nothing").error().kind == base::ErrorKind::kNotFound);
    CHECK(read_receipt(home.root / "miner-2" / "jobs" / "receipt").error().kind == base::ErrorKind::kUsage);
}

}  // namespace assay::node
