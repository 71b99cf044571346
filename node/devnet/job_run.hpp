// SPDX-License-Identifier: Apache-2.0
// Gives demo and scenarios JobRun, which runs one job on a running local network, from everybody's
// registration to the buyer's last byte.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <ostream>
#include <set>
#include <stop_token>

#include "contracts/rules/state/events.hpp"
#include "node/devnet/network.hpp"
#include "node/devnet/story.hpp"
#include "node/roles/follower.hpp"

namespace assay::node {

/// Measures the wall time of the rounds, and the part of it in which verifiers recompute.
class Stopwatch {
public:
    void see(const contracts::Event& event);
    [[nodiscard]] double auditing_share() const;

private:
    using Time = std::chrono::steady_clock::time_point;
    std::optional<Time> first_, last_, audit_began_;
    double auditing_ = 0;
};

/// A caller's action at an event, such as to kill a process or cancel the job. Runs on the caller's thread.
using EventHook = std::function<void(const Follower& ledger, const contracts::Event& event)>;

class JobRun {
public:
    /// `net`, `network` and `progress` must outlive the run. The story goes to `progress`.
    JobRun(const Devnet& net, Network& network, std::ostream& progress);

    void on_event(EventHook hook) { hook_ = std::move(hook); }
    /// Allows a process to end before the job does, because the test ends it.
    void allow_death_of(const std::string& name) { mortals_.insert(name); }

    /// Waits until every miner and verifier has staked, starts the buyer with `job_file`, follows the job to
    /// its end and waits for the buyer. kInterrupted when stopped before, kFailure when a process died.
    base::Outcome<void> run(const std::filesystem::path& job_file, std::stop_token stop);

    [[nodiscard]] const base::Hash256& job() const { return job_; }
    [[nodiscard]] double auditing_share() const { return stopwatch_.auditing_share(); }

private:
    /// Whether the job has ended, or a process that must not end.
    bool is_over();
    bool on_block(const Follower& ledger, const contracts::Events& events);
    [[nodiscard]] bool everybody_staked(const contracts::StateView& state) const;
    void start_buyer();
    void check_processes();
    base::Outcome<void> wait_for_buyer();

    const Devnet& net_;
    Network& network_;
    Story story_;
    Stopwatch stopwatch_;
    std::ostream& progress_;
    std::filesystem::path job_file_;
    EventHook hook_;
    std::set<std::string> mortals_;
    base::Hash256 job_;
    std::uint64_t seen_height_ = 0;
    bool buyer_started_ = false;
    bool ended_ = false;
    std::optional<base::Error> error_;
    std::mutex mutex_;  ///< guards all above except the job file: two threads look at the processes
};

}  // namespace assay::node
