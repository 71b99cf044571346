// SPDX-License-Identifier: Apache-2.0
#include "node/cli/settings.hpp"

#include <toml++/toml.h>

#include <cstdlib>
#include <map>
#include <system_error>

namespace assay::node {
namespace {

using base::ErrorKind;
using base::Outcome;

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
            if (name != "node" && name != "output")
                return base::fail(ErrorKind::kUsage, place + ": unknown key '" + name + "'",
                                  "known keys: node, output");
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
    return settings;
}

OutputMode output_mode_hint(const SettingFlags& flags) {
    const std::string mode = flags.output.value_or(environment("ASSAY_OUTPUT").value_or("table"));
    return mode == "json" ? OutputMode::kJson : OutputMode::kTable;
}

}  // namespace assay::node
