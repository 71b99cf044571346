// SPDX-License-Identifier: Apache-2.0
#include "node/devnet/demo.hpp"

#include <bit>
#include <chrono>
#include <cmath>

#include "contracts/program/names.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/tensors.hpp"
#include "node/audit/job_plan.hpp"
#include "node/audit/run_record.hpp"
#include "node/devnet/demo_audit.hpp"
#include "node/devnet/demo_data.hpp"
#include "node/devnet/file_audits.hpp"
#include "node/devnet/job_run.hpp"
#include "node/devnet/network.hpp"
#include "node/worker/measure.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

base::Outcome<void> plant_sabotage(DevnetPlan& plan, const DemoOptions& options) {
    const program::JobSpec spec = demo_job(options);
    for (const DrillSpec& wanted : options.sabotage) {
        if (!wanted.miner || *wanted.miner == 0 || *wanted.miner > plan.miners.size()) {
            return fail(ErrorKind::kUsage,
                        "sabotage names no miner from 1 to " + std::to_string(plan.miners.size()),
                        "example: --sabotage \"miner=2,round=3,tensor=wte.weight,index=5,bit=7\"");
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
                const auto slot = contracts::read_slot(state, job.id, number, claim.slot);
                if (!slot) continue;
                for (const std::uint32_t unit : contracts::claimed_units(slot->drawn_units, claim.replayed)) {
                    const auto steps = program::RoundPlan(job.spec).steps(unit);
                    recomputed += static_cast<double>(steps.last - steps.first);
                }
            }
        }
        if (!round->merged) continue;
        if (round->train_steps > 0) report.loss.train_last = round->train_loss;
        report.loss.held_out_last = round->result.held_out_loss;
    }
    if (first_count > 0) report.loss.train_first = std::bit_cast<std::uint32_t>(first_sum / first_count);
    report.tokens = merged_tokens(state, job);
    if (trained > 0) report.verification.recomputed_share = recomputed / trained;
}

// Both profiles learn as well as PyTorch's fp32 (docs/parity.md), so the demo takes the one that is faster.
base::Outcome<JobFile> choose_profile(const DemoOptions& options, const JobFile& file,
                                      std::ostream& progress) {
    ASSAY_ASSIGN(const ProfileSpeeds speeds, measure_profiles(file));
    const program::Profile chosen = speeds.faster();
    progress << "profile one thread trains " << std::llround(speeds.f32) << " tokens/s in f32 and "
             << std::llround(speeds.i16) << " in i16 here: the job takes " << program::to_text(chosen)
             << " (--profile decides otherwise)\n";
    return write_profile(options, file, chosen);
}

base::Outcome<void> announce(const program::JobSpec& spec, const contracts::Params& params,
                             std::ostream& progress) {
    ASSAY_ASSIGN(const JobPlan plan, plan_job(spec, params));
    progress
        << "plan    " << program::to_text(spec.model.family) << " with " << plan.parameters
        << " parameters in exact profile " << program::to_text(spec.profile) << ", " << spec.rounds
        << " rounds of " << spec.slots << " slots x " << spec.train.inner_steps
        << " steps; a slot's round is " << plan.slot_work << " work units, at most "
        << base::to_text(plan.slot_pay) << "\n"
        << "plan    the job costs at most " << base::to_text(plan.spend_max) << " of a budget of "
        << base::to_text(spec.market.budget) << "; what is not spent comes back\n"
        << "plan    newcomers are audited at rate 1, so every unit of theirs is recomputed; a slot's bond is "
        << base::to_text(plan.bond_newcomer) << "\n";
    return {};
}

}  // namespace

base::Outcome<DemoReport> run_demo(const DemoOptions& options, std::ostream& progress, std::stop_token stop) {
    const auto began = std::chrono::steady_clock::now();
    if (options.rounds < 1 || options.rounds > 20) {
        return fail(ErrorKind::kUsage, "--rounds " + std::to_string(options.rounds) + " is not from 1 to 20",
                    "20 rounds is a newcomer's probation, in which every unit is recomputed");
    }
    DevnetPlan plan = demo_plan(options.home, options.seed, demo_job(options));
    ASSAY_TRY(plant_sabotage(plan, options));
    ASSAY_ASSIGN(const PackedText packed, pack_text(options));
    progress << "packed  " << packed.manifest.text_bytes << " bytes of " << packed.manifest.source << " into "
             << packed.manifest.train.tokens << " training and " << packed.manifest.held_out.tokens
             << " held-out tokens (byte-level BPE, vocabulary " << packed.manifest.vocabulary << ")\n";
    ASSAY_ASSIGN(const Devnet net, create_devnet(plan));
    ASSAY_ASSIGN(JobFile file, write_job(options, packed));
    if (!options.profile) {
        ASSAY_ASSIGN(file, choose_profile(options, file, progress));
    }
    ASSAY_TRY(announce(file.spec, plan.params, progress));

    DemoReport report;
    report.home = options.home.string();
    {
        ASSAY_ASSIGN(Network network, Network::start(net));
        JobRun run(net, network, progress);
        const auto outcome = run.run(options.home / "job.toml", stop);
        network.stop();
        ASSAY_TRY(outcome);
        report.job = run.job();
        report.verification.seconds_share = run.auditing_share();
    }
    progress << "every process has stopped; what follows needs files alone\n";
    ASSAY_ASSIGN(const auto truth, final_state(net));
    const auto job = contracts::read_job(truth, report.job);
    ASSAY_CHECK(job.has_value());
    report.profile = program::to_text(job->spec.profile);
    report.parameters = program::parameter_count(job->spec.model);
    report.rounds = job->rounds_done;
    report.model_root = job->base_root;
    report.clearing_price = job->auction.clearing_price;
    ASSAY_ASSIGN(report.disputes, replay_disputes(net, truth, *job));
    fill_parties(report, net, truth, *job);
    fill_work(report, truth, *job);
    ASSAY_TRY(gather_files(net, truth, *job));
    ASSAY_ASSIGN(FileAudits audits, FileAudits::start(net, truth, *job));
    ASSAY_TRY(finish_model(report, net, truth, file, *job));
    ASSAY_ASSIGN(report.audit, audits.finish(truth, progress));
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return report;
}

}  // namespace assay::node
