// SPDX-License-Identifier: Apache-2.0
// Buyers and owners whose ledger node asks for certificates.
#include <sstream>

#include "node/cli/context.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/node/cli/served_chain.hpp"
#include "tests/node/rpc/certificates.hpp"

namespace assay::test {
namespace {

/// A job waits for asks for longer than these tests take.
contracts::Params patient() {
    contracts::Params params = contracts::test::short_windows();
    params.ask_commit_window = 6000;
    return params;
}

struct CertifiedChain {
    CertifiedChain() {
        job = env.post(contracts::test::small_job()).hex();
        chain.emplace(env, tls);
        buyer.emplace(*chain, env.person("buyer"));
    }
    [[nodiscard]] std::vector<std::string> with_files(std::vector<std::string> words) const {
        words.insert(words.end(), {"--tls-cert", tls.certificate.string(), "--tls-key", tls.key.string(),
                                   "--tls-ca", tls.ca.string()});
        return words;
    }

    TemporaryFolder folder;
    node::TlsFiles tls = make_certificates(folder, "network");
    contracts::test::Env env{patient()};
    std::string job;  ///< of the buyer
    std::optional<ServedChain> chain;
    std::optional<PersonHome> buyer;
};

CertifiedChain& stage() {
    static CertifiedChain made;
    return made;
}

}  // namespace

TEST_CASE("every command that asks a node reaches one with TLS by the three files, and says so without") {
    const CertifiedChain& s = stage();
    struct Asked {
        std::vector<std::string> words;
        int code;
    };
    for (const auto& [words, code] : std::vector<Asked>{{{"node", "status"}, 0},
                                                        {{"miner", "list"}, 0},
                                                        {{"miner", "status", "--key", "ab"}, 3},
                                                        {{"market", "show"}, 0},
                                                        {{"market", "history"}, 0},
                                                        {{"team", "list"}, 0},
                                                        {{"wallet", "show"}, 0},
                                                        {{"wallet", "report"}, 0},
                                                        {{"job", "list"}, 0},
                                                        {{"job", "show", "none"}, 3},
                                                        {{"job", "logs", "none"}, 3},
                                                        {{"job", "fetch", "none"}, 3},
                                                        {{"job", "resume", "none"}, 3},
                                                        {{"job", "topup", "none", "1"}, 3}}) {
        const CliRun reached = s.buyer->ask(s.with_files(words));
        INFO(words[0] << " " << words[1] << ": " << reached.err);
        CHECK(reached.code == code);
        const CliRun bare = s.buyer->ask(words);
        CHECK(bare.code == 4);
        CHECK(bare.err.find("--tls-cert, --tls-key, --tls-ca") != std::string::npos);
        std::vector<std::string> elsewhere = words;
        elsewhere.insert(elsewhere.end(), {"--node", "192.0.2.1:7420"});
        const CliRun off_loopback = s.buyer->cli()(elsewhere);
        CHECK(off_loopback.code == 2);
        CHECK(off_loopback.err.find("--tls-cert, --tls-key and --tls-ca") != std::string::npos);
    }
    // This one waits long for a node that does not answer.
    const CliRun fetched = s.buyer->ask(s.with_files({"ledger", "fetch", "--genesis", s.chain->genesis()}));
    INFO(fetched.err);
    CHECK(fetched.code == 0);
}

TEST_CASE("an owner signs and follows a job over TLS") {
    CertifiedChain& s = stage();
    const std::string other = s.env.person("other").owner_key().hex();
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"wallet", "send", other, "1u"},
             {"team", "grant", other, "--per-job", "1", "--per-day", "1", "--total", "1", "--day", "9"},
             {"verifier", "register", "--stake", "1"},
             {"job", "cancel", s.job}}) {
        const CliRun signed_over_tls = s.buyer->sign(s.with_files(words));
        INFO(words[0] << " " << words[1] << ": " << signed_over_tls.err);
        CHECK(signed_over_tls.code == 0);
    }
    const CliRun watched = s.buyer->ask(s.with_files({"job", "watch", s.job}));
    INFO(watched.err);
    CHECK(watched.code == 0);
    CHECK(watched.out.find("job_ended") != std::string::npos);
}

TEST_CASE("TLS files come from flags, else the environment, else assay.toml, whose paths begin at the home") {
    const CertifiedChain& s = stage();
    const Cli& cli = s.buyer->cli();
    std::filesystem::create_directory(cli.home() / "tls");
    for (const auto& [file, name] :
         {std::pair(s.tls.certificate, "cert"), std::pair(s.tls.key, "key"), std::pair(s.tls.ca, "ca")})
        std::filesystem::copy_file(file, cli.home() / "tls" / name);
    const auto settings =
        cli.write("assay.toml", "tls_cert = \"tls/cert\"\ntls_key = \"tls/key\"\ntls_ca = \"tls/ca\"\n");
    CHECK(s.buyer->ask({"wallet", "show"}).code == 0);
    ::setenv("ASSAY_TLS_CA", "/nowhere", 1);
    const CliRun no_authority = s.buyer->ask({"wallet", "show"});
    CHECK(no_authority.code == 5);
    CHECK(no_authority.err.find("/nowhere") != std::string::npos);
    CHECK(s.buyer->ask(s.with_files({"wallet", "show"})).code == 0);
    ::unsetenv("ASSAY_TLS_CA");
    std::filesystem::remove(settings);
    ::setenv("ASSAY_TLS_CERT", s.tls.certificate.c_str(), 1);
    const CliRun alone = s.buyer->ask({"wallet", "show"});
    CHECK(alone.code == 2);
    CHECK(alone.err.find("go together") != std::string::npos);
    ::unsetenv("ASSAY_TLS_CERT");
}

TEST_CASE("a process that a command starts asks the same node with the same files") {
    std::ostringstream out;
    node::Context context{out, out, {}, {}, {}};
    context.settings.node = "192.0.2.1:7420";
    CHECK(context.node_words() == std::vector<std::string>{"--node", "192.0.2.1:7420"});
    context.settings.tls = node::TlsFiles{.certificate = "c", .key = "k", .ca = "a"};
    CHECK(context.node_words() == std::vector<std::string>{"--node", "192.0.2.1:7420", "--tls-cert", "c",
                                                           "--tls-key", "k", "--tls-ca", "a"});
}

}  // namespace assay::test
