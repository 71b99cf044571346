// SPDX-License-Identifier: Apache-2.0
#include "node/config/network_file.hpp"

#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

const std::string kOneOwner(64, 'a');
const std::string kOtherOwner = std::string(63, '0') + "1";

/// The error of a text that is refused; each is a usage error with a fix.
base::Error refused_network(const std::string& text) {
    const auto parsed = parse_network_text(text, "network.toml");
    INFO(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().kind == base::ErrorKind::kUsage);
    CHECK_FALSE(parsed.error().fix.empty());
    CHECK(parsed.error().what.starts_with("network.toml:"));
    return parsed.error();
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a network file without a word gives every parameter its default, and money to nobody") {
    const auto parsed = parse_network_text("", "network.toml");
    REQUIRE(parsed.ok());
    CHECK(parsed->params == contracts::Params{});
    CHECK(parsed->market == contracts::MarketParams{});
    CHECK(parsed->balances.empty());
}

TEST_CASE("a network file sets each parameter of the rules by its name, at both ends of its range") {
    const auto set = [](const std::string& section, std::string_view name, std::uint64_t value) {
        return parse_network_text("[" + section + "]\n" + std::string(name) + " = " + std::to_string(value),
                                  "network.toml");
    };
    std::size_t taken = 0;
    for (const auto& row : contracts::param_ranges()) {
        for (const std::uint64_t value : {row.minimum, row.maximum}) {
            INFO(row.name << " = " << value);
            const auto parsed = set("parameters", row.name, value);
            contracts::Params expected;
            row.set(expected, value);
            // An end of one range may not go with the default of another parameter: the rules' own check says
            // so.
            CHECK(parsed.ok() == !contracts::check_params(expected).has_value());
            if (!parsed.ok()) continue;
            CHECK(parsed->params == expected);
            ++taken;
        }
    }
    CHECK(taken > contracts::param_ranges().size());
    for (const auto& row : contracts::market_param_ranges()) {
        INFO(row.name);
        contracts::MarketParams expected;
        row.set(expected, row.maximum);
        const auto parsed = set("market", row.name, row.maximum);
        CHECK(parsed.ok() == !contracts::check_market_params(expected).has_value());
        if (parsed.ok()) CHECK(parsed->market == expected);
    }
}

TEST_CASE("a network file gives owners money in ASY or base units") {
    const auto parsed = parse_network_text(
        "[balances]\n" + kOneOwner + " = \"12.5\"\n\"" + kOtherOwner + "\" = \"7u\"\n", "network.toml");
    REQUIRE(parsed.ok());
    REQUIRE(parsed->balances.size() == 2);
    for (const auto& [owner, amount] : parsed->balances)
        CHECK(amount.units() == (owner.hex() == kOneOwner ? 12'500'000U : 7U));
}

TEST_CASE("a network file with an unknown name is refused at its line, with the name that was meant") {
    const base::Error meant = refused_network("[parameters]\n\nclaim_windov = 5\n");
    CHECK(says(meant.what, "network.toml:3: unknown key in [parameters] \"claim_windov\""));
    CHECK(says(meant.fix, "claim_window"));
    CHECK(says(refused_network("[market]\nclaim_window = 300000\n").what, "unknown key in [market]"));
    CHECK(says(refused_network("[parameter]\n").fix, "parameters"));
    CHECK(says(refused_network("claim_window = 5\n").what, "unknown key \"claim_window\""));
    CHECK(says(refused_network("parameters = 5\n").what, "is not a section"));
}

TEST_CASE("a network file's values are of the right type and inside their ranges, and go together") {
    CHECK(says(refused_network("[parameters]\nmax_missed = \"2\"\n").what, "wrong type"));
    CHECK(says(refused_network("[parameters]\nmax_missed = 2.0\n").what, "wrong type"));
    const base::Error above = refused_network("[parameters]\nmax_missed = 1001\n");
    CHECK(says(above.what, "parameters.max_missed = 1001 is out of range"));
    CHECK(says(above.fix, "from 1 to 1000"));
    CHECK(says(refused_network("[parameters]\nmax_missed = -1\n").what, "out of range"));
    CHECK(says(refused_network("[parameters]\nmax_missed = 0\n").what, "out of range"));
    CHECK(says(refused_network("[parameters]\nclaim_window = 299999\n").what,
               "[parameters]: claim_window below three times audit_seal_window"));
    CHECK(says(refused_network("[market]\nepoch = 600\n").what, "[market]: epoch not above both windows"));
}

TEST_CASE("a network file's balances are amounts in quotes, of owners' keys, each named once") {
    CHECK(says(refused_network("[balances]\nme = \"5\"\n").what, "'me' is not a public key"));
    CHECK(says(refused_network("[balances]\n" + std::string(64, 'A') + " = \"5\"\n").what,
               "is not a public key"));
    for (const std::string amount : {"5", "\"five\"", "\"-5\"", "\"0.0000001\"", "\"4000000000001\""})
        CHECK(
            says(refused_network("[balances]\n" + kOneOwner + " = " + amount + "\n").what, "not an amount"));
    const std::string line = kOneOwner + " = \"5\"\n";
    CHECK(says(refused_network("[balances]\n" + line + line).what, "not TOML"));
}

TEST_CASE("a network file that is missing or no TOML is refused, with the place") {
    CHECK(says(refused_network("[parameters\n").what, "network.toml:1: not TOML"));
    CHECK(says(refused_network(std::string("\0\xff", 2)).what, "not TOML"));
    const test::TemporaryFolder folder;
    CHECK(read_network_file(folder / "none.toml").error().kind == base::ErrorKind::kNotFound);
}

}  // namespace assay::node
