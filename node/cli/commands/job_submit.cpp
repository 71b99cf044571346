// SPDX-License-Identifier: Apache-2.0
// assay job submit|resume
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/audit/job_plan.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/plan_forecast.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/owner_step.hpp"
#include "node/cli/state_source.hpp"
#include "node/config/prediction_file.hpp"
#include "node/processes/purchase.hpp"
#include "node/roles/misconduct.hpp"
#include "node/runtime/shutdown.hpp"
#include "node/views/json.hpp"

namespace assay::node {

namespace {

struct SubmitFlags {
    RoleFlags role;
    std::string file;
    double challenge = 0;
    std::string stake = "10";
    std::string sponsor;
    std::vector<std::string> drills;
    std::vector<std::string> pilots;
    std::string bid;
};

/// What is foretold of the job, from the ledger as it is and the pilots.
base::Outcome<JobPrediction> foretold(const Context& context, const program::JobSpec& spec,
                                      const std::vector<std::string>& pilots) {
    ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
    const contracts::Params params = contracts::read_current_params(*state);
    ASSAY_ASSIGN(const JobPlan planned, plan_job(spec, params));
    ForecastSources sources{.history = market_history(*state, spec), .pilot = {}, .own_speed = std::nullopt};
    ASSAY_ASSIGN(sources.pilot, read_pilots(pilots, spec));
    return JobForecaster(spec, params, planned.slot_work, std::move(sources)).prediction();
}

/// Beside the job, for `job show`. What was foretold first stays.
void keep_prediction(const Context& context, const base::Hash256& job, const JobPrediction& prediction) {
    const auto path = prediction_path(context.home(), job);
    std::error_code error;
    if (std::filesystem::exists(path, error)) return;
    if (const auto kept = write_prediction(path, prediction); !kept.ok())
        context.err << "the job is bought; its prediction is not kept: " << kept.error().what << '\n';
}

base::Outcome<std::optional<base::Amount>> bid_flag(const std::string& text) {
    if (text.empty()) return std::optional<base::Amount>();
    ASSAY_ASSIGN(const base::Amount bid, amount_flag("--bid", text));
    return std::optional(bid);
}

void add_bid_flag(CLI::App& command, std::string& bid) {
    command.add_option(
        "--bid", bid,
        "Most that it bids for a work unit in the market between jobs (default: the job's cap). "
        "What a work unit is worth to you is the best bid: who wins pays the least with which "
        "it would have won");
}

base::Outcome<void> submit(const Context& context, const SubmitFlags& flags) {
    ASSAY_ASSIGN(const auto bid, bid_flag(flags.bid));
    const std::stop_token stop = stop_on_signals();
    ASSAY_ASSIGN(RoleProcessOptions process, role_options(context, flags.role, "job submit"));
    std::shared_ptr<const Passphrase> passphrase = process.passphrase.read;
    Misconducts conducts;
    for (const std::string& text : flags.drills) {
        if (const auto conduct = find_misconduct(WorkRole::kBuyer, text)) conducts.add(*conduct);
    }
    base::Amount fee;
    const auto buy = [&](const program::JobSpec& spec,
                         const std::string& endpoint) -> base::Outcome<base::Hash256> {
        // What nothing can be foretold of, the ledger refuses, and says why.
        const auto prediction = foretold(context, spec, flags.pilots);
        if (!prediction.ok() && !flags.pilots.empty()) return base::failed(prediction.error());
        OwnerStep step{.words = {"job", "buy", flags.file, "--endpoint", endpoint, "--initial-root",
                                 spec.initial_root.hex(), "--initial-blob", spec.initial_blob.hex(), "--spec",
                                 contracts::hash_of_spec(spec).hex()}};
        if (flags.challenge > 0) step.words.insert(step.words.end(), {"--stake", flags.stake});
        if (!flags.sponsor.empty()) step.words.insert(step.words.end(), {"--sponsor", flags.sponsor});
        const auto ledger = genesis_words(flags.role);
        step.words.insert(step.words.end(), ledger.begin(), ledger.end());
        const auto said = run_owner_step(context, step, *passphrase, stop);
        passphrase.reset();  // wiped before anybody can reach this process
        if (!said.ok()) return base::failed(said.error());
        ASSAY_ASSIGN(fee, amount_in(*said, "fee"));
        ASSAY_ASSIGN(const base::Hash256 job, hash_in(*said, "job"));
        if (prediction.ok())
            keep_prediction(context, job, *prediction);
        else
            context.err << "the job is bought; nothing is foretold of it: " << prediction.error().what
                        << '\n';
        return job;
    };
    ASSAY_ASSIGN(const contracts::Job job, purchase({.process = std::move(process),
                                                     .job_file = flags.file,
                                                     .challenge = flags.challenge,
                                                     .bid = bid,
                                                     .conducts = conducts,
                                                     .buy = buy},
                                                    stop));
    if (context.json()) {
        JsonFields bought;
        bought("job", job.id);
        bought("rounds", job.rounds_done);
        bought("reason", job.end_reason);
        bought("fee", fee);
        bought("spent", job.spent);
        bought("refunded", job.refunded);
        bought("model_root", job.base_root);
        context.print_json("assay.job.submit/v1", bought.take());
        return {};
    }
    context.out << "job " << job.id.hex() << "\n"
                << contracts::explain(job.end_reason) << "\n"
                << job.rounds_done << " rounds, spent " << base::to_text(job.spent) << ", refunded "
                << base::to_text(job.refunded) << "\n"
                << "fee " << base::to_text(fee) << ", burned at its submission\n";
    return {};
}

struct ResumeFlags {
    RoleFlags role;
    std::string job;
    std::string file;
    double challenge = 0;
    std::string bid;
};

base::Outcome<void> resume_job(const Context& context, const ResumeFlags& flags) {
    ASSAY_ASSIGN(const auto bid, bid_flag(flags.bid));
    const std::stop_token stop = stop_on_signals();
    ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
    ASSAY_ASSIGN(contracts::Job bought, find_job(*state, flags.job));
    ASSAY_ASSIGN(RoleProcessOptions process, role_options(context, flags.role, "job resume"));
    ASSAY_ASSIGN(const contracts::Job job, resume({.process = std::move(process),
                                                   .job = std::move(bought),
                                                   .job_file = flags.file,
                                                   .challenge = flags.challenge,
                                                   .bid = bid},
                                                  stop));
    if (context.json()) {
        JsonFields ended;
        ended("job", job.id);
        ended("rounds", job.rounds_done);
        ended("reason", job.end_reason);
        ended("spent", job.spent);
        ended("refunded", job.refunded);
        ended("model_root", job.base_root);
        context.print_json("assay.job.resume/v1", ended.take());
        return {};
    }
    context.out << "job " << job.id.hex() << "\n"
                << contracts::explain(job.end_reason) << "\n"
                << job.rounds_done << " rounds, spent " << base::to_text(job.spent) << ", refunded "
                << base::to_text(job.refunded) << "\n";
    return {};
}

void add_resume(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<ResumeFlags>();
    CLI::App& command = verb(noun(app, "job", "Buy training"), "resume",
                             "Serve a job again that this home's keys bought, until it ends", context,
                             [&context, flags] { return resume_job(context, *flags); });
    command.add_option("job", flags->job, "Id, a beginning of it, or the name")->required();
    command.add_option("--file", flags->file, "The job file, where the home does not hold the job's data");
    add_service_flags(command, flags->role);
    add_compute_flags(command, flags->role, MemoryDefault::kUnlimited);
    add_peer_flags(command, flags->role);
    command
        .add_option("--challenge", flags->challenge,
                    "Share of the job's settled slots to compute again here, and to challenge where they are "
                    "false")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    add_bid_flag(command, flags->bid);
}

}  // namespace

void add_job_submit_command(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<SubmitFlags>();
    CLI::App& command = verb(noun(app, "job", "Buy training"), "submit",
                             "Lock the budget, submit a job file and serve it until the job ends", context,
                             [&context, flags] { return submit(context, *flags); });
    command.add_option("JOB.toml", flags->file, "The job file")->required();
    add_service_flags(command, flags->role);
    add_compute_flags(command, flags->role, MemoryDefault::kUnlimited);
    add_peer_flags(command, flags->role);
    command
        .add_option("--challenge", flags->challenge,
                    "Share of the job's settled slots to compute again here, and to challenge where they are "
                    "false (takes --stake)")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command
        .add_option("--stake", flags->stake,
                    "Stake deposited for bonds of challenges, if --challenge is given")
        ->capture_default_str();
    add_sponsor_flag(command, flags->sponsor);
    add_bid_flag(command, flags->bid);
    command.add_option("--pilot", flags->pilots,
                       "Files of pilots for the prediction that stays with the job, as of assay plan");
    command
        .add_option("--drill", flags->drills, "Behave so (devnet only). " + misconduct_help(WorkRole::kBuyer))
        ->check(CLI::IsMember(misconduct_names(WorkRole::kBuyer)));
    add_resume(app, context);
}

}  // namespace assay::node
