// SPDX-License-Identifier: Apache-2.0
// assay audit dispute
#include <CLI/CLI.hpp>
#include <charconv>

#include "contracts/dispute/words.hpp"
#include "ledger/audit/dispute_audit.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/audit_report.hpp"
#include "node/cli/state_source.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::Outcome;

/// JOB/NUMBER: the job as every command takes it, and the number of its dispute.
Outcome<ledger::DisputeName> parse_name(const contracts::StateView& state, const std::string& text) {
    const std::size_t slash = text.rfind('/');
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    if (slash == std::string::npos || std::from_chars(text.data() + slash + 1, end, number).ptr != end ||
        slash + 1 == text.size())
        return base::fail(ErrorKind::kUsage, text + " names no dispute",
                          "name the job, a slash, and the dispute's number: e7f81070/0");
    ASSAY_ASSIGN(const contracts::Job job, find_job(state, text.substr(0, slash)));
    return ledger::DisputeName{job.id, number};
}

Outcome<void> audit_one_dispute(const Context& context, const std::string& text) {
    ASSAY_ASSIGN(const auto ledger, audit_home_ledger(context));
    AuditText audit;
    audit.schema = "assay.audit.dispute/v1";
    tell_ledger(ledger, audit);
    audit.fix = "do not trust this ledger; run: assay audit ledger --home " + context.home().root.string();
    audit.failures = ledger.failures;
    if (!ledger.ok()) return report_audit(context, audit);
    ASSAY_ASSIGN(const ledger::DisputeName name, parse_name(ledger.state, text));
    ASSAY_ASSIGN(const ledger::BlockReader read, ledger::block_reader(context.home().root.string()));
    ASSAY_ASSIGN(const ledger::DisputeReport report, ledger::audit_dispute(ledger.state, name, read));
    for (const std::string& what : report.wrong)
        audit.failures.push_back({"dispute " + text, what, 0, name.job});
    const contracts::Game& game = report.game;
    const base::PublicKey& loser = game.claimant_lost ? game.claimant : game.challenger;
    const bool nobody = game.end == contracts::GameEnd::kClosed || game.end == contracts::GameEnd::kVoid;
    const bool differs = report.verdict && report.verdict->reason == dispute::GameReason::kDiffers;
    audit.say.emplace_back("about", "round " + std::to_string(game.round) + ", " +
                                        (game.kind == contracts::ClaimKind::kSlot ? "slot " : "merge ") +
                                        std::to_string(game.claim));
    for (const std::string& step : report.path) audit.say.emplace_back("  then", step);
    audit.say.emplace_back("end", std::string(contracts::to_text(game.end)));
    if (report.verdict) audit.say.emplace_back("referee", std::string(to_text(report.verdict->reason)));
    if (differs)
        audit.say.emplace_back("bits", "claimed " + dispute::bits_text(report.verdict->claimed) +
                                           ", the operands give " +
                                           dispute::bits_text(report.verdict->computed));
    audit.say.emplace_back("loser", nobody ? "nobody" : loser.hex());
    audit.checked = {{"blocks", ledger.height}, {"moves", game.moves}};
    JsonFields details;
    details("path", report.path);
    details("end", contracts::to_text(game.end));
    details("referee", report.verdict ? std::string(to_text(report.verdict->reason)) : std::string());
    details("claimed", differs ? dispute::bits_text(report.verdict->claimed) : std::string());
    details("computed", differs ? dispute::bits_text(report.verdict->computed) : std::string());
    details("loser", nobody ? std::string() : loser.hex());
    audit.details = details.take();
    return report_audit(context, audit);
}

}  // namespace

void add_audit_dispute_command(CLI::App& app, Context& context) {
    CLI::App& audit =
        noun(app, "audit", "Check everything from files alone; exit code 7 when it does not check");
    const auto name = std::make_shared<std::string>();
    CLI::App& command =
        verb(audit, "dispute", "A finished dispute played again from the blocks, move by move", context,
             [&context, name] { return audit_one_dispute(context, *name); });
    command.add_option("JOB/NUMBER", *name, "The job (id, a beginning of it, or its name) and its dispute")
        ->required();
}

}  // namespace assay::node
