// SPDX-License-Identifier: Apache-2.0
// Who opens the owner's key: a command that signs with it and ends. A role's process does not, and runs where
// it cannot be opened.
#include <arpa/inet.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <sstream>
#include <thread>

#include "node/cli/owner_session.hpp"
#include "node/cli/state_source.hpp"
#include "node/roles/onboarding.hpp"
#include "tests/node/processes/alice_program.hpp"

namespace assay::node {
namespace {

using test_site::AliceProgram;
using test_site::content_of;
using test_site::Site;
using test_site::tokens;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

void write_secret(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

/// How often a file is opened while it is watched, by whichever process: a superuser's, too, which no
/// permission keeps out.
class OpenCount {
public:
    explicit OpenCount(const fs::path& path) : queue_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
        REQUIRE(queue_ >= 0);
        // The kernel joins events that are alike; an open and its close are not.
        REQUIRE(::inotify_add_watch(queue_, path.c_str(), IN_OPEN | IN_CLOSE) >= 0);
    }
    OpenCount(const OpenCount&) = delete;
    ~OpenCount() { ::close(queue_); }
    int now() {
        inotify_event event{};  // a watched file's has no name
        while (::read(queue_, &event, sizeof event) == static_cast<ssize_t>(sizeof event)) {
            if ((event.mask & IN_OPEN) != 0) ++count_;
        }
        return count_;
    }

private:
    int queue_;
    int count_ = 0;
};

Words registering(const std::string& role) {
    return {role, "register", "--stake", "200", "--endpoint", "127.0.0.1:7"};
}

/// Where the ledger says that Alice's node serves; empty: not registered.
template <class Record>
std::string place(Site& site, base::Bytes (*key)(const base::PublicKey&)) {
    const auto record = site.read<Record>(key(Site::alices_node()));
    return record ? record->endpoint : "";
}

base::Amount staked(Site& site) {
    const auto stake = site.read<contracts::Stake>(contracts::stake_key(Site::alices_node()));
    return stake ? stake->free : base::Amount{};
}

/// Runs the role until its stake is there and it has told the ledger another place than `before`: at work,
/// or, where nothing was before, with all of its owner's steps done.
std::string run_until_at_work(Site& site, const std::string& before) {
    AliceProgram role(site, {"verifier", "run", "--stake", "200"});
    std::string now = before;
    const auto waits = [&] { return now == before || staked(site) != tokens(200); };
    for (int i = 0; i < 30'000 && waits() && !role.process->poll(); ++i) {
        std::this_thread::sleep_for(10ms);
        now = place<contracts::Verifier>(site, contracts::verifier_key);
    }
    INFO(role.said());
    CHECK_FALSE(role.process->poll().has_value());
    CHECK(now != before);
    const auto ended = role.process->terminate(60s);
    CHECK(ended.success());
    return now;
}

}  // namespace

TEST_CASE("a role whose owner has registered it runs where the owner's key cannot be opened") {
    Site site;
    AliceProgram first(site, registering("verifier"));
    REQUIRE(first.code() == 0);
    REQUIRE(staked(site) == tokens(200));
    AliceProgram again(site, registering("verifier"));
    REQUIRE(again.code() == 0);
    REQUIRE(staked(site) == tokens(200));  // nothing twice
    std::string place_now = place<contracts::Verifier>(site, contracts::verifier_key);
    REQUIRE(place_now == "127.0.0.1:7");

    const fs::path key = site.home.owner_key();
    const std::string kept = content_of(key);
    write_secret(key, "this is no key");
    place_now = run_until_at_work(site, place_now);
    write_secret(key, kept);
    fs::permissions(key, fs::perms::none);
    OpenCount opened(key);
    place_now = run_until_at_work(site, place_now);
    CHECK(opened.now() == 0);
    fs::remove(key);
    place_now = run_until_at_work(site, place_now);
    REQUIRE(staked(site) == tokens(200));
}

TEST_CASE("the first run of a role has its owner's steps signed by a process that ends before it serves") {
    int of_step = 0;
    {
        const Site site;
        OpenCount opened(site.home.owner_key());
        AliceProgram step(site, registering("verifier"));
        REQUIRE(step.code() == 0);
        of_step = opened.now();
        REQUIRE(of_step > 0);
    }
    Site site;
    OpenCount opened(site.home.owner_key());
    const std::string place_now = run_until_at_work(site, "");
    CHECK(opened.now() == of_step);  // none but the step's
    CHECK_FALSE(place_now.ends_with(":7"));
    CHECK(staked(site) == tokens(200));
}

TEST_CASE("a role that nobody registered ends by name, with the command that registers it") {
    Site site;
    fs::remove(site.home.owner_key());
    for (const Words& words : {Words{"miner", "run"}, registering("miner"), registering("verifier")}) {
        const std::string& role = words.front();
        AliceProgram program(site, words);
        CHECK(program.code() == 5);
        INFO(program.said());
        CHECK(program.said().find("is no " + role + " of small-chain yet ('register node key' is missing)") !=
              std::string::npos);
        CHECK(program.said().find("in a home that has both keys, this node's and its owner's, run: assay " +
                                  role + " register") != std::string::npos);
    }
    CHECK(place<contracts::Miner>(site, contracts::miner_key).empty());
    CHECK(place<contracts::Verifier>(site, contracts::verifier_key).empty());
}

TEST_CASE("an owner's step to a node that never answers ends in time, by name") {
    Site site;
    const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listening, 16) == 0);  // the kernel takes the connection, and nobody ever speaks
    socklen_t length = sizeof address;
    REQUIRE(::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    const std::string silent = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    AliceProgram program(site, {"miner", "register"}, {.node = silent});
    CHECK(program.code() == 4);  // it ended: code() waits for 300 s
    CHECK(program.said().find(silent) != std::string::npos);
    CHECK(program.said().find("fix: ") != std::string::npos);
    ::close(listening);
}

TEST_CASE("an owner's session whose time is over asks nothing more, and says so") {
    Site site;
    std::ostringstream out;
    std::ostringstream err;
    Context context{out, err, {}, {}, {}};
    context.settings.home = site.home;
    context.settings.node = site.node->address();
    OwnerSessionOptions options;
    options.genesis = site.genesis;
    const auto in_time = OwnerSession::connect(context, options).value();
    CHECK_FALSE(is_registered(in_time->state(), WorkRole::kMiner, Site::alices_node()));
    options.limit = 1s;
    const auto session = OwnerSession::connect(context, options).value();
    std::this_thread::sleep_for(1100ms);
    try {
        (void)is_registered(session->state(), WorkRole::kMiner, Site::alices_node());
        FAIL("a state was given");
    } catch (const StateReadError& over) {
        CHECK(over.error().kind == base::ErrorKind::kUnreachable);
        CHECK(over.error().what == "the ledger node did not give what is needed within 1 s");
        CHECK_FALSE(over.error().fix.empty());
    }
}

TEST_CASE("what the ledger refuses in an owner's step ends the role with the ledger's reason") {
    Site site;
    for (const std::string verb : {"register", "run"}) {
        AliceProgram program(site, {"miner", verb, "--stake", "5000", "-o", "json"});
        CHECK(program.code() == 6);
        INFO(program.said());
        CHECK(program.said().find("\"name\":\"insufficient_balance\"") != std::string::npos);
    }
    CHECK(staked(site).is_zero());
}

}  // namespace assay::node
