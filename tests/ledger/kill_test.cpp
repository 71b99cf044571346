// SPDX-License-Identifier: Apache-2.0
// A real process, a real disk, a real SIGKILL. This cannot show a missing sync (crash_test.cpp does); it
// shows that files, locks and the index of a killed process open again.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "ledger/audit/audit.hpp"
#include "tests/ledger/support.hpp"
#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

// Runs the child on `home`, kills it `microseconds` after it acknowledged `lines` blocks, returns what it
// acknowledged in whole lines. With 0 lines it may die while it starts.
std::string run_and_kill(const std::string& home, std::uint64_t lines, unsigned microseconds) {
    const std::string program = std::string(std::getenv("ASSAY_BIN_DIR")) + "/ledger_append_child";
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::execl(program.c_str(), program.c_str(), home.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(ends[1]);
    std::string text;
    char buffer[4096];
    const auto read_more = [&] {
        const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
        if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
        return got > 0;
    };
    const auto complete = [&] {
        return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    };
    while (complete() < lines && read_more()) {
    }
    ::usleep(microseconds);
    ::kill(child, SIGKILL);
    while (read_more()) {
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));  // it must not have ended by itself
    return text.substr(0, text.rfind('\n') + 1);
}

}  // namespace

TEST_CASE("a killed process leaves a ledger that opens with every acknowledged block") {
    const TemporaryHome home;
    const ToyMachine machine;
    std::mt19937_64 random(42);
    std::map<std::uint64_t, std::string> acknowledged;
    for (int kill = 0; kill < 12; ++kill) {
        const std::uint64_t wanted = kill % 3 == 0 ? 0 : 1 + random() % 4;
        std::istringstream lines(run_and_kill(home.path(), wanted, static_cast<unsigned>(random() % 20'000)));
        std::uint64_t height = 0;
        std::string hash;
        while (lines >> height >> hash) acknowledged[height] = hash;
    }
    REQUIRE(acknowledged.size() >= 8);
    PosixDisk disk;
    const auto provider = leveldb_provider(Layout(home.path()).index);
    const auto chain = Chain::open(disk, *provider, machine, home.path());
    REQUIRE(chain);
    for (const auto& [height, hash] : acknowledged) {
        const auto block = (*chain)->block(height);
        REQUIRE(block);
        REQUIRE(block->header.hash().hex() == hash);
    }
    const auto report = audit_ledger(machine, home.path());
    REQUIRE(report);
    CHECK(report->ok());
    CHECK(report->height == (*chain)->height());
}
