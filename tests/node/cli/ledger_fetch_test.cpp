// SPDX-License-Identifier: Apache-2.0
// An auditor who has no ledger: it fetches one from a node that it does not believe, and audits it alone.
#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

#include "ledger/store/block_log.hpp"
#include "ledger/store/layout.hpp"
#include "node/rpc/server.hpp"
#include "node/runtime/home.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/node/cli/served_chain.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/run_program.hpp"

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using base::Bytes;
using base::ErrorKind;
using base::Outcome;
using contracts::test::Env;
using nlohmann::json;

/// A served chain on which one job has ended.
struct PublicLedger {
    PublicLedger() {
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        contracts::JobSpec spec = contracts::test::small_job();
        spec.name = "public";
        spec.slots = 3;
        const base::Hash256 job = env.post(spec);
        env.hold_auction(job, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
        contracts::test::play_job(env, job, {});
        height = env.blocks().size();
        chain.emplace(env);
        node = node::connect_ledger({.address = chain->address()}).value();
    }
    [[nodiscard]] ledger::Block block(std::uint64_t at) const {
        return base::decode<ledger::Block>(node->block(at).value()).value();
    }

    Env env;
    std::uint64_t height = 0;  ///< of the blocks that the job needed; the node may have made more
    std::optional<ServedChain> chain;
    std::unique_ptr<node::LedgerService> node;
};

PublicLedger& stage() {
    static PublicLedger made;
    return made;
}

/// A node that is asked for blocks and gives what it likes instead.
class OtherNode final : public node::LedgerService {
public:
    using Answer = std::function<Outcome<Bytes>(std::uint64_t height)>;
    explicit OtherNode(Answer answer, std::optional<std::uint64_t> says = {})
        : says_(says), answer_(std::move(answer)), server_(node::serve_ledger(*this, {}).value()) {}

    [[nodiscard]] std::string address() const { return server_->address(); }

    Outcome<node::SubmitReply> submit(base::ByteView bytes) override { return stage().node->submit(bytes); }
    Outcome<node::StateValue> get(base::ByteView key) override { return stage().node->get(key); }
    Outcome<node::StatePage> scan(const node::ScanRequest& request) override {
        return stage().node->scan(request);
    }
    Outcome<Bytes> block(std::uint64_t height) override { return answer_(height); }
    Outcome<node::LedgerStatus> status() override {
        auto status = stage().node->status();
        if (status.ok() && says_) status->height = *says_;
        return status;
    }
    Outcome<void> subscribe(std::uint64_t from, std::stop_token stop,
                            const node::BlockHandler& handler) override {
        return stage().node->subscribe(from, std::move(stop), handler);
    }

private:
    std::optional<std::uint64_t> says_;
    Answer answer_;
    std::unique_ptr<node::RpcServer> server_;  // last: it calls the others
};

/// The home of somebody who takes no part.
struct Auditor {
    [[nodiscard]] std::vector<std::string> words(const std::string& node, std::uint64_t until = 0) const {
        return {"ledger",    "fetch",
                "--node",    node,
                "--genesis", stage().chain->genesis(),
                "--until",   std::to_string(until > 0 ? until : stage().height)};
    }
    [[nodiscard]] CliRun fetch(const std::string& node, std::uint64_t until = 0) const {
        return cli(words(node, until));
    }
    [[nodiscard]] json must_fetch(std::uint64_t until = 0) const {
        std::vector<std::string> all = words(stage().chain->address(), until);
        all.insert(all.end(), {"-o", "json"});
        const CliRun run = cli(all);
        INFO(run.err);
        REQUIRE(run.code == 0);
        return run.json();
    }
    [[nodiscard]] fs::path log() const { return ledger::Layout(cli.home().string()).log; }
    /// Whether the log holds the node's blocks up to the stage's height, byte for byte.
    [[nodiscard]] bool has_all() const {
        const std::string mine = file_text(log());
        const std::string theirs =
            file_text(ledger::Layout(stage().chain->files().home().string()).log).substr(0, mine.size());
        return !mine.empty() && mine == theirs && must_audit().at("height") == stage().height;
    }
    [[nodiscard]] json must_audit() const {
        const CliRun run = cli({"audit", "ledger", "-o", "json"});
        INFO(run.err);
        REQUIRE(run.code == 0);
        return run.json();
    }

    Cli cli;
};

void wait_until(const std::function<bool()>& happened) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!happened()) {
        REQUIRE(std::chrono::steady_clock::now() < give_up);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace

TEST_CASE("a fresh home fetches a node's ledger, and every audit and offline query then needs no node") {
    const Auditor auditor;
    const std::string home = auditor.cli.home().string();
    for (const auto& words : std::vector<std::vector<std::string>>{{"audit", "ledger"},
                                                                   {"audit", "payouts"},
                                                                   {"job", "list", "--offline"},
                                                                   {"job", "logs", "public", "--offline"}}) {
        const CliRun before = auditor.cli(words);
        INFO(words[1] << ": " << before.err);
        CHECK(before.code == 3);
        CHECK(before.err.find("  fix: ") != std::string::npos);
        CHECK(before.err.find("assay ledger fetch --home " + home) != std::string::npos);
    }
    const CliRun strange = auditor.cli({"ledger", "fetch", "--node", stage().chain->address()});
    CHECK(strange.code == 3);
    CHECK(strange.err.find("--genesis FILE") != std::string::npos);

    const json fetched = auditor.must_fetch();
    CHECK(keys_of(fetched) == std::set<std::string>{"schema", "chain", "genesis", "fetched", "height", "tip",
                                                    "state_root", "node_height"});
    CHECK(fetched.at("schema") == "assay.ledger.fetch/v1");
    CHECK(fetched.at("fetched") == stage().height);
    CHECK(fetched.at("height") == stage().height);
    CHECK(fetched.at("tip") == stage().block(stage().height).header.hash().hex());
    CHECK(auditor.has_all());
    CHECK(auditor.must_audit().at("tip") == fetched.at("tip"));
    const CliRun payouts = auditor.cli({"audit", "payouts", "-o", "json"});
    INFO(payouts.err);
    CHECK(payouts.code == 0);
    CHECK(payouts.json().at("checked").at("jobs") == 1);
    const CliRun logs = auditor.cli({"job", "logs", "public", "--offline", "-o", "json"});
    INFO(logs.err);
    REQUIRE(logs.code == 0);
    CHECK(logs.json().at("height") == stage().height);
    const CliRun asked =
        auditor.cli({"job", "logs", "public", "--node", stage().chain->address(), "-o", "json"});
    CHECK(logs.json().at("rounds") == asked.json().at("rounds"));
    CHECK_FALSE(logs.json().at("rounds").at(0).at("slots").at(0).at("losses").empty());

    // Once more there is nothing to do, and the genesis is known.
    const CliRun again = auditor.cli(
        {"ledger", "fetch", "--node", stage().chain->address(), "--until", std::to_string(stage().height)});
    INFO(again.err);
    CHECK(again.code == 0);
    CHECK(again.out.find("0 fetched and checked") != std::string::npos);
    CHECK(again.out.find("whether more blocks followed") != std::string::npos);
}

TEST_CASE("a fetch goes on where it was broken off: at a block that was named, and behind a torn write") {
    const Auditor auditor;
    CHECK(auditor.must_fetch(5).at("height") == 5);
    CHECK(auditor.must_audit().at("height") == 5);
    const auto whole = fs::file_size(auditor.log());
    std::ofstream(auditor.log(), std::ios::binary | std::ios::app) << "AFRM half of a frame";
    const CliRun mended = auditor.fetch(stage().chain->address(), 6);
    INFO(mended.err);
    CHECK(mended.code == 0);
    CHECK(mended.err.find("note: ") != std::string::npos);
    CHECK(fs::file_size(auditor.log()) > whole);
    CHECK(auditor.must_fetch().at("fetched") == stage().height - 6);
    CHECK(auditor.has_all());
}

TEST_CASE("a fetch that is killed, interrupted or loses its node keeps what came, and the next goes on") {
    constexpr std::uint64_t kGiven = 6;
    for (const int signal : {SIGKILL, SIGINT, 0}) {
        INFO("signal " << signal);
        std::mutex mutex;
        std::condition_variable ended;
        bool over = false;
        const OtherNode node([&](std::uint64_t height) -> Outcome<Bytes> {
            if (height <= kGiven) return stage().node->block(height);
            if (signal == 0 || height > kGiven + 1) return base::fail(ErrorKind::kUnreachable, "gone");
            std::unique_lock lock(mutex);
            ended.wait(lock, [&] { return over; });
            return base::fail(ErrorKind::kUnreachable, "gone");
        });
        const Auditor auditor;
        std::vector<std::string> words = auditor.words(node.address());
        words.insert(words.end(), {"--home", auditor.cli.home().string()});
        BackgroundProgram fetching(built_program_path("assay"), words);
        if (signal != 0) {
            const auto bytes = [&] {
                std::error_code none;
                const auto size = fs::file_size(auditor.log(), none);
                return none ? 0 : size;
            };
            std::uintmax_t wanted = ledger::kLogHeaderSize;
            for (std::uint64_t height = 1; height <= kGiven; ++height)
                wanted += ledger::kFrameHeaderSize + stage().node->block(height).value().size();
            wait_until([&] { return bytes() == wanted; });
            fetching.signal(signal);
        }
        const ProgramRun run = fetching.wait();
        {
            const std::lock_guard lock(mutex);
            over = true;
        }
        ended.notify_all();
        INFO(run.err);
        CHECK(run.code == (signal == SIGKILL ? 128 + SIGKILL : signal == SIGINT ? 130 : 4));
        if (signal == SIGINT) CHECK(run.err.find("it goes on") != std::string::npos);
        if (signal == 0) {
            CHECK(run.err.find("block 7: ") != std::string::npos);
            CHECK(run.err.find("blocks 1 to 6 are kept; the same command goes on") != std::string::npos);
        }
        CHECK(auditor.must_audit().at("height") == kGiven);
        CHECK(auditor.must_fetch().at("fetched") == stage().height - kGiven);
        CHECK(auditor.has_all());
    }
}

TEST_CASE("a node that lies about a block is named by it, what was good is kept, and another node goes on") {
    constexpr std::uint64_t kFalse = 4;
    const auto changed = [](const std::function<void(ledger::Block&)>& change) {
        ledger::Block block = stage().block(kFalse);
        change(block);
        return base::encode(block);
    };
    const auto signed_again = [&](const std::function<void(ledger::Block&)>& change) {
        return changed([&](ledger::Block& block) {
            change(block);
            block.signature =
                ledger::sign_header(block.header, stage().env.chain(), stage().env.person("sequencer").node);
        });
    };
    const Bytes honest = stage().node->block(kFalse).value();
    const std::vector<std::pair<std::string, Bytes>> lies{
        {"a changed transaction", changed([](auto& block) {
             block.transactions.push_back({1, 2, 3});
         })},
        {"a changed signature", changed([](auto& block) { block.signature.bytes[5] ^= 1U; })},
        {"another block", stage().node->block(kFalse + 1).value()},
        {"another chain", signed_again([](auto& block) { block.header.chain = {}; })},
        {"another state, signed", signed_again([](auto& block) { block.header.state_root.bytes[0] ^= 1U; })},
        {"a refused transaction, signed", signed_again([](auto& block) {
             block.transactions.push_back({1, 2, 3});
             block.header.transactions_root = ledger::transactions_root(block.transactions);
         })},
        {"a time that goes back, signed", signed_again([](auto& block) { block.header.time_ms = 1; })},
        {"a short answer", Bytes(honest.begin(), honest.end() - 1)},
        {"no answer", Bytes()},
        {"an answer without end", Bytes((std::size_t{64} << 20U) + 1, 7)}};
    for (const auto& [lie, bytes] : lies) {
        INFO(lie);
        const OtherNode node([&bytes = bytes](std::uint64_t height) -> Outcome<Bytes> {
            if (height == kFalse) return bytes;
            return stage().node->block(height);
        });
        const Auditor auditor;
        const CliRun run = auditor.fetch(node.address());
        INFO(run.err);
        CHECK(run.code == 7);
        CHECK(run.err.find("block 4") != std::string::npos);
        CHECK(run.err.find("blocks 1 to 3 are kept; use another --node") != std::string::npos);
        CHECK(auditor.must_audit().at("height") == kFalse - 1);
        CHECK(auditor.must_fetch().at("fetched") == stage().height - kFalse + 1);
        CHECK(auditor.has_all());
    }
}

TEST_CASE("a home keeps to its own chain and its own past, whatever a node says") {
    const Auditor auditor;
    (void)auditor.must_fetch(6);
    const std::string before = file_text(auditor.log());

    const OtherNode shorter([](std::uint64_t height) { return stage().node->block(height); }, 5);
    const CliRun cut = auditor.cli({"ledger", "fetch", "--node", shorter.address()});
    CHECK(cut.code == 7);
    CHECK(cut.err.find("the node has 5 blocks, and this home has 6") != std::string::npos);

    ledger::Block other = stage().block(6);
    ++other.header.time_ms;
    for (const bool is_signed : {true, false}) {
        if (is_signed)
            other.signature =
                ledger::sign_header(other.header, stage().env.chain(), stage().env.person("sequencer").node);
        if (!is_signed) other.signature.bytes[0] ^= 1U;
        const OtherNode another([&other](std::uint64_t height) -> Outcome<Bytes> {
            if (height == 6) return base::encode(other);
            return stage().node->block(height);
        });
        const CliRun run = auditor.fetch(another.address());
        CHECK(run.code == 7);
        CHECK(run.err.find("the node's block 6 is " + other.header.hash().hex()) != std::string::npos);
        CHECK((run.err.find("evidence of two histories") != std::string::npos) == is_signed);
    }

    // A genesis of another chain is neither kept in a fresh home nor in this one.
    const Cli strangers;
    Env elsewhere(contracts::test::short_windows(), "elsewhere");
    write_ledger(elsewhere, elsewhere.person("sequencer"), strangers.home().string());
    const std::string genesis = ledger::Layout(strangers.home().string()).genesis;
    const Auditor fresh;
    for (const Auditor* at : {&auditor, &fresh}) {
        const CliRun refused =
            at->cli({"ledger", "fetch", "--node", stage().chain->address(), "--genesis", genesis});
        CHECK(refused.code == 7);
        CHECK(refused.err.find("runs chain test-chain, this home belongs to elsewhere") != std::string::npos);
    }
    CHECK(fs::is_empty(fresh.cli.home()));
    CHECK(file_text(auditor.log()) == before);
    const CliRun none =
        fresh.cli({"ledger", "fetch", "--node", stage().chain->address(), "--genesis", genesis + ".none"});
    CHECK(none.code == 3);
    CHECK(none.err.find("  fix: ") != std::string::npos);
}

TEST_CASE("a home that is in use, and a block that no node has, are refused and change nothing") {
    const Auditor auditor;
    (void)auditor.must_fetch(2);
    const std::string before = file_text(auditor.log());
    {
        const auto lock = node::HomeLock::take(node::Home{auditor.cli.home()}, "assay node run");
        REQUIRE(lock.ok());
        const CliRun run = auditor.fetch(stage().chain->address());
        CHECK(run.code == 1);
        CHECK(run.err.find("already in use by process") != std::string::npos);
        CHECK(run.err.find("assay node run") != std::string::npos);
    }
    for (const std::uint64_t beyond : {std::uint64_t{1'000'000}, UINT64_MAX}) {
        const CliRun run = auditor.fetch(stage().chain->address(), beyond);
        CHECK(run.code == 2);
        CHECK(run.err.find("leave --until out") != std::string::npos);
    }
    CHECK(auditor.cli({"ledger", "fetch", "--until", "0"}).code == 2);
    CHECK(file_text(auditor.log()) == before);
}

TEST_CASE(
    "a damaged local ledger is not built upon: the error names the block and the way to fetch it again") {
    const Auditor auditor;
    (void)auditor.must_fetch(6);
    flip_byte(auditor.log(), fs::file_size(auditor.log()) / 2, 1);
    const std::string damaged = file_text(auditor.log());
    const CliRun run = auditor.fetch(stage().chain->address());
    INFO(run.err);
    CHECK(run.code == 7);
    CHECK(run.err.find("block ") != std::string::npos);
    const std::string folder = node::Home{auditor.cli.home()}.ledger().string();
    CHECK(run.err.find("move the folder " + folder + " away and fetch it again") != std::string::npos);
    CHECK(file_text(auditor.log()) == damaged);
    const CliRun audit = auditor.cli({"audit", "ledger"});
    CHECK(audit.code == 7);
    CHECK(audit.err.find("assay ledger fetch") != std::string::npos);
    fs::rename(folder, folder + ".damaged");
    CHECK(auditor.must_fetch().at("fetched") == stage().height);
    CHECK(auditor.has_all());
}

}  // namespace assay::test
