// SPDX-License-Identifier: Apache-2.0
// `assay audit ledger` on a ledger that was cut, replaced or filled with refused transactions.
#include "tests/node/cli/cli_fixture.hpp"
#include "tests/node/cut_ledger.hpp"

namespace assay::test {
namespace {

using nlohmann::json;

/// A home with such a ledger, for the command.
class LedgerHome {
public:
    [[nodiscard]] std::string root() const { return cli_.home().string(); }
    [[nodiscard]] const std::string& tip() const { return ledger_.tip(); }
    [[nodiscard]] base::Bytes receipt() const { return ledger_.receipt(); }
    void cut() const { ledger_.cut(); }
    [[nodiscard]] CliRun audit(std::vector<std::string> words = {}) const {
        words.insert(words.begin(), {"audit", "ledger", "-o", "json"});
        return cli_(words);
    }
    [[nodiscard]] const Cli& cli() const { return cli_; }
    [[nodiscard]] const ledger::Layout& layout() const { return ledger_.layout(); }

private:
    Cli cli_;
    CutLedger ledger_{cli_.home()};
};

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
    write_bytes(receipt, home.receipt());
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
    write_bytes(home.cli().home() / "jobs" / "receipt", home.receipt());
    CHECK(home.audit().code == 7);
    std::filesystem::rename(home.cli().home() / "jobs", home.cli().home() / "none");
    write_bytes(home.cli().home() / "miner-1" / "jobs" / "receipt", home.receipt());
    CHECK(home.audit().code == 7);
}

TEST_CASE("every audit that reads a home's ledger fails where a receipt of the home shows that it was cut") {
    const LedgerHome home;
    const std::vector<std::vector<std::string>> audits{
        {"audit", "payouts", "-o", "json"},
        {"audit", "replay", "--job", "none", "--round", "0", "-o", "json"},
        {"audit", "dispute", "none/0", "-o", "json"}};
    write_bytes(home.cli().home() / "jobs" / "receipt", home.receipt());
    const CliRun whole = home.cli()(audits.front());
    CHECK(whole.code == 0);
    CHECK(whole.json().at("anchored") == 4);
    CHECK(home.cli()({"audit", "payouts"}).out.find("block 4, as it must") != std::string::npos);
    home.cut();
    for (const auto& words : audits) {
        const CliRun cut = home.cli()(words);
        INFO(words[1] << ": " << cut.err);
        CHECK(cut.code == 7);
        CHECK(cut.json().at("failures").at(0).at("what") ==
              "the ledger ends at block 3: block 4 was cut off");
    }
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
