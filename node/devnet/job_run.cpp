// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/job_run.hpp"

#include <thread>

#include "contracts/rules/tables.hpp"
#include "node/processes/watcher.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using contracts::EventKind;
using contracts::RoundPhase;
using SteadyClock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {
double seconds_between(SteadyClock::time_point from, SteadyClock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}
}  // namespace

void Stopwatch::see(const contracts::Event& event) {
    const auto now = SteadyClock::now();
    if (event.kind == EventKind::kRoundStarted && !first_) first_ = now;
    if (event.kind == EventKind::kJobEnded) last_ = now;
    if (event.kind != EventKind::kRoundPhase) return;
    const auto phase = static_cast<RoundPhase>(event.number);
    if (phase == RoundPhase::kAuditSeal) audit_began_ = now;
    if (phase == RoundPhase::kReveal && audit_began_) {
        auditing_ += seconds_between(*audit_began_, now);
        audit_began_.reset();
    }
}

double Stopwatch::auditing_share() const {
    if (!first_ || !last_) return 0;
    const double total = seconds_between(*first_, *last_);
    return total > 0 ? auditing_ / total : 0;
}

JobRun::JobRun(const Devnet& net, Network& network, std::ostream& progress)
    : net_(net), network_(network), story_(net, progress), progress_(progress) {}

base::Outcome<void> JobRun::run(const std::filesystem::path& job_file, std::stop_token stop) {
    job_file_ = job_file;
    std::stop_source watching;
    const std::stop_callback with_caller(stop, [&] { watching.request_stop(); });
    // Where no block is due, nothing else would notice that somebody is gone for whom all others wait.
    const std::jthread guard([&](const std::stop_token& over) {
        while (!over.stop_requested() && !is_over()) std::this_thread::sleep_for(100ms);
        if (!over.stop_requested()) watching.request_stop();
    });
    // A node that is killed and started again is found again at its new address.
    while (!is_over() && !stop.stop_requested()) {
        std::string address;
        {
            const std::lock_guard lock(mutex_);
            address = network_.node_address();
        }
        const auto watched = watch_ledger(
            {.node_address = address, .tls = {}, .genesis = net_.genesis, .patience = {}},
            watching.get_token(), [this](const Follower& ledger, const contracts::Events& events) {
                return on_block(ledger, events);
            });
        if (is_over()) break;
        if (!watched.ok() && watched.error().kind != ErrorKind::kUnreachable) return watched;
        std::this_thread::sleep_for(100ms);
    }
    if (error_) return base::failed(*error_);
    if (!ended_)
        return fail(ErrorKind::kInterrupted, "stopped before the job ended",
                    "every process has been ended; run it again to start anew");
    return wait_for_buyer();
}

bool JobRun::is_over() {
    const std::lock_guard lock(mutex_);
    check_processes();
    return ended_ || error_.has_value();
}

bool JobRun::on_block(const Follower& ledger, const contracts::Events& events) {
    const std::lock_guard lock(mutex_);
    if (ledger.height() <= seen_height_) return true;  // followed before the connection was lost
    seen_height_ = ledger.height();
    for (const contracts::Event& event : events) {
        story_.tell(ledger.state(), event);
        stopwatch_.see(event);
        if (event.kind == EventKind::kJobSubmitted) job_ = event.job;
        if (event.kind == EventKind::kJobEnded) ended_ = true;
        if (hook_) hook_(ledger, event);
    }
    if (!buyer_started_ && everybody_staked(ledger.state())) start_buyer();
    check_processes();
    return !ended_ && !error_;
}

bool JobRun::everybody_staked(const contracts::StateView& state) const {
    for (const Participant& miner : net_.miners) {
        if (contracts::read_stake(state, miner.node).free.is_zero()) return false;
    }
    for (const Participant& verifier : net_.verifiers) {
        if (contracts::read_stake(state, verifier.node).free.is_zero()) return false;
    }
    return true;
}

void JobRun::start_buyer() {
    buyer_started_ = true;
    progress_ << "network " << net_.miners.size() << " miners and " << net_.verifiers.size()
              << " verifiers registered and staked; the buyer submits " << job_file_.filename().string()
              << "\n";
    std::vector<std::string> arguments{"job", "submit", job_file_.string()};
    for (const Misconduct conduct : net_.plan.buyer_conducts)
        arguments.insert(arguments.end(), {"--drill", std::string(to_text(conduct))});
    const auto flags = network_.common_flags(net_.buyer);
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    if (auto spawned = network_.spawn("buyer", net_.buyer.home, std::move(arguments)); !spawned.ok()) {
        error_ = spawned.error();
    }
}

void JobRun::check_processes() {
    for (const auto& [name, status] : network_.casualties()) {
        if ((name == "buyer" && ended_) || mortals_.contains(name)) continue;
        const Home home = name == "node" ? net_.sequencer.home : Home{net_.plan.home / name};
        error_ = base::Error{ErrorKind::kFailure,
                             name + " ended (" + to_text(status) + "):\n" + log_tail(home, name, 8), ""};
    }
}

base::Outcome<void> JobRun::wait_for_buyer() {
    const auto give_up = SteadyClock::now() + 30s;
    while (SteadyClock::now() < give_up) {
        if (const auto status = network_.poll("buyer")) {
            if (status->success()) return {};
            return fail(ErrorKind::kFailure, "the buyer ended (" + to_text(*status) + "):\n" +
                                                 log_tail(net_.buyer.home, "buyer", 8));
        }
        std::this_thread::sleep_for(20ms);
    }
    return fail(ErrorKind::kUnreachable, "the buyer did not get the last base state within 30 s");
}

}  // namespace assay::node
