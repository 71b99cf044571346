// SPDX-License-Identifier: Apache-2.0
// assay doctor: what would go wrong later, found now, with one fix a problem.
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <thread>

#include "node/cli/commands.hpp"
#include "node/cli/commands/doctor_devices.hpp"
#include "node/cli/table.hpp"
#include "node/rpc/client.hpp"
#include "node/views/json.hpp"
#include "node/worker/worker_process.hpp"
#include "trainer/host/targets.hpp"

namespace assay::node {
namespace {

using Check = DoctorCheck;

constexpr std::uint64_t kMebibyte = 1024 * 1024;
constexpr std::uint64_t kMemoryNeeded = 512 * kMebibyte;  // a worker on the demo's model, with room
constexpr std::uint64_t kDiskNeeded = 1024 * kMebibyte;   // ledger and states of a demo job
constexpr std::time_t kEarliestNow = 1767225600;          // 2026-01-01: a clock before this was never set

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes / kMebibyte) + " MiB"; }

Check check_targets(const std::vector<std::string>& targets) {
    std::string list;
    for (const std::string& target : targets) list += (list.empty() ? "" : ", ") + target;
    const auto chosen = trainer::choose_target(trainer::targets_from_environment());
    if (!chosen) return {"cpu", false, chosen.error().what, chosen.error().fix};
    return {"cpu", true, "kernels: " + list + "; uses " + std::string(trainer::to_text(*chosen)), ""};
}

Check check_threads() {
    const auto threads = trainer::threads_from_environment();
    if (!threads) return {"threads", false, threads.error().what, threads.error().fix};
    return {"threads", true,
            std::to_string(*threads) + " of " + std::to_string(std::thread::hardware_concurrency()), ""};
}

Check check_memory() {
    std::ifstream info("/proc/meminfo");
    std::string name;
    std::uint64_t kilobytes = 0;
    while (info >> name >> kilobytes) {
        info.ignore(64, '\n');
        if (name != "MemAvailable:") continue;
        const std::uint64_t bytes = kilobytes * 1024;
        if (bytes >= kMemoryNeeded) return {"memory", true, mebibytes(bytes) + " available", ""};
        return {"memory", false, mebibytes(bytes) + " available, " + mebibytes(kMemoryNeeded) + " needed",
                "end other programs, or use a machine with more memory"};
    }
    return {"memory", false, "/proc/meminfo does not say", "run on Linux with /proc mounted"};
}

/// The nearest folder above `path` that exists.
std::filesystem::path existing_parent(std::filesystem::path path) {
    std::error_code error;
    path = std::filesystem::absolute(path, error);
    while (!std::filesystem::exists(path, error) && path.has_relative_path()) path = path.parent_path();
    return path;
}

Check check_disk(const Home& home) {
    std::error_code error;
    const auto space = std::filesystem::space(existing_parent(home.root), error);
    if (error) return {"disk", false, home.root.string() + ": " + error.message(), "choose another --home"};
    if (space.available >= kDiskNeeded) return {"disk", true, mebibytes(space.available) + " free", ""};
    return {"disk", false, mebibytes(space.available) + " free, " + mebibytes(kDiskNeeded) + " needed",
            "free space, or choose another place with --home"};
}

Check check_home(const Home& home) {
    struct stat info {};
    if (::stat(home.root.c_str(), &info) != 0) {
        const auto parent = existing_parent(home.root);
        if (::access(parent.c_str(), W_OK) == 0)
            return {"home", true, home.root.string() + " will be made", ""};
        return {"home", false, parent.string() + " cannot be written to", "choose another place with --home"};
    }
    if (!S_ISDIR(info.st_mode))
        return {"home", false, home.root.string() + " is not a folder", "choose another place with --home"};
    if (info.st_uid != ::getuid())
        return {"home", false, home.root.string() + " belongs to another user",
                "run as that user, or choose another place with --home"};
    if ((info.st_mode & 0077) != 0)
        return {"home", false, home.root.string() + " is open to others", "chmod 700 " + home.root.string()};
    return {"home", true, home.root.string(), ""};
}

Check check_clock() {
    const std::time_t now = std::time(nullptr);
    char text[32] = {};
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
    if (now >= kEarliestNow) return {"clock", true, text, ""};
    return {"clock", false, std::string(text) + " cannot be", "set the clock: timedatectl set-ntp true"};
}

/// `self_test`: what the worker says that its self-test gave; empty when no worker serves.
Check check_worker(std::optional<base::Hash256>& self_test) {
    const auto worker = WorkerProcess::start({});
    if (!worker) return {"worker", false, worker.error().what, worker.error().fix};
    self_test = (*worker)->hello().self_test;
    return {"worker", true, "self-test gives the known bits, " + self_test->hex(), ""};
}

/// Informs only: most commands work without a node.
Check check_node(ClientOptions options) {
    options.deadline = std::chrono::milliseconds(1000);
    const auto health = check_health(options);
    return {"node", true,
            options.address + (health.ok() ? " answers" : " does not answer (needed for network commands)"),
            ""};
}

base::Outcome<void> examine(const Context& context, const std::string& device) {
    const std::vector<std::string> targets = trainer::machine_targets();
    std::optional<base::Hash256> self_test;
    ASSAY_ASSIGN(const DoctorDevices devices, examine_devices(device));
    std::vector<Check> checks = {
        check_targets(targets),     check_threads(), check_memory(),          check_disk(context.home()),
        check_home(context.home()), check_clock(),   check_worker(self_test), check_node(context.client())};
    if (self_test) checks.push_back(check_confinement(""));
    checks.insert(checks.end(), devices.checks.begin(), devices.checks.end());
    std::size_t problems = 0;
    for (const Check& check : checks) problems += check.ok ? 0 : 1;
    if (context.json()) {
        JsonFields body;
        body("ok", problems == 0);
        body("targets", targets);
        body("self_test", self_test);
        body("checks", checks);
        body("cards", devices.cards);
        context.print_json("assay.doctor/v1", body.take());
    } else {
        for (const Check& check : checks) {
            context.out << (check.ok ? "ok       " : "PROBLEM  ") << check.name << ": " << check.found
                        << '\n';
            if (!check.fix.empty())
                context.out << (check.ok ? "         to have it: " : "         fix: ") << check.fix << '\n';
        }
    }
    if (problems == 0) return {};
    return base::fail(base::ErrorKind::kPreflight, std::to_string(problems) + " problem(s) found",
                      "follow the fix lines above and run assay doctor again");
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context) {
    const auto device = std::make_shared<std::string>();
    CLI::App& command =
        verb(app, "doctor", "Examine this machine; exit code 8 and a fix line for every problem", context,
             [&context, device] { return examine(context, *device); });
    command.add_option("--device", *device,
                       "Devices that must be there and pass the self-test, as miner run names them");
}

}  // namespace assay::node
