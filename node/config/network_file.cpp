// SPDX-License-Identifier: Apache-2.0
#include "node/config/network_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <string>

#include "node/config/toml_errors.hpp"
#include "trainer/data/files.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;

// Balances of as many owners as a genesis takes, one a line.
constexpr std::uint64_t kMaxNetworkFile = std::uint64_t{16} << 20;
constexpr const char* kParametersPage = "docs/reference/parameters.md has every parameter and its range";

base::Failed<base::Error> no_section(const std::string& where, const std::string& name) {
    return base::fail(ErrorKind::kUsage, where + "\"" + name + "\" is not a section",
                      "write [" + name + "] on a line of its own and its keys below");
}

/// One section of parameters, by the rules' own table of them.
template <class Row, class Target>
base::Outcome<void> put_parameters(const toml::table& section, std::string_view file, const std::string& name,
                                   const std::vector<Row>& rows, Target& target) {
    std::vector<std::string> known;
    for (const Row& row : rows) known.emplace_back(row.name);
    for (const auto& [key, value] : section) {
        const toml::node& node = value;
        const std::string word(key.str());
        const std::string where = at_line(file, node.source());
        const auto row =
            std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return each.name == word; });
        if (row == rows.end()) return unknown_name(where, "key in [" + name + "]", word, known);
        const std::string path = name + "." + word;
        const std::string fix = "write " + path + " as a whole number from " + std::to_string(row->minimum) +
                                " to " + std::to_string(row->maximum);
        const auto number = node.value_exact<std::int64_t>();
        if (!number) return base::fail(ErrorKind::kUsage, where + path + " has the wrong type", fix);
        const bool inside = *number >= 0 && static_cast<std::uint64_t>(*number) >= row->minimum &&
                            static_cast<std::uint64_t>(*number) <= row->maximum;
        if (!inside) {
            return base::fail(ErrorKind::kUsage,
                              where + path + " = " + std::to_string(*number) + " is out of range", fix);
        }
        row->set(target, static_cast<std::uint64_t>(*number));
    }
    return {};
}

base::Outcome<void> put_balances(const toml::table& section, std::string_view file, NetworkFile& network) {
    for (const auto& [key, node] : section) {
        const std::string where = at_line(file, node.source());
        const auto owner = base::parse_public_key(key.str());
        if (!owner) {
            return base::fail(ErrorKind::kUsage,
                              where + "balances: '" + std::string(key.str()) + "' is not a public key",
                              "an owner's key is 64 hexadecimal digits in lower case: assay key show --role "
                              "owner");
        }
        const auto text = node.value<std::string_view>();
        const auto amount =
            node.is_string() && text ? base::parse_amount(*text) : std::optional<base::Amount>();
        if (!amount) {
            return base::fail(ErrorKind::kUsage,
                              where + "the balance of " + owner->brief() + " is not an amount",
                              "write ASY with at most six decimals (\"12.5\") or base units (\"12500000u\"), "
                              "in quotes");
        }
        network.balances.emplace_back(*owner, *amount);
    }
    return {};
}

/// What no range says: parameters that limit each other.
base::Outcome<void> check_together(const NetworkFile& network, std::string_view file) {
    std::optional<std::string> bad = contracts::check_params(network.params);
    std::string section = "parameters";
    if (!bad) {
        bad = contracts::check_market_params(network.market);
        section = "market";
    }
    if (!bad) return {};
    return base::fail(
        ErrorKind::kUsage, std::string(file) + ": [" + section + "]: " + *bad,
        "change one of them; what the file leaves out has its default, and " + std::string(kParametersPage));
}

base::Outcome<NetworkFile> network_from(const toml::table& root, std::string_view file) {
    static const std::vector<std::string> kSections = {"parameters", "market", "balances"};
    NetworkFile network;
    for (const auto& [section, node] : root) {
        const std::string name(section.str());
        const std::string where = at_line(file, node.source());
        if (std::find(kSections.begin(), kSections.end(), name) == kSections.end())
            return unknown_name(where, node.is_table() ? "section" : "key", name, kSections);
        const toml::table* table = node.as_table();
        if (table == nullptr) return no_section(where, name);
        if (name == "parameters") {
            ASSAY_TRY(put_parameters(*table, file, name, contracts::param_ranges(), network.params));
        } else if (name == "market") {
            ASSAY_TRY(put_parameters(*table, file, name, contracts::market_param_ranges(), network.market));
        } else {
            ASSAY_TRY(put_balances(*table, file, network));
        }
    }
    ASSAY_TRY(check_together(network, file));
    return network;
}

}  // namespace

base::Outcome<NetworkFile> parse_network_text(std::string_view toml, std::string_view name) {
    try {
        const toml::table root = toml::parse(toml, name);
        return network_from(root, name);
    } catch (const toml::parse_error& error) {
        return not_toml(
            name, error,
            "sections are [parameters], [market] and [balances]; " + std::string(kParametersPage));
    }
}

base::Outcome<NetworkFile> read_network_file(const std::filesystem::path& path) {
    ASSAY_ASSIGN(const base::Bytes file, trainer::read_file(path, kMaxNetworkFile));
    return parse_network_text(base::as_text(file), path.string());
}

}  // namespace assay::node
