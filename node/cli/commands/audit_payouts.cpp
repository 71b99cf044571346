// SPDX-License-Identifier: Apache-2.0
// assay audit payouts
#include <CLI/CLI.hpp>
#include <algorithm>

#include "contracts/rules/tables.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/audit_report.hpp"
#include "node/cli/state_source.hpp"
#include "node/views/supply.hpp"

namespace assay::node {
namespace {

struct PayoutFlags {
    std::string job;
};

Json job_json(const ledger::JobPayouts& job) {
    JsonFields body;
    body("job", job.job);
    body("rounds", job.rounds);
    body("lines", job.lines);
    body("budget", Units{job.budget});
    body("returned", Units{job.returned});
    body("to_miners", Units{job.to_miners});
    body("to_verifiers", Units{job.to_verifiers});
    body("prepaid", Units{job.prepaid});
    body("forfeited", Units{job.forfeited});
    body("refunded", Units{job.refunded});
    body("escrow", Units{job.escrow});
    body("delta", job.delta);
    return body.take();
}

/// Leaves what concerns `job` and what concerns no job.
void keep_job(ledger::PayoutReport& report, const base::Hash256& job) {
    std::erase_if(report.failures, [&](const ledger::AuditFailure& failure) {
        return !failure.job.is_zero() && failure.job != job;
    });
    std::erase_if(report.jobs, [&](const ledger::JobPayouts& each) { return each.job != job; });
}

std::string asy(std::uint64_t units) {
    return base::to_text(base::Amount::of(units).value_or(base::Amount{}));
}

void describe(const ledger::JobPayouts& job, AuditText& audit) {
    audit.say.emplace_back("job", job.job.hex());
    audit.say.emplace_back("  budget", asy(job.budget) + " + " + asy(job.returned) + " returned");
    audit.say.emplace_back("  = miners", asy(job.to_miners));
    audit.say.emplace_back("  + verifiers", asy(job.to_verifiers));
    audit.say.emplace_back("  + refunded", asy(job.refunded));
    audit.say.emplace_back("  + escrow", asy(job.escrow));
    audit.say.emplace_back("  difference", std::to_string(job.delta));
}

base::Outcome<void> audit_payout_files(const Context& context, const PayoutFlags& flags) {
    ASSAY_ASSIGN(const auto ledger, audit_home_ledger(context));
    AuditText audit;
    audit.schema = "assay.audit.payouts/v1";
    tell_ledger(ledger, audit);
    audit.fix = "do not trust these payments; run: assay audit ledger --home " + context.home().root.string();
    // Payments of a ledger that does not check mean nothing: say that, and check no more.
    audit.failures = ledger.failures;
    ledger::PayoutReport report;
    std::int64_t supply = 0;
    if (ledger.ok()) {
        report = ledger::audit_payouts(ledger.state);
        if (!flags.job.empty()) {
            ASSAY_ASSIGN(const contracts::Job job, find_job(ledger.state, flags.job));
            keep_job(report, job.id);
        }
        audit.failures = report.failures;
        supply = supply_delta(contracts::read_supply(ledger.state));
        if (supply != 0)
            audit.failures.push_back(
                {"supply", "money made or lost: " + std::to_string(supply) + " base units", 0});
    }
    std::uint64_t rounds = 0;
    std::uint64_t lines = 0;
    std::vector<Json> jobs;
    for (const ledger::JobPayouts& job : report.jobs) {
        rounds += job.rounds;
        lines += job.lines;
        jobs.push_back(job_json(job));
        describe(job, audit);
    }
    audit.checked = {
        {"blocks", ledger.height}, {"jobs", report.jobs.size()}, {"rounds", rounds}, {"lines", lines}};
    JsonFields details;
    details("supply_delta", supply);
    details("jobs", jobs);
    audit.details = details.take();
    return report_audit(context, audit);
}

}  // namespace

void add_audit_payouts_command(CLI::App& app, Context& context) {
    CLI::App& audit =
        noun(app, "audit", "Check everything from files alone; exit code 7 when it does not check");
    const auto flags = std::make_shared<PayoutFlags>();
    CLI::App& command = verb(audit, "payouts", "Every payment computed again from the rule that produced it",
                             context, [&context, flags] { return audit_payout_files(context, *flags); });
    command.add_option("--job", flags->job, "One job only: id, a beginning of it, or its name");
}

}  // namespace assay::node
