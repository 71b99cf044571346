// SPDX-License-Identifier: Apache-2.0
// Gives tests of processes the built program, run as Alice beside a ledger node.
#pragma once

#include <chrono>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/runtime/process.hpp"
#include "tests/node/processes/site.hpp"

namespace assay::node::test_site {

inline std::string content_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What a program is started with beside its words.
struct ProgramPlace {
    std::string node = {};  ///< address; empty: the site's
    std::vector<std::pair<std::string, std::string>> environment = {};
};

/// `assay WORDS` as Alice, with her home, passphrase and genesis.
struct AliceProgram {
    AliceProgram(const Site& site, std::vector<std::string> words, ProgramPlace place = {}) {
        const char* bin = std::getenv("ASSAY_BIN_DIR");
        ProcessOptions options;
        options.program = std::filesystem::path(bin == nullptr ? "." : bin) / "assay";
        options.arguments = std::move(words);
        options.arguments.insert(options.arguments.end(),
                                 {"--home", site.home.root.string(), "--node",
                                  place.node.empty() ? site.node->address() : place.node, "--genesis",
                                  site.genesis, "--passphrase-file", (site.folder / "words").string()});
        options.environment = std::move(place.environment);
        options.environment.emplace_back("ASSAY_THREADS", "1");
        options.stdout_file = folder / "out";
        options.stderr_file = folder / "err";
        process.emplace(Process::spawn(options).value());
    }
    [[nodiscard]] std::string said() const { return content_of(folder / "out") + content_of(folder / "err"); }
    [[nodiscard]] bool says(const std::string& words) const {
        return said().find(words) != std::string::npos;
    }
    /// How it ended by itself.
    int code() {
        const auto ended = process->wait(std::chrono::seconds(300));
        INFO(said());
        REQUIRE(ended.has_value());
        REQUIRE(ended->signal == 0);
        return ended->code;
    }

    assay::test::TemporaryFolder folder;
    std::optional<Process> process;
};

}  // namespace assay::node::test_site
