// SPDX-License-Identifier: Apache-2.0
// assay audit model
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ostream>

#include "node/audit/model_audit.hpp"
#include "node/audit/model_output.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/audit_bytes.hpp"
#include "node/cli/commands/audit_model_report.hpp"
#include "node/cli/commands/audit_report.hpp"
#include "node/cli/commands/birth_source.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/interrupt.hpp"
#include "node/cli/progress.hpp"
#include "node/cli/state_source.hpp"
#include "node/config/job_file.hpp"
#include "node/roles/following_role.hpp"
#include "node/runtime/loop.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/worker_process.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;
using base::Outcome;

struct ModelAuditFlags {
    std::string folder;
    double minutes = 10;
    std::optional<std::uint64_t> units;
    std::string job_file;
    std::string beacon;
    std::optional<std::uint64_t> seed;
    std::string device;
};

/// Where the sample's randomness comes from. Called after the certificate has been read.
Outcome<SamplePlan> sample_plan(const ModelAuditFlags& flags) {
    SamplePlan plan;
    const auto began = std::chrono::steady_clock::now();
    plan.seconds = [began] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    plan.limit = flags.minutes * 60;
    plan.most = flags.units;
    if (flags.seed) {
        base::Encoder encoder;
        encoder(*flags.seed);
        plan.source = SampleSource::kSeed;
        plan.number = base::hash("assay/audit/seed", std::move(encoder).take());
    } else if (!flags.beacon.empty()) {
        const auto number = base::parse_hash(flags.beacon);
        if (!number) {
            return fail(ErrorKind::kUsage, "--beacon has not 64 hexadecimal digits",
                        "give 32 bytes that became public after the model did");
        }
        plan.source = SampleSource::kBeacon;
        plan.number = *number;
    } else {
        system_random().fill(plan.number.bytes);
    }
    return plan;
}

void add_differences(const BirthCertificate& certificate, const Outcome<BirthCertificate>& ledgers,
                     std::vector<MetFault>& found) {
    if (!ledgers.ok()) {
        found.push_back({"ledger", ledgers.error().what});
        return;
    }
    for (std::string& what : differences(certificate, *ledgers)) found.push_back({"ledger", std::move(what)});
}

/// The certificate against the ledgers that were named; a ledger that does not answer is an error.
class LedgerCheck {
public:
    LedgerCheck(const Context& context, const BirthCertificate& certificate, ModelAuditText& text)
        : context_(context), certificate_(certificate), text_(text) {}

    Outcome<void> with_home() {
        if (!context_.flags.home) return {};
        const auto ledger = audit_home_ledger(context_);
        // A home that fetched a model and follows no ledger has bytes all the same.
        if (!ledger.ok() && ledger.error().kind == ErrorKind::kNotFound) return {};
        if (!ledger.ok()) return base::failed(ledger.error());
        text_.ledger = "home";
        text_.end = end_text(*ledger);
        text_.height = ledger->height;
        text_.anchored = ledger->anchored;
        for (const auto& failure : ledger->failures) text_.failures.push_back({failure.where, failure.what});
        if (!ledger->ok()) return {};
        const auto job = contracts::read_job(ledger->state, certificate_.job);
        if (!job) return unknown();
        add_differences(certificate_, certify_from_home(*ledger, *job, last_blob()), text_.failures);
        return {};
    }

    Outcome<void> with_node(BytesAtHand& bytes) {
        if (!context_.flags.node) return {};
        text_.ledger = text_.ledger == "none" ? "node" : "home and node";
        ASSAY_ASSIGN(const auto state, open_state(context_, StateFrom::kNode));
        const auto job = contracts::read_job(*state, certificate_.job);
        if (!job) return unknown();
        auto made = certify_from_node(context_, *state, *job, last_blob());
        if (!made.ok() && made.error().kind == ErrorKind::kUnreachable) return base::failed(made.error());
        add_differences(certificate_, made, text_.failures);
        bytes.ask(holders_of_base(*state, *job));
        return {};
    }

private:
    Outcome<void> unknown() {
        text_.failures.push_back({"ledger", "it has no job " + certificate_.job.hex()});
        return {};
    }
    [[nodiscard]] const base::Hash256& last_blob() const {
        return certificate_.rounds.back().result.base_blob;
    }

    const Context& context_;
    const BirthCertificate& certificate_;
    ModelAuditText& text_;
};

Outcome<void> add_job_file(const std::string& path, const BirthCertificate& certificate, BytesAtHand& bytes) {
    if (path.empty()) return {};
    ASSAY_ASSIGN(JobFile job, read_job_file(path));
    ASSAY_ASSIGN(auto train, worker::open_file(job.train.string()));
    ASSAY_ASSIGN(auto held_out, worker::open_file(job.held_out.string()));
    bytes.add(certificate.spec.data.train, std::move(train));
    bytes.add(certificate.spec.data.held_out, std::move(held_out));
    ASSAY_ASSIGN(auto initial, initial_file(job));
    if (initial != nullptr) bytes.add(certificate.spec.initial_blob, std::move(initial));
    return {};
}

/// Of a job whose data nobody has: nothing of it can be computed.
class NothingAtHand final : public ClaimJudge {
public:
    Outcome<ClaimFinding> judge(const UnitPlace&) override { return gone(); }
    Outcome<ClaimFinding> judge(const TilePlace&) override { return gone(); }
    [[nodiscard]] std::vector<MetFault> met() const override { return {}; }

private:
    static ClaimFinding gone() {
        return {ClaimState::kGone,
                "the job's tokens are nowhere at hand: name a home, a node or the job's own file"};
    }
};

/// Tells a person who waits how many segments have been looked at.
class WatchedJudge final : public ClaimJudge {
public:
    WatchedJudge(ClaimJudge& judge, std::ostream& err, std::uint64_t total)
        : judge_(judge), bar_(err, "auditing", "segments"), total_(total) {
        bar_.update(0, total_);
    }
    Outcome<ClaimFinding> judge(const UnitPlace& place) override {
        ASSAY_ASSIGN(ClaimFinding found, judge_.judge(place));
        bar_.update(++done_, total_);
        return found;
    }
    Outcome<ClaimFinding> judge(const TilePlace& place) override { return judge_.judge(place); }
    [[nodiscard]] std::vector<MetFault> met() const override { return judge_.met(); }

private:
    ClaimJudge& judge_;
    ProgressBar bar_;
    std::uint64_t total_;
    std::uint64_t done_ = 0;
};

Outcome<void> sample(const Context& context, const ModelAuditFlags& flags, const FolderCertificate& folder,
                     BytesAtHand& bytes, ModelAuditText& text) {
    ASSAY_ASSIGN(SamplePlan plan, sample_plan(flags));
    text.source = plan.source;
    text.number = plan.number;
    const BirthCertificate& certificate = folder.certificate;
    const auto train = bytes.find(certificate.spec.data.train);
    const auto held_out = bytes.find(certificate.spec.data.held_out);
    if (train == nullptr || held_out == nullptr) {
        NothingAtHand nothing;
        plan.most = 1;
        ASSAY_ASSIGN(text.report, audit_model(certificate, folder.root, plan, nothing));
    } else {
        ASSAY_ASSIGN(const auto worker, WorkerProcess::start({.device = flags.device}));
        ASSAY_TRY(call_for<frames::Opened>(*worker, frames::OpenJob{certificate.chain_id, certificate.spec},
                                           {train, held_out}));
        ModelReplay replay(*worker, certificate, bytes.bytes(),
                           [&plan] { return plan.seconds() >= plan.limit; });
        const std::uint64_t all = segments_of(certificate).places.size();
        WatchedJudge watched(replay, context.err, std::min(all, plan.most.value_or(all)));
        ASSAY_ASSIGN(text.report, audit_model(certificate, folder.root, plan, watched));
    }
    text.seconds = plan.seconds();
    return {};
}

Outcome<std::unique_ptr<BytesAtHand>> bytes_at_hand(const Context& context) {
    std::unique_ptr<BlobStore> home;
    if (context.flags.home && std::filesystem::is_directory(context.home().blobs())) {
        BlobStoreOptions options;
        options.folder = context.home().blobs();
        options.use = StoreUse::kBeside;
        ASSAY_ASSIGN(home, BlobStore::open(options));
    }
    return BytesAtHand::make(std::move(home),
                             [&context](const Endpoint& holder) { return context.client_of(holder); });
}

Outcome<void> audit_folder(const Context& context, const ModelAuditFlags& flags) {
    end_on_interrupt(context);
    ASSAY_ASSIGN(const FolderCertificate folder, read_certificate(flags.folder));
    ModelAuditText text;
    text.certificate = folder.root;
    text.job = folder.certificate.job;
    text.rounds = folder.certificate.rounds.size();
    text.initial_blob = folder.certificate.spec.initial_blob;
    ASSAY_ASSIGN(text.failures, folder_faults(flags.folder, folder.certificate));
    // What contradicts itself is not worth a sample.
    if (text.failures.empty()) {
        ASSAY_ASSIGN(const auto bytes, bytes_at_hand(context));
        LedgerCheck ledger(context, folder.certificate, text);
        ASSAY_TRY(ledger.with_home());
        ASSAY_TRY(ledger.with_node(*bytes));
        ASSAY_TRY(add_job_file(flags.job_file, folder.certificate, *bytes));
        context.err << "auditing the model of job " << text.job.brief() << ": recomputing what is drawn from "
                    << segments_of(folder.certificate).places.size() << " segments\n";
        ASSAY_TRY(sample(context, flags, folder, *bytes, text));
        if (bytes->own_failure()) return base::failed(*bytes->own_failure());
    }
    return report_model_audit(context, text);
}

}  // namespace

void add_audit_model_command(CLI::App& app, Context& context) {
    CLI::App& audit =
        noun(app, "audit", "Check everything from files alone; exit code 7 when it does not check");
    const auto flags = std::make_shared<ModelAuditFlags>();
    CLI::App& command = verb(
        audit, "model", "Recompute a fresh random sample of a model's making, and say what that is worth",
        context, [&context, flags] { return audit_folder(context, *flags); });
    command.add_option("folder", flags->folder, "Model folder with a birth certificate")->required();
    command.add_option("--minutes", flags->minutes, "Draw no more after so many")
        ->check(CLI::Range(0.0, 1e7))
        ->capture_default_str();
    command.add_option("--units", flags->units, "Draw at most so many segments (default: no limit)")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
    command.add_option("--job-file", flags->job_file,
                       "The job's own file: its tokens and first weights, where no home or node has them");
    CLI::Option* beacon = command.add_option(
        "--beacon", flags->beacon, "Draw by this public number, younger than the model: a report for others");
    command.add_option("--seed", flags->seed, "Draw by this number: repeatable, and no evidence")
        ->excludes(beacon);
    add_device_flag(command, flags->device);
}

}  // namespace assay::node
