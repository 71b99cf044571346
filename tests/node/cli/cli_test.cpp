// SPDX-License-Identifier: Apache-2.0
// The command line as scripts see it: exit codes, the shape of errors, help for every command.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "node/cli/cli.hpp"
#include "tests/support/catch.hpp"

namespace {

using assay::node::run_cli;

struct Run {
    int code = 0;
    std::string out;
    std::string err;
};

/// A home of its own for each test, removed afterwards.
class Cli {
public:
    Cli() {
        static int count = 0;
        home_ = std::filesystem::temp_directory_path() /
                ("assay-cli-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
        std::filesystem::create_directories(home_);
        std::filesystem::permissions(home_, std::filesystem::perms::owner_all);
        ::unsetenv("ASSAY_OUTPUT");
        ::unsetenv("ASSAY_NODE");
    }
    ~Cli() { std::filesystem::remove_all(home_); }

    Run operator()(std::vector<std::string> words) const {
        words.insert(words.begin(), {"--home", home_.string()});
        std::ostringstream out;
        std::ostringstream err;
        Run run;
        run.code = run_cli(words, out, err);
        run.out = out.str();
        run.err = err.str();
        return run;
    }
    [[nodiscard]] std::filesystem::path write(const std::string& name, const std::string& text) const {
        const auto path = home_ / name;
        std::ofstream(path) << text;
        std::filesystem::permissions(
            path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        return path;
    }

private:
    std::filesystem::path home_;
};

/// Words under "Subcommands:" of a help text.
std::vector<std::string> subcommands(const std::string& help) {
    std::vector<std::string> names;
    std::istringstream lines(help.substr(std::min(help.size(), help.find("Subcommands:"))));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line))
        if (line.size() > 2 && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
    return names;
}

void check_help(const Cli& cli, std::vector<std::string> path, int& seen) {
    std::vector<std::string> words = path;
    words.emplace_back("--help");
    const Run help = cli(words);
    INFO(help.err);
    CHECK(help.code == 0);
    CHECK(help.err.empty());
    std::string usage = "Usage: assay";
    for (const std::string& word : path) usage += " " + word;
    CHECK(help.out.find(usage) != std::string::npos);
    ++seen;
    for (const std::string& name : subcommands(help.out)) {
        std::vector<std::string> deeper = path;
        deeper.push_back(name);
        check_help(cli, deeper, seen);
    }
}

}  // namespace

TEST_CASE("every command explains itself") {
    int seen = 0;
    check_help(Cli(), {}, seen);
    CHECK(seen > 20);
}

TEST_CASE("a wrong word is a usage error that names it") {
    const Cli cli;
    for (const auto& words : std::vector<std::vector<std::string>>{{},
                                                                   {"nonsense"},
                                                                   {"key"},
                                                                   {"key", "nonsense"},
                                                                   {"version", "--nonsense"},
                                                                   {"key", "new", "--role", "x"}}) {
        const Run run = cli(words);
        CHECK(run.code == 2);
        CHECK(run.out.empty());
        CHECK(run.err.find("error: ") == 0);
        CHECK(run.err.find("\n  fix: ") != std::string::npos);
    }
    CHECK(cli({"nonsense"}).err.find("nonsense") != std::string::npos);
}

TEST_CASE("an error in JSON mode is one object with code, kind, message and fix") {
    const Run run = Cli()({"key", "show", "-o", "json"});
    CHECK(run.code == 3);
    const auto object = nlohmann::json::parse(run.err);
    CHECK(object.at("schema") == "assay.error/v1");
    CHECK(object.at("error").at("code") == 3);
    CHECK(object.at("error").at("kind") == "not-found");
    CHECK_FALSE(object.at("error").at("message").get<std::string>().empty());
    CHECK_FALSE(object.at("error").at("fix").get<std::string>().empty());
}

TEST_CASE("a key is made once, shown without its passphrase, and never overwritten") {
    const Cli cli;
    const auto passphrase = cli.write("pass", "a passphrase\n").string();
    const std::vector<std::string> make = {"key",      "new", "--interactive", "--passphrase-file",
                                           passphrase, "-o",  "json"};
    const Run made = cli(make);
    INFO(made.err);
    REQUIRE(made.code == 0);
    const auto key = nlohmann::json::parse(made.out);
    CHECK(key.at("schema") == "assay.key/v1");
    const auto shown = nlohmann::json::parse(cli({"key", "show", "-o", "json"}).out);
    CHECK(shown.at("public_key") == key.at("public_key"));
    const Run again = cli(make);
    CHECK(again.code == 5);
    CHECK(nlohmann::json::parse(cli({"key", "show", "-o", "json"}).out).at("public_key") ==
          key.at("public_key"));
}

TEST_CASE("a node that does not answer is exit code 4") {
    CHECK(Cli()({"job", "list", "--node", "127.0.0.1:1"}).code == 4);
}

TEST_CASE("an unknown setting is an error, and a flag wins over the file") {
    const Cli cli;
    const auto settings = cli.write("assay.toml", "output = \"json\"\n");
    CHECK(nlohmann::json::parse(cli({"version"}).out).at("schema") == "assay.version/v1");
    CHECK(cli({"version", "-o", "table"}).out.find("assay ") == 0);
    (void)cli.write("assay.toml", "colour = true\n");
    const Run run = cli({"version"});
    CHECK(run.code == 2);
    CHECK(run.err.find("colour") != std::string::npos);
}

TEST_CASE("text that is empty or binary is refused before anything is written") {
    const Cli cli;
    const auto empty = cli.write("empty.txt", "");
    const auto binary = cli.write("binary.txt", std::string(20000, '\xff'));
    for (const auto& text : {empty, binary}) {
        const auto out = text.parent_path() / "out";
        CHECK(cli({"data", "pack", text.string(), "--out", out.string()}).code == 2);
        CHECK_FALSE(std::filesystem::exists(out / "manifest.json"));
    }
}
