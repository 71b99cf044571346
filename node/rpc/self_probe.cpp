// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/self_probe.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>

namespace assay::node {
namespace {

class Prober final : public SelfProbe {
public:
    Prober(SelfProbeOptions options, std::function<void()> on_deaf)
        : options_(std::move(options)), on_deaf_(std::move(on_deaf)) {
        options_.client.deadline = options_.timeout;
        thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }

private:
    void run(const std::stop_token& stop) {
        int failures = 0;
        std::mutex mutex;
        std::condition_variable_any wake;
        while (!stop.stop_requested()) {
            std::unique_lock lock(mutex);
            wake.wait_for(lock, stop, options_.interval, [] { return false; });
            if (stop.stop_requested()) return;
            failures = check_health(options_.client).ok() ? 0 : failures + 1;
            if (failures > options_.failures_allowed) {
                on_deaf_();
                return;
            }
        }
    }

    SelfProbeOptions options_;
    std::function<void()> on_deaf_;
    std::jthread thread_;
};

}  // namespace

std::unique_ptr<SelfProbe> start_self_probe(const SelfProbeOptions& options, std::function<void()> on_deaf) {
    return std::make_unique<Prober>(options, std::move(on_deaf));
}

void exit_deaf() {
    // write(2) and _exit: whatever made the server deaf (no descriptors left) may break anything larger.
    constexpr std::string_view kText =
        "error: this server no longer answers its own health check; ending so that it is started again\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText.data(), kText.size());
    _exit(1);
}

std::uint64_t raise_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    const rlimit wanted{limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &wanted) == 0) return wanted.rlim_cur;
    return limit.rlim_cur;
}

}  // namespace assay::node
