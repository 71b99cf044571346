// SPDX-License-Identifier: Apache-2.0
// The command line as a function, on a home of its own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "node/cli/cli.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::test {

struct CliRun {
    int code = 0;
    std::string out;
    std::string err;
    [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

class Cli {
public:
    Cli() {
        std::filesystem::permissions(home_.path(), std::filesystem::perms::owner_all);
        for (const char* setting :
             {"ASSAY_OUTPUT", "ASSAY_NODE", "ASSAY_TLS_CERT", "ASSAY_TLS_KEY", "ASSAY_TLS_CA"})
            ::unsetenv(setting);
    }

    [[nodiscard]] const std::filesystem::path& home() const { return home_.path(); }

    CliRun operator()(std::vector<std::string> words) const {
        words.insert(words.begin(), {"--home", home().string()});
        return at(words);
    }
    /// Without --home: the words say it.
    static CliRun at(const std::vector<std::string>& words) {
        std::ostringstream out;
        std::ostringstream err;
        CliRun run;
        run.code = node::run_cli(words, out, err);
        run.out = out.str();
        run.err = err.str();
        return run;
    }
    /// A file in the home that only its owner reads.
    [[nodiscard]] std::filesystem::path write(const std::string& name, const std::string& text) const {
        const auto path = home_ / name;
        std::ofstream(path) << text;
        std::filesystem::permissions(
            path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        return path;
    }

private:
    TemporaryFolder home_;
};

inline std::set<std::string> keys_of(const nlohmann::json& object) {
    std::set<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.insert(key);
    return keys;
}

}  // namespace assay::test
