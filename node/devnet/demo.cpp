// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/demo.hpp"

#include <bit>
#include <chrono>
#include <thread>

#include "contracts/program/program.hpp"
#include "contracts/program/tensors.hpp"
#include "node/devnet/demo_audit.hpp"
#include "node/devnet/demo_data.hpp"
#include "node/devnet/network.hpp"
#include "node/devnet/story.hpp"
#include "node/devnet/watcher.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;
using contracts::EventKind;
using contracts::RoundPhase;
using Time = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

double seconds_between(Time::time_point from, Time::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

/// Wall time of the rounds and of the part of it in which verifiers recompute.
class Stopwatch {
public:
    void see(const contracts::Event& event) {
        const auto now = Time::now();
        if (event.kind == EventKind::kRoundStarted && !first_) first_ = now;
        if (event.kind == EventKind::kJobEnded) last_ = now;
        if (event.kind != EventKind::kRoundPhase) return;
        const auto phase = static_cast<RoundPhase>(event.number);
        if (phase == RoundPhase::kAuditSeal) audit_began_ = now;
        if (phase == RoundPhase::kMergeSeal && audit_began_) {
            auditing_ += seconds_between(*audit_began_, now);
            audit_began_.reset();
        }
    }
    [[nodiscard]] double auditing_share() const {
        if (!first_ || !last_) return 0;
        const double total = seconds_between(*first_, *last_);
        return total > 0 ? auditing_ / total : 0;
    }

private:
    std::optional<Time::time_point> first_, last_, audit_began_;
    double auditing_ = 0;
};

/// Runs the network until the job has ended. Everybody is registered before the buyer comes.
class JobRun {
public:
    JobRun(const Devnet& net, Network& network, std::ostream& progress)
        : net_(net), network_(network), story_(net, progress), progress_(progress) {}

    base::Outcome<void> run(std::stop_token stop) {
        const WatchOptions options{.node_address = network_.node_address(), .tls = {}, .genesis = net_.genesis};
        ASSAY_TRY(watch_ledger(options, stop, [this](const Follower& ledger, const contracts::Events& events) {
            return on_block(ledger, events);
        }));
        if (error_) return base::failed(*error_);
        if (!ended_) return fail(ErrorKind::kInterrupted, "stopped before the job ended");
        return wait_for_buyer();
    }
    [[nodiscard]] const base::Hash256& job() const { return job_; }
    [[nodiscard]] double auditing_share() const { return stopwatch_.auditing_share(); }

private:
    bool on_block(const Follower& ledger, const contracts::Events& events) {
        for (const contracts::Event& event : events) {
            story_.tell(ledger.state(), event);
            stopwatch_.see(event);
            if (event.kind == EventKind::kJobSubmitted) job_ = event.job;
            if (event.kind == EventKind::kJobEnded) ended_ = true;
        }
        if (!buyer_started_ && everybody_staked(ledger.state())) start_buyer();
        check_processes();
        return !ended_ && !error_;
    }

    bool everybody_staked(const contracts::StateView& state) const {
        for (const Participant& miner : net_.miners) {
            if (contracts::read_stake(state, miner.node).free.is_zero()) return false;
        }
        for (const Participant& verifier : net_.verifiers) {
            if (contracts::read_stake(state, verifier.node).free.is_zero()) return false;
        }
        return true;
    }

    void start_buyer() {
        buyer_started_ = true;
        progress_ << "network " << net_.miners.size() << " miners and " << net_.verifiers.size()
                  << " verifiers registered and staked; the buyer submits job.toml\n";
        std::vector<std::string> arguments{"job", "submit", (net_.plan.home / "job.toml").string()};
        const auto flags = network_.common_flags(net_.buyer);
        arguments.insert(arguments.end(), flags.begin(), flags.end());
        if (auto spawned = network_.spawn("buyer", net_.buyer.home, std::move(arguments)); !spawned.ok()) {
            error_ = spawned.error();
        }
    }

    void check_processes() {
        for (const auto& [name, status] : network_.casualties()) {
            if (name == "buyer" && ended_) continue;
            const Home home = name == "node" ? net_.sequencer.home : Home{net_.plan.home / name};
            error_ = base::Error{ErrorKind::kFailure,
                                 name + " ended (" + to_text(status) + "):\n" + log_tail(home, name, 8), ""};
        }
    }

    base::Outcome<void> wait_for_buyer() {
        const auto give_up = Time::now() + 30s;
        while (Time::now() < give_up) {
            if (const auto status = network_.poll("buyer")) {
                if (status->success()) return {};
                return fail(ErrorKind::kFailure, "the buyer ended (" + to_text(*status) + "):\n" +
                                                     log_tail(net_.buyer.home, "buyer", 8));
            }
            std::this_thread::sleep_for(20ms);
        }
        return fail(ErrorKind::kUnreachable, "the buyer did not get the last base state within 30 s");
    }

    const Devnet& net_;
    Network& network_;
    Story story_;
    Stopwatch stopwatch_;
    std::ostream& progress_;
    base::Hash256 job_;
    bool buyer_started_ = false;
    bool ended_ = false;
    std::optional<base::Error> error_;
};

base::Outcome<void> plant_sabotage(DevnetPlan& plan, const DemoOptions& options) {
    const program::JobSpec spec = demo_job(options);
    for (const DrillSpec& wanted : options.sabotage) {
        if (!wanted.miner || *wanted.miner == 0 || *wanted.miner > plan.miners.size()) {
            return fail(ErrorKind::kUsage, "sabotage names no miner from 1 to " + std::to_string(plan.miners.size()),
                        "example: --sabotage \"miner=2,round=3,tensor=transformer.wte.weight,index=5,bit=7\"");
        }
        ASSAY_TRY(check_drill(wanted.planned, spec));
        plan.miners[*wanted.miner - 1].drills.push_back(wanted.planned);
    }
    // A short demo has no later rounds for its own cheats to wait for.
    for (MinerPlan& miner : plan.miners) {
        for (PlannedDrill& drill : miner.drills) {
            if (drill.round && *drill.round >= options.rounds) drill.round = options.rounds - 1;
        }
    }
    return {};
}

void fill_work(DemoReport& report, const contracts::StateView& state, const contracts::Job& job) {
    double trained = 0;
    double recomputed = 0;
    float first_sum = 0;
    float first_count = 0;
    for (std::uint32_t number = 0; number < job.spec.rounds; ++number) {
        const auto round = contracts::read_round(state, job.id, number);
        if (!round) continue;
        for (const auto& slot : contracts::list_slots(state, job.id, number)) {
            const auto reveal = contracts::read_reveal(state, job.id, number, slot.slot);
            if (!reveal) continue;
            trained += static_cast<double>(reveal->trace.fingerprints.size());
            if (number == 0 && !reveal->trace.fingerprints.empty()) {
                first_sum += std::bit_cast<float>(reveal->trace.fingerprints.front().loss);
                first_count += 1;
            }
        }
        for (const auto& audit : contracts::list_audits(state, job.id, number)) {
            for (const auto& claim : audit.claims) {
                if (claim.unavailable || claim.unit >= job.spec.segments()) continue;
                const auto steps = program::segment_steps(job.spec, claim.unit);
                recomputed += static_cast<double>(steps.last - steps.first);
            }
        }
        if (!round->merged) continue;
        report.tokens += std::uint64_t{job.spec.train.inner_steps} * job.spec.train.batch *
                         job.spec.model.context * round->merged_slots.size();
        report.loss.train_last = round->result.train_loss;
        report.loss.held_out_last = round->result.held_out_loss;
    }
    if (first_count > 0) report.loss.train_first = std::bit_cast<std::uint32_t>(first_sum / first_count);
    if (trained > 0) report.recomputed_share = recomputed / trained;
}

void announce(const program::JobSpec& spec, std::ostream& progress) {
    const std::uint64_t work = program::work_units(spec);
    const std::uint64_t pay = work * spec.market.max_price.units();
    progress << "plan    " << program::parameter_count(spec.model) << " parameters, " << spec.rounds << " rounds of "
             << spec.slots << " slots x " << spec.train.inner_steps << " steps; a slot's round is " << work
             << " work units, at most " << base::to_text(*base::Amount::of(pay))
             << "; newcomers are audited at rate 1, so every cheat is certain to be found\n";
}

}  // namespace

base::Outcome<DemoReport> run_demo(const DemoOptions& options, std::ostream& progress, std::stop_token stop) {
    const auto began = Time::now();
    if (options.rounds < 1 || options.rounds > 20) {
        return fail(ErrorKind::kUsage, "--rounds " + std::to_string(options.rounds) + " is not from 1 to 20",
                    "20 rounds is a newcomer's probation, in which every unit is recomputed");
    }
    DevnetPlan plan = demo_plan(options.home, options.seed);
    ASSAY_TRY(plant_sabotage(plan, options));
    ASSAY_ASSIGN(const Devnet net, create_devnet(plan));
    ASSAY_ASSIGN(const JobFile file, prepare_job(options, progress));
    announce(file.spec, progress);

    DemoReport report;
    report.home = options.home.string();
    {
        ASSAY_ASSIGN(Network network, Network::start(net));
        JobRun run(net, network, progress);
        const auto outcome = run.run(stop);
        network.stop();
        ASSAY_TRY(outcome);
        report.job = run.job();
        report.seconds_share = run.auditing_share();
    }
    progress << "every process has stopped; what follows needs files alone\n";
    ASSAY_ASSIGN(const auto truth, final_state(net));
    const auto job = contracts::read_job(truth, report.job);
    ASSAY_CHECK(job.has_value());
    report.parameters = program::parameter_count(job->spec.model);
    report.rounds = job->rounds_done;
    report.model_root = job->base_root;
    fill_parties(report, net, truth, *job);
    fill_work(report, truth, *job);
    ASSAY_TRY(gather_files(net, truth, *job));
    ASSAY_TRY(finish_model(report, net, file, *job));
    ASSAY_ASSIGN(report.audit, audit_files(net, *job, progress));
    report.seconds = seconds_between(began, Time::now());
    return report;
}

}  // namespace assay::node
