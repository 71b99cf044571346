// SPDX-License-Identifier: Apache-2.0
// `assay audit ledger` on a ledger that was cut, replaced or filled with refused transactions.
#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
#include "tests/node/cli/cli_fixture.hpp"
#include "tests/node/small_chain.hpp"

namespace assay::test {
namespace {

using nlohmann::json;

/// A home with a ledger of `kBlocks` blocks, a transfer each.
class LedgerHome {
public:
    static constexpr std::uint64_t kBlocks = 4;

    LedgerHome() {
        ledger::PosixDisk disk;
        std::filesystem::create_directories(layout_.directory);
        REQUIRE(ledger::write_genesis(disk, layout_.genesis, small_genesis()));
        const auto provider = ledger::leveldb_provider(layout_.index);
        const auto chain = ledger::Chain::open(disk, *provider, ledger::rules_machine(), root()).value();
        const base::SecretKey key = key_of("sequencer");
        for (std::uint64_t nonce = 0; nonce < kBlocks; ++nonce) {
            if (nonce + 1 == kBlocks) before_last_ = std::filesystem::file_size(layout_.log);
            const auto made = chain->append({transfer(nonce)}, ledger::EmptyBlock::kSkip, nonce, key);
            REQUIRE(made->block);
            receipt_ = {made->block->results.transactions[0].id,
                        made->block->header.height,
                        0,
                        0,
                        made->block->hash,
                        {}};
        }
        tip_ = chain->tip().hex();
        ledger::sign_receipt(receipt_, kChainId, key);
    }
    [[nodiscard]] std::string root() const { return cli_.home().string(); }
    [[nodiscard]] const std::string& tip() const { return tip_; }
    [[nodiscard]] base::Bytes receipt() const { return base::encode(receipt_); }
    /// Leaves off the last block.
    void cut() const { std::filesystem::resize_file(layout_.log, before_last_); }
    [[nodiscard]] CliRun audit(std::vector<std::string> words = {}) const {
        words.insert(words.begin(), {"audit", "ledger", "-o", "json"});
        return cli_(words);
    }
    [[nodiscard]] const Cli& cli() const { return cli_; }
    [[nodiscard]] const ledger::Layout& layout() const { return layout_; }

private:
    Cli cli_;
    ledger::Layout layout_{cli_.home().string()};
    std::uintmax_t before_last_ = 0;
    ledger::Receipt receipt_;
    std::string tip_;
};

void write(const std::filesystem::path& file, const base::Bytes& bytes) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << base::as_text(bytes);
}

}  // namespace

TEST_CASE("an audit says how far the ledger goes and that a cut end cannot be seen from the ledger alone") {
    const LedgerHome home;
    const CliRun whole = home.cli()({"audit", "ledger"});
    CHECK(whole.code == 0);
    CHECK(whole.out.find("block 4; whether more blocks followed cannot be seen without --trust") !=
          std::string::npos);
    CHECK(home.audit().json().at("anchored").is_null());
    home.cut();
    const CliRun cut = home.audit();
    CHECK(cut.code == 0);
    CHECK(cut.json().at("height") == 3);
}

TEST_CASE("a cut ledger fails with exit code 7 against --trust, --receipt and a receipt kept in the home") {
    const LedgerHome home;
    const std::string trust = "4:" + home.tip();
    const auto receipt = home.cli().home() / "elsewhere";
    write(receipt, home.receipt());
    for (const auto& words :
         std::vector<std::vector<std::string>>{{"--trust", trust}, {"--receipt", receipt.string()}}) {
        const CliRun whole = home.audit(words);
        INFO(whole.err);
        CHECK(whole.code == 0);
        CHECK(whole.json().at("anchored") == 4);
    }
    home.cut();
    for (const auto& words :
         std::vector<std::vector<std::string>>{{"--trust", trust}, {"--receipt", receipt.string()}}) {
        const CliRun cut = home.audit(words);
        CHECK(cut.code == 7);
        CHECK(cut.json().at("failures").at(0).at("what") ==
              "the ledger ends at block 3: block 4 was cut off");
    }
    CHECK(home.audit().code == 0);
    write(home.cli().home() / "jobs" / "receipt", home.receipt());
    CHECK(home.audit().code == 7);
    std::filesystem::rename(home.cli().home() / "jobs", home.cli().home() / "none");
    write(home.cli().home() / "miner-1" / "jobs" / "receipt", home.receipt());
    CHECK(home.audit().code == 7);
}

TEST_CASE("a trusted header that is another one fails with exit code 7; one that is none is a usage error") {
    const LedgerHome home;
    std::string other = home.tip();
    other[0] = other[0] == '0' ? '1' : '0';
    CHECK(home.audit({"--trust", "4:" + other}).code == 7);
    CHECK(home.audit({"--trust", "0:" + home.tip()}).code == 7);
    CHECK(home.audit({"--trust", "0:" + small_genesis().hash().hex()}).code == 0);
    for (const std::string& bad :
         std::vector<std::string>{"4", "x:" + other, ":" + other, "4:" + other + "0", "4:", "-1:" + other}) {
        INFO(bad);
        CHECK(home.audit({"--trust", bad}).code == 2);
    }
    CHECK(home.audit({"--receipt", home.root() + "/nothing"}).code == 3);
    CHECK(home.audit({"--receipt", home.layout().genesis}).code == 2);
}

}  // namespace assay::test
