// SPDX-License-Identifier: Apache-2.0
// The command line as scripts see it: exit codes, the shape of errors, help for every command.
#include <sstream>

#include "tests/node/cli/cli_fixture.hpp"
#include "tests/support/run_program.hpp"

namespace {

using assay::test::Cli;
using Run = assay::test::CliRun;

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

/// Help of a command and of all below it, in order, each under a line that names it.
void collect_help(const Cli& cli, const std::vector<std::string>& path, std::string& text, int& seen) {
    std::vector<std::string> words = path;
    words.emplace_back("--help");
    const Run help = cli(words);
    std::string usage = "Usage: assay";
    for (const std::string& word : path) usage += " " + word;
    INFO(usage << "\n" << help.err);
    CHECK(help.code == 0);
    CHECK(help.err.empty());
    CHECK(help.out.find(usage) != std::string::npos);
    text += "=== assay";
    for (const std::string& word : path) text += " " + word;
    text += "\n" + help.out + "\n";
    ++seen;
    for (const std::string& name : subcommands(help.out)) {
        std::vector<std::string> deeper = path;
        deeper.push_back(name);
        collect_help(cli, deeper, text, seen);
    }
}

/// Every command that runs something, as its words.
void collect_verbs(const Cli& cli, const std::vector<std::string>& path,
                   std::vector<std::vector<std::string>>& verbs) {
    std::vector<std::string> words = path;
    words.emplace_back("--help");
    const auto below = subcommands(cli(words).out);
    if (below.empty()) verbs.push_back(path);
    for (const std::string& name : below) {
        std::vector<std::string> deeper = path;
        deeper.push_back(name);
        collect_verbs(cli, deeper, verbs);
    }
}

}  // namespace

// To accept a change on purpose: ASSAY_UPDATE_GOLDEN=1 build/bin/test_cli "every command*"
TEST_CASE("every command explains itself in the words of golden/help.txt") {
    std::string text;
    int seen = 0;
    collect_help(Cli(), {}, text, seen);
    CHECK(seen > 40);
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    const auto golden = std::filesystem::path(source) / "tests/node/cli/golden/help.txt";
    if (std::getenv("ASSAY_UPDATE_GOLDEN") != nullptr) {
        std::filesystem::create_directories(golden.parent_path());
        std::ofstream(golden) << text;
    }
    std::ifstream stream(golden);
    const std::string accepted{std::istreambuf_iterator<char>(stream), {}};
    CHECK(text == accepted);
}

TEST_CASE("devnet up takes duties from 1 to 100 between commas, and nothing else") {
    const Cli cli;
    for (const std::string duty : {"8,,16", ",8", "8,", "0", "101", "8;16", "8 16", "-8", "half"}) {
        CAPTURE(duty);
        const Run run = cli({"devnet", "up", "--duty", duty});
        CHECK(run.code == 2);
        CHECK(run.err.find("fix: ") != std::string::npos);
    }
}

TEST_CASE("every command takes a node and the TLS files that it may ask for, all three or none") {
    const Cli cli;
    std::vector<std::vector<std::string>> verbs;
    collect_verbs(cli, {}, verbs);
    CHECK(verbs.size() > 40);
    for (std::vector<std::string> words : verbs) {
        words.insert(words.end(),
                     {"--node", "127.0.0.1:1", "--tls-cert", "cert.pem", "--tls-key", "key.pem"});
        const Run run = cli(words);
        INFO(words[0] << " " << words[1] << ": " << run.err);
        CHECK(run.code == 2);
        // Nothing runs with two of three; commands that lack an argument say that first.
        CHECK((run.err.find("--tls-cert, --tls-key and --tls-ca go together") != std::string::npos ||
               run.err.find("required") != std::string::npos));
        CHECK(run.err.find("unknown word") == std::string::npos);
    }
}

TEST_CASE("a wrong word is a usage error that names it") {
    const Cli cli;
    for (const auto& words :
         std::vector<std::vector<std::string>>{{},
                                               {"nonsense"},
                                               {"key"},
                                               {"key", "nonsense"},
                                               {"version", "--nonsense"},
                                               {"key", "new", "--role", "x"},
                                               {"bench"},
                                               {"bench", "comm", "--strategies", "x"},
                                               {"verifier", "run", "--announce", "x"},
                                               {"miner", "run", "--announce", "127.0.0.1:0"}}) {
        const Run run = cli(words);
        CHECK(run.code == 2);
        CHECK(run.out.empty());
        CHECK(run.err.find("error: ") == 0);
        CHECK(run.err.find("\n  fix: ") != std::string::npos);
    }
    CHECK(cli({"nonsense"}).err.find("nonsense") != std::string::npos);
}

TEST_CASE("a miner that accepts no connection has no port to listen on or to announce") {
    const Cli cli;
    for (const std::string flag : {"--listen", "--announce"}) {
        const Run run = cli({"miner", "run", "--outward", flag, "127.0.0.1:7000"});
        INFO(run.err);
        CHECK(run.code == 2);
        CHECK(run.err.find("--outward") != std::string::npos);
        CHECK(run.err.find(flag) != std::string::npos);
    }
    CHECK(cli({"verifier", "run", "--outward"}).code == 2);  // who is called must listen
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

TEST_CASE("--version prints what the command version prints, in either form") {
    const Cli cli;
    for (const char* form : {"table", "json"}) {
        const Run command = cli({"version", "-o", form});
        REQUIRE(command.code == 0);
        for (const auto& words :
             std::vector<std::vector<std::string>>{{"--version", "-o", form}, {"-o", form, "--version"}}) {
            const Run flag = cli(words);
            CHECK(flag.code == 0);
            CHECK(flag.out == command.out);
            CHECK(flag.err.empty());
        }
    }
    CHECK(cli({"--version", "-o", "colour"}).code == 2);
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

TEST_CASE("a key imported from a seed is the key that the seed makes, and no other text is a seed") {
    const Cli cli;
    const auto passphrase = cli.write("pass", "a passphrase\n").string();
    // RFC 8032, section 7.1, test 1.
    const auto seed =
        cli.write("seed", "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n").string();
    const Run imported = cli({"key", "import", "--role", "owner", "--seed-file", seed, "--interactive",
                              "--passphrase-file", passphrase, "-o", "json"});
    INFO(imported.err);
    REQUIRE(imported.code == 0);
    CHECK(imported.json().at("role") == "owner");
    CHECK(imported.json().at("public_key") ==
          "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    CHECK(cli({"key", "show", "--role", "owner", "-o", "json"}).json() == imported.json());
    const auto wrong = cli.write("wrong", "9D61\n").string();
    CHECK(cli({"key", "import", "--seed-file", wrong, "--passphrase-file", passphrase}).code == 5);
    CHECK(
        cli({"key", "import", "--seed-file", (cli.home() / "none").string(), "--passphrase-file", passphrase})
            .code == 3);
}

TEST_CASE("a seed that others can read, or that a link leads to, becomes no key") {
    const Cli cli;
    const auto passphrase = cli.write("pass", "a passphrase\n").string();
    const auto seed = cli.write("seed", std::string(64, 'a') + "\n");
    const auto import = [&](const std::filesystem::path& file) {
        return cli({"key", "import", "--seed-file", file.string(), "--interactive", "--passphrase-file",
                    passphrase});
    };
    std::filesystem::permissions(seed, std::filesystem::perms(0644));
    const Run open_to_all = import(seed);
    CHECK(open_to_all.code == 5);
    CHECK(open_to_all.err.find("the seed file " + seed.string() + " is open to group or others") !=
          std::string::npos);
    CHECK(open_to_all.err.find("chmod 600 " + seed.string()) != std::string::npos);
    std::filesystem::permissions(seed, std::filesystem::perms(0600));
    std::filesystem::create_symlink(seed, cli.home() / "link");
    CHECK(import(cli.home() / "link").code == 5);
    CHECK_FALSE(std::filesystem::exists(cli.home() / "keys" / "node.key"));
    CHECK(import(seed).code == 0);
}

TEST_CASE("bash completion completes nouns, verbs and flags") {
    const Cli cli;
    const Run run = cli({"completion", "bash"});
    REQUIRE(run.code == 0);
    const auto script = cli.write("completion.bash", run.out).string();
    const auto completed = [&](const std::string& words, int current) {
        const std::string command = "source " + script + "; COMP_WORDS=(" + words +
                                    "); COMP_CWORD=" + std::to_string(current) +
                                    "; _assay; echo \"${COMPREPLY[@]}\"";
        return assay::test::run_program("/bin/bash", {"-c", command}).out;
    };
    CHECK(completed("assay aud", 1) == "audit\n");
    CHECK(completed("assay audit re", 2) == "replay\n");
    CHECK(completed("assay --node h:1 model train --rec", 5) == "--record\n");
}
