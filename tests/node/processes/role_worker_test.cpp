// SPDX-License-Identifier: Apache-2.0
// What a role's process learns of its devices, with real workers: cuda-host, a GPU emulated, and the
// processor compute other bits once the test says so.
#include "node/processes/role_worker.hpp"

#include <filesystem>
#include <fstream>
#include <future>
#include <map>

#include "node/processes/role_process.hpp"
#include "node/roles/unsound_notes.hpp"
#include "node/runtime/ledger_link.hpp"
#include "tests/node/processes/site.hpp"
#include "tests/node/worker/worker_calls.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

const std::vector<std::string> kDevices{"cuda-host", "cpu"};

/// A worker whose self-test finds other bits on a device once its file is there.
class Spoilable {
public:
    Spoilable() {
        std::ofstream script(folder_ / "worker");
        script << "#!/bin/sh\n";
        for (const std::string& device : kDevices)
            script << "if [ -e " << flag(device) << " ] && [ \"$*\" = '--self-test --device " << device
                   << "' ]; then export ASSAY_DEVICE_FAULT='" << device << " wrong 17'; fi\n";
        script << "exec " << test_worker::options().program << " \"$@\"\n";
        script.close();
        std::filesystem::permissions(folder_ / "worker", std::filesystem::perms::owner_all);
    }
    void spoil(const std::string& device) const { std::ofstream(flag(device)) << "x"; }
    [[nodiscard]] WorkerOptions options() const {
        WorkerOptions options = test_worker::options();
        options.program = folder_ / "worker";
        return options;
    }

private:
    [[nodiscard]] std::filesystem::path flag(const std::string& device) const {
        return folder_ / ("spoiled-" + device);
    }
    test::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE(
    "a device that is refused at the start is unsound where its bits are others, not where it is missing") {
    WorkerOptions wrong = test_worker::options();
    wrong.environment = {{"ASSAY_DEVICE_FAULT", "cuda-host wrong 17"}};
    CHECK(RoleWorker::start(wrong, kDevices).value()->unsound() == std::vector<std::string>{"cuda-host"});
    CHECK(RoleWorker::start(test_worker::options(), {"cuda:9999", "cpu"}).value()->unsound().empty());
}

TEST_CASE("a check of every device names those with other bits, and fails when none is left") {
    const Spoilable worker;
    const auto role = RoleWorker::start(worker.options(), kDevices).value();
    CHECK(role->unsound().empty());
    worker.spoil("cuda-host");
    CHECK(role->check({}).ok());
    CHECK(role->unsound() == std::vector<std::string>{"cuda-host"});
    worker.spoil("cpu");
    const auto checked = role->check({});
    REQUIRE_FALSE(checked.ok());
    CHECK(checked.error().kind == base::ErrorKind::kPreflight);
    CHECK(role->unsound() == kDevices);
}

TEST_CASE(
    "an only device that is refused at the start, or by the first check, is noted for the next process") {
    const test_site::Site site;
    const auto opened = [&](WorkerOptions worker, bool checks) {
        RoleProcessOptions options;
        options.program = "test";
        options.home = site.home;
        options.node_address = site.node->address();
        options.genesis = site.genesis;
        options.passphrase.file = site.folder / "words";
        options.worker = std::move(worker);
        options.worker.device = "cuda-host";
        if (checks) options.self_check = std::chrono::hours(1);
        return RoleProcess::open(options, {});
    };
    const auto disk = make_disk_port(site.home.jobs()).value();
    const auto noted = [&] { return noted_unsound(*disk).value(); };
    REQUIRE(opened(test_worker::options(), false).ok());
    CHECK(noted().empty());
    WorkerOptions wrong = test_worker::options();
    wrong.environment = {{"ASSAY_DEVICE_FAULT", "cuda-host wrong 17"}};
    const auto refused = opened(wrong, false);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kPreflight);
    CHECK(noted() == std::vector<std::string>{"cuda-host"});
    REQUIRE(remove_unsound_note(*disk, "cuda-host").ok());
    const Spoilable later;
    later.spoil("cuda-host");
    CHECK_FALSE(opened(later.options(), true).ok());
    CHECK(noted() == std::vector<std::string>{"cuda-host"});
    REQUIRE(remove_unsound_note(*disk, "cuda-host").ok());
    WorkerOptions missing = test_worker::options();
    missing.program = site.folder / "nothing";
    CHECK_FALSE(opened(missing, false).ok());
    CHECK(noted().empty());
}

TEST_CASE(
    "while a role works it is told of each device with other bits, and what to end for at the last one") {
    const Spoilable worker;
    const auto role = RoleWorker::start(worker.options(), kDevices).value();
    std::map<std::string, std::promise<std::optional<base::Error>>> told;
    for (const std::string& device : kDevices) told[device];
    role->watch(std::chrono::milliseconds(50),
                [&](const std::string& device, const std::optional<base::Error>& end) {
                    told.at(device).set_value(end);
                });
    worker.spoil("cuda-host");
    CHECK_FALSE(told.at("cuda-host").get_future().get().has_value());
    worker.spoil("cpu");
    const auto end = told.at("cpu").get_future().get();
    REQUIRE(end.has_value());
    CHECK(end->kind == base::ErrorKind::kPreflight);
    CHECK(end->what.find("device cpu") == 0);
    role->stop_watching();
}

}  // namespace assay::node
