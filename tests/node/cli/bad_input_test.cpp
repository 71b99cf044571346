// SPDX-License-Identifier: Apache-2.0
// Bad input, as a person gives it to the built program: the exit code of docs/reference/exit-codes.md, a
// sentence that names what is wrong, a fix, and nothing changed on disk.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "contracts/base/hash.hpp"
#include "contracts/rules/state/reasons.hpp"
#include "node/blob/blob_store.hpp"
#include "node/devnet/plan.hpp"
#include "node/rpc/client.hpp"
#include "node/runtime/process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

fs::path write_file(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    return path;
}

void flip_byte(const fs::path& path, std::size_t from_end) {
    std::string text = content_of(path);
    REQUIRE(text.size() >= from_end);
    text[text.size() - from_end] = static_cast<char>(text[text.size() - from_end] ^ 0x10);
    write_file(path, text);
}

// Every file with its content's hash. Left out: the index, which is rebuilt from the block log whenever it is
// in doubt, and the lock files that say who is using a home.
std::map<std::string, std::string> listing(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string path = entry.path().string();
        if (path.find("/index") != std::string::npos || path.ends_with("lock")) continue;
        files[path] = entry.is_regular_file()
                          ? base::hash("test/file", base::as_bytes(content_of(entry.path()))).hex()
                          : "folder";
    }
    return files;
}

struct Run {
    int code = -1;
    std::string err;
};

ProcessOptions command(const Words& words, const fs::path& err, Environment environment = {}) {
    ProcessOptions options;
    const char* bin = std::getenv("ASSAY_BIN_DIR");
    options.program = fs::path(bin == nullptr ? "." : bin) / "assay";
    options.arguments = words;
    environment.insert({{"ASSAY_THREADS", "1"}, {"ASSAY_HOME", "/nonexistent"}});  // unless they are there
    options.environment.assign(environment.begin(), environment.end());
    options.stdout_file = err.string() + ".out";
    options.stderr_file = err;
    return options;
}

Run run(const Words& words, const Environment& environment = {}) {
    const test::TemporaryFolder folder;
    auto process = Process::spawn(command(words, folder / "err", environment)).value();
    const auto ended = process.wait(120s);
    if (!ended) return {-1, "still running after 120 s: " + content_of(folder / "err")};
    return {ended->signal != 0 ? 128 + ended->signal : ended->code, content_of(folder / "err")};
}

constexpr const char* kJob = R"([job]
name = "tiny"
slots = 2
rounds = 1
seed = 5
[model]
layers = 1
width = 16
heads = 2
context = 16
vocabulary = 300
[data]
manifest = "data/manifest.json"
[train]
inner_steps = 2
batch = 1
learning_rate = 0.003
[market]
max_price = "1000u"
budget = "5000000u"
deadline = 1000
[security]
q = 0.25
segment_steps = 2
)";

// A network's files without its processes, packed data, and one ledger node that runs.
class CliSite {
public:
    static CliSite& get() {
        static CliSite site;
        return site;
    }

    fs::path root() const { return folder_.path(); }
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
    const std::string& node() const { return node_; }
    const Devnet& net() const { return *net_; }
    Words buyer(Words words) const {
        words.insert(words.end(), {"--home", net_->buyer.home.root.string(), "--node", node_});
        return words;
    }

    /// job.toml with one text in place of another.
    std::string job(const std::string& name, const std::string& from, const std::string& to) const {
        std::string text = kJob;
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
        return write_file(root() / name, text).string();
    }

private:
    CliSite() {
        DevnetPlan plan;
        plan.home = folder_ / "net";
        plan.verifiers = 0;
        net_ = create_devnet(plan).value();
        std::string words;
        for (int i = 0; i < 3000; ++i)
            words += "the " + std::to_string(i * 7919 % 1000) + " words of a text\n";
        write_file(root() / "text.txt", words);
        const Run packed =
            run({"data", "pack", path("text.txt"), "--out", path("data"), "--vocabulary", "300"});
        INFO(packed.err);
        REQUIRE(packed.code == 0);
        write_file(root() / "job.toml", kJob);
        process_ = Process::spawn(command({"node", "run", "--home", path("net"), "--listen", "127.0.0.1:0",
                                           "--passphrase-file", net_->passphrase.string()},
                                          root() / "node.log"))
                       .value();
        for (int i = 0; i < 1000 && node_.empty(); ++i) {
            std::ifstream(root() / "net/node.address") >> node_;
            std::this_thread::sleep_for(10ms);
        }
        REQUIRE(wait_until_healthy({.address = node_}, 60s).ok());
        const Run sent = run(buyer({"wallet", "send", net_->sequencer.owner.hex(), "1", "--passphrase-file",
                                    net_->passphrase.string()}));
        INFO(sent.err);
        REQUIRE(sent.code == 0);
    }

    test::TemporaryFolder folder_;
    std::optional<Devnet> net_;
    std::optional<Process> process_;
    std::string node_;
};

struct InputCase {
    const char* name;
    int code;
    const char* said;  ///< part of what stderr must say
    Words words;
    Environment environment = {};
};

void check(const std::vector<InputCase>& cases) {
    const fs::path root = CliSite::get().root();
    for (const InputCase& one : cases) {
        const auto before = listing(root);
        const Run ended = run(one.words, one.environment);
        INFO(one.name << "\nsaid: " << ended.err);
        CHECK(ended.code == one.code);
        CHECK(ended.err.find(one.said) != std::string::npos);
        CHECK(ended.err.find("error: ") != std::string::npos);
        CHECK(ended.err.find("fix: ") != std::string::npos);
        CHECK(listing(root) == before);
    }
}

}  // namespace

TEST_CASE("a bad job file is refused by the key that is wrong") {
    const CliSite& site = CliSite::get();
    const auto plan = [](const std::string& file) { return Words{"plan", file}; };
    // One head of an exact product is one block, and a block is at most 16,384 long.
    const std::string wide = site.job("wide", "width = 16\nheads = 2", "width = 16386\nheads = 1");
    const std::string wide_exact =
        write_file(site.root() / "wide-exact", "[job]\nprofile = \"i16\"" + content_of(wide).substr(5))
            .string();
    REQUIRE(run(plan(wide)).err.find("model.heads") == std::string::npos);
    const std::string binary =
        write_file(site.root() / "binary.toml", std::string("\0\x01\xFF\xFE", 4)).string();
    const std::string empty = write_file(site.root() / "empty.toml", "").string();
    check({
        {"unknown key", 2, "roundz", plan(site.job("j1", "rounds = 1", "roundz = 1"))},
        {"unknown section", 2, "markt", plan(site.job("j2", "[market]", "[markt]"))},
        {"text for a number", 2, "rounds", plan(site.job("j3", "rounds = 1", "rounds = \"one\""))},
        {"number for a text", 2, "max_price", plan(site.job("j4", "\"1000u\"", "1000"))},
        {"fraction for a whole number", 2, "slots", plan(site.job("j5", "slots = 2", "slots = 1.5"))},
        {"negative price", 2, "max_price", plan(site.job("j6", "\"1000u\"", "\"-1u\""))},
        {"price that is no amount", 2, "max_price", plan(site.job("j7", "\"1000u\"", "\"cheap\""))},
        {"price beyond all money", 2, "max_price",
         plan(site.job("j8", "\"1000u\"", "\"99999999999999999999u\""))},
        {"no budget at all", 2, "budget", plan(site.job("j9", "\"5000000u\"", "\"0u\""))},
        {"budget below one round", 2, "budget", plan(site.job("j10", "\"5000000u\"", "\"1u\""))},
        {"no rounds", 2, "rounds", plan(site.job("j11", "rounds = 1", "rounds = 0"))},
        {"rate not a number", 2, "learning_rate", plan(site.job("j12", "0.003", "nan"))},
        {"heads that do not divide the width", 2, "heads", plan(site.job("j13", "heads = 2", "heads = 3"))},
        {"a head beyond the bound of an exact product", 2, "model.heads", plan(wide_exact)},
        {"the bound itself", 2, "16384", plan(wide_exact)},
        {"vocabulary that the data does not have", 2, "vocabulary",
         plan(site.job("j14", "vocabulary = 300", "vocabulary = 301"))},
        {"not TOML", 2, "j15", plan(site.job("j15", "[job]", "[job"))},
        {"binary job file", 2, "binary.toml", plan(binary)},
        {"empty job file", 2, "empty.toml", plan(empty)},
        {"missing job file", 3, "no-such.toml", plan(site.path("no-such.toml"))},
        {"manifest that is not there", 3, "nowhere",
         plan(site.job("j16", "data/manifest", "nowhere/manifest"))},
    });
}

TEST_CASE("text that cannot be packed is refused and nothing is written") {
    const CliSite& site = CliSite::get();
    const auto pack = [&](const std::string& name) {
        return Words{"data", "pack", site.path(name), "--out", site.path("packed"), "--vocabulary", "300"};
    };
    write_file(site.root() / "empty.txt", "");
    write_file(site.root() / "binary.txt", std::string(9000, '\xff'));
    write_file(site.root() / "nul.txt", "text with a " + std::string(1, '\0') + " in it\n");
    write_file(site.root() / "short.txt", "too short\n");
    write_file(site.root() / "bad.jsonl", "{\"text\": 5}\n");
    check({
        {"empty", 2, "empty.txt", pack("empty.txt")},
        {"binary", 2, "binary.txt", pack("binary.txt")},
        {"NUL bytes", 2, "nul.txt", pack("nul.txt")},
        {"too short for a vocabulary", 2, "", pack("short.txt")},
        {"JSONL without text", 2, "bad.jsonl", pack("bad.jsonl")},
        {"missing", 3, "no-such.txt", pack("no-such.txt")},
    });
}

TEST_CASE("a key that cannot be opened stops the command before the ledger hears of it") {
    const CliSite& site = CliSite::get();
    const fs::path key = site.net().buyer.home.owner_key();
    const std::string to = site.net().sequencer.owner.hex();
    const auto send = [&](const std::string& passphrase) {
        return site.buyer({"wallet", "send", to, "1", "--passphrase-file", passphrase});
    };
    const std::string good = site.net().passphrase.string();
    const std::string wrong = write_file(site.root() / "wrong", "not the passphrase\n").string();
    const std::string open = write_file(site.root() / "open", "anything\n").string();
    fs::permissions(open, fs::perms::others_read, fs::perm_options::add);
    check({
        {"wrong passphrase", 5, "passphrase", send(wrong)},
        {"passphrase file that others can read", 5, "open", send(open)},
        {"passphrase file that is missing", 3, "no-such", send(site.path("no-such"))},
        {"a receiver that is no key", 2, "public key",
         site.buyer({"wallet", "send", "bob", "1", "--passphrase-file", good})},
        {"an amount that is none", 2, "amount",
         site.buyer({"wallet", "send", to, "1.2.3", "--passphrase-file", good})},
        {"more than there is", 6, "balance",
         site.buyer({"wallet", "send", to, "999999999", "--passphrase-file", good})},
    });
    const std::string kept = content_of(key);
    fs::permissions(key, fs::perms::group_read | fs::perms::others_read, fs::perm_options::add);
    check({{"key file that others can read", 5, "owner.key", send(good)}});
    write_file(key, kept.substr(0, kept.size() / 2));
    check({{"key file cut short", 5, "owner.key", send(good)}});
    write_file(key, "this is no key");
    check({{"key file of another kind", 5, "owner.key", send(good)}});
    fs::remove(key);
    check({{"key file missing", 3, "owner.key", send(good)}});
    write_file(key, kept);
    REQUIRE(run(send(good)).code == 0);
}

TEST_CASE("a job that the ledger refuses for good ends its command with the reason's number and sentence") {
    const CliSite& site = CliSite::get();
    const std::string genesis = (site.net().sequencer.home.ledger() / "genesis.bin").string();
    const auto submit = [&](const std::string& file) {
        return site.buyer({"job", "submit", file, "--genesis", genesis, "--passphrase-file",
                           site.net().passphrase.string(), "-o", "json"});
    };
    const std::vector<std::pair<std::string, contracts::Reason>> cases{
        {site.job("greedy", "\"5000000u\"", "\"999999999\""), contracts::Reason::kInsufficientBalance},
        {site.job("stingy", "\"5000000u\"", "\"1u\""), contracts::Reason::kBudgetTooSmall},
    };
    for (const auto& [file, reason] : cases) {
        const Run ended = run(submit(file));
        INFO(ended.err);
        CHECK(ended.code == 6);
        CHECK(ended.err.find("\"reason\":{\"number\":" + std::to_string(static_cast<int>(reason)) +
                             ",\"name\":\"" + std::string(to_text(reason)) + "\"}") != std::string::npos);
        CHECK(ended.err.find(contracts::explain(reason)) != std::string::npos);
    }
}

TEST_CASE("a ledger node that cannot serve says why") {
    const CliSite& site = CliSite::get();
    const Devnet& net = site.net();
    const std::string pass = net.passphrase.string();
    const std::string genesis = (net.sequencer.home.ledger() / "genesis.bin").string();
    // A home with the sequencer's key and no ledger yet; the folders that a home has are there.
    const Home other{site.root() / "other"};
    REQUIRE(create_home(other).ok());
    fs::copy_file(net.sequencer.home.node_key(), other.node_key());
    const auto start = [&](const Home& home, const Words& more) {
        Words words{"node", "run", "--home", home.root.string(), "--passphrase-file", pass};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    const std::string broken = write_file(site.root() / "broken.bin", content_of(genesis)).string();
    flip_byte(broken, 40);
    check({
        {"missing genesis", 3, "genesis", start(other, {"--listen", "127.0.0.1:0"})},
        {"damaged genesis", 7, "genesis", start(other, {"--listen", "127.0.0.1:0", "--genesis", broken})},
        {"home in use", 1, "in use", start(net.sequencer.home, {"--listen", "127.0.0.1:0"})},
        {"certificate without key", 2, "--tls",
         start(other, {"--listen", "127.0.0.1:0", "--tls-cert", genesis})},
    });
    fs::copy_file(genesis, other.ledger() / "genesis.bin");
    write_file(other.ledger() / "blocks.log", content_of(net.sequencer.home.ledger() / "blocks.log"));
    check({
        {"port taken", 1, "taken", start(other, {"--listen", site.node()})},
        {"address of the world without TLS", 2, "TLS", start(other, {"--listen", "0.0.0.0:0"})},
        {"address that is none", 2, "host", start(other, {"--listen", "everywhere"})},
    });
    const Home stranger{site.root() / "stranger"};
    REQUIRE(create_home(stranger).ok());
    fs::copy_file(net.buyer.home.node_key(), stranger.node_key());
    fs::copy_file(genesis, stranger.ledger() / "genesis.bin");
    fs::copy_file(other.ledger() / "blocks.log", stranger.ledger() / "blocks.log");
    check({{"key of somebody else", 5, "sequencer", start(stranger, {"--listen", "127.0.0.1:0"})}});
}

TEST_CASE("a flipped byte in the block log is found by the audit and by the node, which leave it as it is") {
    const CliSite& site = CliSite::get();
    const Devnet& net = site.net();
    const Home damaged{site.root() / "damaged"};
    REQUIRE(create_home(damaged).ok());
    fs::copy_file(net.sequencer.home.node_key(), damaged.node_key());
    fs::copy_file(net.sequencer.home.ledger() / "genesis.bin", damaged.ledger() / "genesis.bin");
    const std::string log = content_of(net.sequencer.home.ledger() / "blocks.log");
    REQUIRE(log.size() > 300);
    for (const std::size_t from_end : {log.size(), log.size() / 2, std::size_t{100}}) {
        write_file(damaged.ledger() / "blocks.log", log);
        flip_byte(damaged.ledger() / "blocks.log", from_end);
        check({{"audit of a damaged ledger", 7, "", {"audit", "ledger", "--home", damaged.root.string()}},
               {"node on a damaged ledger",
                7,
                "",
                {"node", "run", "--home", damaged.root.string(), "--listen", "127.0.0.1:0",
                 "--passphrase-file", net.passphrase.string()}}});
    }
    check({{"audit of nothing", 3, "ledger", {"audit", "ledger", "--home", site.path("data")}}});
}

TEST_CASE("nobody at the address is unreachable, for questions and for roles alike") {
    const CliSite& site = CliSite::get();
    const std::string home = site.net().buyer.home.root.string();
    const std::string pass = site.net().passphrase.string();
    const std::string genesis = (site.net().sequencer.home.ledger() / "genesis.bin").string();
    const auto role = [&](const std::string& noun, const std::string& node) {
        return Words{noun, "run", "--home", home, "--node", node, "--genesis", genesis, "--passphrase-file",
                     pass};
    };
    const auto submit = [&](const std::string& node, const std::string& file) {
        return Words{"job",       "submit", site.path(file),     "--home", home, "--node", node,
                     "--genesis", genesis,  "--passphrase-file", pass};
    };
    (void)site.job("bad-job", "rounds = 1", "roundz = 1");
    REQUIRE(create_home(site.net().buyer.home).ok());
    fs::create_directories(site.net().buyer.home.ledger());
    fs::copy_file(genesis, site.net().buyer.home.ledger() / "genesis.bin", fs::copy_options::skip_existing);
    REQUIRE(BlobStore::open({.folder = site.net().buyer.home.blobs(), .free_bytes_min = 0}).ok());
    check({
        {"question", 4, "127.0.0.1:1", {"job", "list", "--home", home, "--node", "127.0.0.1:1"}},
        {"money", 4, "127.0.0.1:1", {"wallet", "show", "--home", home, "--node", "127.0.0.1:1"}},
        // A role gives a node that is just starting 15 s.
        {"miner", 4, "127.0.0.1:1", role("miner", "127.0.0.1:1")},
        {"buyer with a bad job", 2, "roundz", submit(site.node(), "bad-job")},
        {"an address that is none", 2, "nonsense", {"job", "list", "--home", home, "--node", "nonsense"}},
        {"a job that is none", 3, "no-such-job", site.buyer({"job", "show", "no-such-job"})},
    });
}

TEST_CASE("threads, memory and kernels of the environment are judged before anything is trained") {
    const CliSite& site = CliSite::get();
    const Words train{"model", "train", site.path("job.toml"), "--out", site.path("never")};
#ifdef __aarch64__
    const char* absent = "avx2";
#else
    const char* absent = "neon";
#endif
    check({
        {"a word that is no target", 2, "avx9", train, {{"ASSAY_TARGETS", "avx9"}}},
        {"a target and a word that is none", 2, "avx9", train, {{"ASSAY_TARGETS", "scalar,avx9"}}},
        {"an instruction set that this machine lacks", 8, absent, train, {{"ASSAY_TARGETS", absent}}},
        {"what it has instead", 8, "fix: use some of: ", train, {{"ASSAY_TARGETS", absent}}},
        {"threads that are no number", 2, "ASSAY_THREADS", train, {{"ASSAY_THREADS", "x"}}},
        {"no thread at all", 2, "fix: use a number from 1 to 256", train, {{"ASSAY_THREADS", "0"}}},
        {"memory that is no amount", 2, "ASSAY_MEMORY", train, {{"ASSAY_MEMORY", "much"}}},
        {"memory that holds no sequence", 8, "fix: give at least ", train, {{"ASSAY_MEMORY", "64KiB"}}},
        {"a job measured without the target that is asked for",
         8,
         absent,
         {"plan", site.path("job.toml"), "--measure"},
         {{"ASSAY_TARGETS", absent}}},
    });
}

TEST_CASE("an unknown, wrongly typed or broken configuration is refused by name") {
    const CliSite& site = CliSite::get();
    const fs::path home = site.root() / "configured";
    fs::create_directories(home);
    const auto with = [&](const std::string& text) {
        write_file(home / "assay.toml", text);
        return Words{"version", "--home", home.string()};
    };
    check({{"unknown key", 2, "colour", with("colour = true\n")}});
    check({{"wrong type", 2, "node", with("node = 5\n")}});
    check({{"unknown output", 2, "yaml", with("output = \"yaml\"\n")}});
    check({{"broken", 2, "assay.toml", with("node = \n")}});
}

TEST_CASE("a model folder or data that was tampered with is refused") {
    const CliSite& site = CliSite::get();
    const Run trained = run({"model", "train", site.path("job.toml"), "--out", site.path("model")});
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    const auto tokens = [&] {
        for (const auto& entry : fs::directory_iterator(site.root() / "data")) {
            if (entry.path().filename().string().find("held") != std::string::npos) return entry.path();
        }
        return fs::path{};
    }();
    REQUIRE_FALSE(tokens.empty());
    const Words eval{"model", "eval", "--model", site.path("model"), "--data", tokens.string()};
    REQUIRE(run(eval).code == 0);
    const auto with_damage = [&](const char* name, const fs::path& file, int code, const std::string& content,
                                 const Words& words, const char* said = "") {
        const std::string kept = content_of(file);
        write_file(file, content);
        check({{name, code, said, words}});
        write_file(file, kept);
    };
    const fs::path weights = site.root() / "model/model.safetensors";
    const std::string whole = content_of(weights);
    std::string bit = whole;
    bit[bit.size() - 9] = static_cast<char>(bit[bit.size() - 9] ^ 1);
    with_damage("one bit of one weight", weights, 7, bit, eval);
    with_damage("one bit of one weight, shown", weights, 7, bit, {"model", "show", site.path("model")});
    // What cannot be read as a model at all is a usage error.
    with_damage("weights cut short", weights, 2, whole.substr(0, whole.size() - 100), eval);
    std::string header = whole;
    header[20] = static_cast<char>(header[20] ^ 0x10);
    with_damage("weights with a damaged header", weights, 2, header, eval);
    with_damage("weights of nothing", weights, 2, "", eval);
    // A header that is whole, and a tensor that the config does not describe: wte is 300 rows of 16.
    std::string turned = whole;
    const std::size_t shape = turned.find("[300,16]");
    REQUIRE(shape != std::string::npos);
    turned.replace(shape, 8, "[16,300]");
    const Words start{
        "model", "train",
        site.job("from.toml", "layers = 1\nwidth = 16\nheads = 2\ncontext = 16\nvocabulary = 300",
                 "from = \"model\""),
        "--out", site.path("never")};
    std::string not_a_number = whole;
    not_a_number.replace(whole.size() - 4, 4, std::string("\0\0\xC0\x7F", 4));
    for (const Words& words : {eval, Words{"model", "show", site.path("model")}, start}) {
        with_damage("a tensor of another shape", weights, 2, turned, words,
                    "wte.weight has the shape [16, 300]");
        with_damage("weights that are not finite", weights, 2, not_a_number, words, "holds a NaN");
    }
    with_damage("config that is no JSON", site.root() / "model/config.json", 2, "{\"n_embd\": ", eval);
    std::string flipped = content_of(tokens);
    flipped[flipped.size() - 3] = static_cast<char>(flipped[flipped.size() - 3] ^ 0x10);
    with_damage("tokens with a flipped byte", tokens, 7, flipped, {"data", "show", site.path("data")});
    fs::rename(weights, site.root() / "away");
    check({{"weights missing", 3, "safetensors", eval}});
    fs::rename(site.root() / "away", weights);
    REQUIRE(run(eval).code == 0);
}

}  // namespace assay::node
