// SPDX-License-Identifier: Apache-2.0
#include "node/cli/settings.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <system_error>

namespace assay::node {
namespace {

using base::ErrorKind;
using base::Outcome;

constexpr std::array<std::string_view, 5> kKeys = {"node", "output", "tls_cert", "tls_key", "tls_ca"};

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
}

Outcome<std::map<std::string, std::string>> read_settings_file(const std::filesystem::path& path) {
    std::map<std::string, std::string> values;
    std::error_code missing;
    if (!std::filesystem::is_regular_file(path, missing)) return values;
    try {
        const toml::table table = toml::parse_file(path.string());
        for (const auto& [key, node] : table) {
            const std::string name{key.str()};
            const std::string place = path.string() + ":" + std::to_string(node.source().begin.line);
            if (std::find(kKeys.begin(), kKeys.end(), name) == kKeys.end())
                return base::fail(ErrorKind::kUsage, place + ": unknown key '" + name + "'",
                                  "known keys: node, output, tls_cert, tls_key, tls_ca");
            const auto text = node.value<std::string>();
            if (!node.is_string() || !text)
                return base::fail(ErrorKind::kUsage, place + ": '" + name + "' must be a text",
                                  "write " + name + " = \"…\"");
            values[name] = *text;
        }
    } catch (const toml::parse_error& error) {
        return base::fail(ErrorKind::kUsage,
                          path.string() + ":" + std::to_string(error.source().begin.line) + ": " +
                              std::string(error.description()),
                          "correct the line, or remove the file");
    }
    return values;
}

/// The first that is there; `fallback` when none is.
std::string first_of(const std::optional<std::string>& flag, const char* variable,
                     const std::map<std::string, std::string>& file, const std::string& key,
                     std::string_view fallback) {
    if (flag) return *flag;
    if (auto value = environment(variable)) return *value;
    if (const auto found = file.find(key); found != file.end()) return found->second;
    return std::string(fallback);
}

/// A path of the settings file begins at the home, wherever the program is started.
Outcome<std::optional<TlsFiles>> tls_files(const SettingFlags& flags, const Home& home,
                                           std::map<std::string, std::string> file) {
    for (const char* key : {"tls_cert", "tls_key", "tls_ca"}) {
        if (const auto found = file.find(key); found != file.end() && !found->second.empty())
            found->second = (home.root / found->second).string();
    }
    const TlsFiles files{
        .certificate = first_of(flags.tls_certificate, "ASSAY_TLS_CERT", file, "tls_cert", ""),
        .key = first_of(flags.tls_key, "ASSAY_TLS_KEY", file, "tls_key", ""),
        .ca = first_of(flags.tls_ca, "ASSAY_TLS_CA", file, "tls_ca", "")};
    const int given =
        (files.certificate.empty() ? 0 : 1) + (files.key.empty() ? 0 : 1) + (files.ca.empty() ? 0 : 1);
    if (given == 0) return std::optional<TlsFiles>{};
    if (given == 3) return std::optional(files);
    return base::fail(ErrorKind::kUsage, "--tls-cert, --tls-key and --tls-ca go together",
                      "give all three (as flags, as ASSAY_TLS_CERT, ASSAY_TLS_KEY and ASSAY_TLS_CA, or in " +
                          home.config().string() + "), or none on loopback");
}

}  // namespace

Outcome<Settings> resolve_settings(const SettingFlags& flags) {
    std::optional<std::filesystem::path> home;
    if (flags.home) home = *flags.home;
    Settings settings;
    ASSAY_ASSIGN(settings.home, find_home(home));
    ASSAY_ASSIGN(const auto file, read_settings_file(settings.home.config()));
    settings.node = first_of(flags.node, "ASSAY_NODE", file, "node", kDefaultNodeAddress);
    const std::string output = first_of(flags.output, "ASSAY_OUTPUT", file, "output", "table");
    if (output != "table" && output != "json" && output != "csv")
        return base::fail(ErrorKind::kUsage, "unknown output mode '" + output + "'",
                          "use table, json or, where a command has it, csv");
    settings.output = output == "json"  ? OutputMode::kJson
                      : output == "csv" ? OutputMode::kCsv
                                        : OutputMode::kTable;
    ASSAY_ASSIGN(settings.tls, tls_files(flags, settings.home, file));
    return settings;
}

OutputMode output_mode_hint(const SettingFlags& flags) {
    const std::string mode = flags.output.value_or(environment("ASSAY_OUTPUT").value_or("table"));
    return mode == "json" ? OutputMode::kJson : OutputMode::kTable;
}

}  // namespace assay::node
