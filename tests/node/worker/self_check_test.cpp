// SPDX-License-Identifier: Apache-2.0
// The check of every kernel target: of this machine's worker, and of a program that fails on one target.
#include "node/worker/self_check.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <future>

#include "node/worker/worker_report.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace assay;
using namespace assay::node;

namespace {

WorkerOptions real_worker() {
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    REQUIRE(folder != nullptr);
    WorkerOptions options;
    options.program = std::filesystem::path(folder) / "assay-worker";
    return options;
}

/// A program that says that it differs, as a worker with other bits does, on target `bad` while the file is
/// there, and everywhere else that all is well.
WorkerOptions failing_on(const std::string& bad, const std::filesystem::path& folder) {
    WorkerOptions options;
    options.program = folder / "worker.sh";
    std::ofstream(options.program) << "#!/bin/sh\n[ \"$1\" = --self-test ] || exit 3\n"
                                   << "echo \"$ASSAY_TARGETS\" >> " << (folder / "asked").string() << "\n"
                                   << "[ \"$ASSAY_TARGETS\" = " << bad << " ] && [ -e "
                                   << (folder / "fault").string() << " ] && echo root differs && exit 8\n"
                                   << "echo root ok\n";
    std::filesystem::permissions(options.program, std::filesystem::perms::owner_all);
    return options;
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("every target of this machine passes the check of known vectors") {
    auto worker = WorkerProcess::start(real_worker());
    REQUIRE(worker.ok());
    const std::vector<std::string> targets = (*worker)->hello().targets;
    CHECK_FALSE(targets.empty());
    CHECK(check_targets(real_worker(), targets).ok());
}

TEST_CASE("a target that fails is named, and those after it are not asked") {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "fault") << "x";
    const WorkerOptions worker = failing_on("avx2", folder.path());
    const auto checked = check_targets(worker, {"vnni", "avx2", "scalar"});
    REQUIRE_FALSE(checked.ok());
    CHECK(checked.error().kind == base::ErrorKind::kPreflight);
    CHECK(checked.error().what.find("target avx2: the worker's self-test gives other bits") == 0);
    CHECK(text_of(folder.path() / "asked") == "vnni\navx2\n");
    CHECK(check_targets(worker, {"vnni", "scalar"}).ok());
}

TEST_CASE("a card whose check could not be made has not shown other bits; a processor has") {
    const test::TemporaryFolder folder;
    WorkerOptions worker;
    worker.program = folder.path() / "busy.sh";
    std::ofstream(worker.program) << "#!/bin/sh\necho 'assay-worker: no memory is free' >&2\nexit 8\n";
    std::filesystem::permissions(worker.program, std::filesystem::perms::owner_all);
    const auto processor = check_targets(worker, {"scalar"});
    REQUIRE_FALSE(processor.ok());
    CHECK(processor.error().kind == base::ErrorKind::kPreflight);
    worker.device = "cuda:0";
    const auto card = check_targets(worker, {""});
    REQUIRE_FALSE(card.ok());
    CHECK(card.error().kind == base::ErrorKind::kFailure);
    CHECK(card.error().what == "no memory is free");
}

TEST_CASE("a check in the background has ten more niceness than its process, one that is waited for none") {
    const test::TemporaryFolder folder;
    const std::string said = (folder.path() / "said").string(), known = (folder.path() / "nice").string();
    WorkerOptions worker;
    worker.program = folder.path() / "nice.sh";
    std::ofstream(worker.program) << "#!/bin/sh\nnice > " << said << " && mv " << said << " " << known
                                  << "\necho root ok\n";
    std::filesystem::permissions(worker.program, std::filesystem::perms::owner_all);
    REQUIRE(check_targets(worker, {"scalar"}).ok());
    const int own = std::stoi(text_of(known));
    std::filesystem::remove(known);
    {
        SelfCheck check(worker, {"scalar"}, std::chrono::milliseconds(0), [](const base::Error&) {});
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!std::filesystem::exists(known)) {
            REQUIRE(std::chrono::steady_clock::now() < until);
            std::this_thread::yield();
        }
        CHECK(std::stoi(text_of(known)) == std::min(own + 10, 19));
    }
    REQUIRE(check_targets(worker, {"scalar"}).ok());
    CHECK(std::stoi(text_of(known)) == own);
}

TEST_CASE("a self-test that hangs, busy or not, is ended, and says nothing of bits") {
    const test::TemporaryFolder folder;
    for (const char* script : {"exec sleep 600", "while :; do :; done"}) {
        WorkerOptions worker;
        // Many threads may use much time; one that sleeps uses none, however many there are.
        if (script == std::string_view("exec sleep 600")) worker.threads = 100'000;
        worker.program = folder.path() / "hang.sh";
        std::ofstream(worker.program) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(worker.program, std::filesystem::perms::owner_all);
        const auto tested = run_self_test(worker, {}, std::chrono::milliseconds(300));
        REQUIRE_FALSE(tested.ok());
        CHECK(tested.error().kind == base::ErrorKind::kPreflight);
        CHECK(tested.error().what == "the worker does not end");
    }
}

TEST_CASE("a fault that begins while the process works is told once, with its target") {
    const test::TemporaryFolder folder;
    const WorkerOptions worker = failing_on("scalar", folder.path());
    std::promise<std::string> told;
    auto first = told.get_future();
    std::atomic<int> faults = 0;
    SelfCheck check(worker, {"avx2", "scalar"}, std::chrono::milliseconds(1), [&](const base::Error& error) {
        if (++faults == 1) told.set_value(error.what);
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (text_of(folder.path() / "asked").find("scalar") == std::string::npos) {
        REQUIRE(std::chrono::steady_clock::now() < until);
        REQUIRE(faults == 0);
        std::this_thread::yield();
    }
    std::ofstream(folder.path() / "fault") << "x";
    REQUIRE(first.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
    CHECK(first.get().find("target scalar:") == 0);
    const std::string asked = text_of(folder.path() / "asked");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(text_of(folder.path() / "asked") == asked);
    CHECK(faults == 1);
}

TEST_CASE("a check that is under way stops with its process") {
    const test::TemporaryFolder folder;
    WorkerOptions worker;
    worker.program = folder.path() / "sleep.sh";
    std::ofstream(worker.program) << "#!/bin/sh\nsleep 600\n";
    std::filesystem::permissions(worker.program, std::filesystem::perms::owner_all);
    const auto start = std::chrono::steady_clock::now();
    {
        SelfCheck check(worker, {"scalar"}, std::chrono::milliseconds(0), [](const base::Error&) {});
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}
