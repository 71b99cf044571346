// SPDX-License-Identifier: Apache-2.0
#include "node/worker/self_check.hpp"

#include <unistd.h>

#include "node/worker/device_list.hpp"
#include "node/worker/worker_report.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

// Added to the niceness of the role. Ten gives a check a tenth of the worker's share of a core. Nineteen
// would give it a seventieth: next to a miner that trains on every core, a check of seconds would take many
// minutes.
constexpr int kNicer = 10;

base::Outcome<void> check_target(const WorkerOptions& options, const std::string& target,
                                 const std::stop_token& stop) {
    WorkerOptions one = options;
    one.targets = target;
    const auto tested = run_self_test(one, stop);
    if (tested.ok() && tested->sound) return {};
    // A card that has no room now, or that the driver does not give now, has not shown other bits.
    if (!tested.ok() && is_card(options.device))
        return fail(ErrorKind::kFailure, tested.error().what, tested.error().fix);
    if (!tested.ok() && tested.error().kind != ErrorKind::kPreflight) return base::failed(tested.error());
    const std::string where =
        (options.device.empty() ? "" : "device " + options.device + ", ") + "target " + target + ": ";
    const std::string fix =
        "test this machine's memory and processor; ASSAY_TARGETS leaves a target out, and what was committed "
        "before can still be served and revealed by a start without it";
    if (!tested.ok()) {
        return fail(ErrorKind::kPreflight,
                    where + tested.error().what +
                        ": nothing shows that this machine computes right there, so it may not train",
                    fix);
    }
    const std::string what = tested->differs.empty() ? "the worker's self-test gives other bits"
                                                     : "the worker's self-test differs in " + tested->differs;
    return fail(ErrorKind::kPreflight,
                where + what + ": this machine or build computes other bits there and may not train", fix);
}

}  // namespace

base::Outcome<void> check_targets(const WorkerOptions& options, const std::vector<std::string>& targets,
                                  const std::stop_token& stop) {
    ASSAY_TRY(find_worker_program(options));
    for (const std::string& target : targets) ASSAY_TRY(check_target(options, target, stop));
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
    // On Linux of this thread alone, and of the processes that it starts.
    [[maybe_unused]] const int niceness = ::nice(kNicer);
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
