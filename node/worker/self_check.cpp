// SPDX-License-Identifier: Apache-2.0
#include "node/worker/self_check.hpp"

#include <sys/resource.h>

#include "node/runtime/process.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

constexpr std::chrono::milliseconds kLook{50};  // at a running check and at the wish to stop
constexpr std::chrono::minutes kPatience{5};    // with one target: it takes seconds on a slow machine
constexpr int kLowestPriority = 19;

base::Outcome<void> check_target(const WorkerOptions& options, const std::filesystem::path& program,
                                 const std::string& target, const std::stop_token& stop) {
    ProcessOptions process;
    process.program = program;
    process.environment = options.environment;
    process.environment.emplace_back("ASSAY_TARGETS", target);
    process.arguments = {"--self-test"};
    if (!options.device.empty()) process.arguments = {"--self-test", "--device", options.device};
    process.stdout_file = process.stderr_file = "/dev/null";
    ASSAY_ASSIGN(auto child, Process::spawn(process));
    static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(child.pid()), kLowestPriority));
    const auto until = std::chrono::steady_clock::now() + kPatience;
    std::optional<ExitStatus> ended;
    while (!(ended = child.wait(kLook))) {
        if (stop.stop_requested()) return fail(ErrorKind::kInterrupted, "the self-check was stopped", "");
        if (std::chrono::steady_clock::now() >= until) break;
    }
    if (ended && ended->success()) return {};
    const std::string what = ended ? "ends with " + to_text(*ended) : "does not end";
    return fail(ErrorKind::kPreflight,
                "target " + target + ": the worker's self-test " + what +
                    ": this machine or build computes other bits there and may not train",
                "test this machine's memory and processor; ASSAY_TARGETS leaves a target out, and what was "
                "committed before can still be served and revealed by a start without it");
}

}  // namespace

base::Outcome<void> check_targets(const WorkerOptions& options, const std::vector<std::string>& targets,
                                  const std::stop_token& stop) {
    ASSAY_ASSIGN(const auto program, find_worker_program(options));
    for (const std::string& target : targets) ASSAY_TRY(check_target(options, program, target, stop));
    return {};
}

SelfCheck::SelfCheck(WorkerOptions options, std::vector<std::string> targets,
                     std::chrono::milliseconds interval, std::function<void(base::Error)> fault)
    : options_(std::move(options)),
      targets_(std::move(targets)),
      interval_(interval),
      fault_(std::move(fault)),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void SelfCheck::watch(const std::stop_token& stop) {
    while (true) {
        {
            std::unique_lock lock(mutex_);
            wake_.wait_for(lock, stop, interval_, [] { return false; });
        }
        if (stop.stop_requested()) return;
        const auto checked = check_targets(options_, targets_, stop);
        if (checked.ok() || checked.error().kind != ErrorKind::kPreflight) continue;
        fault_(checked.error());
        return;
    }
}

}  // namespace assay::node
