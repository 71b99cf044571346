// SPDX-License-Identifier: Apache-2.0
// assay audit replay
#include <CLI/CLI.hpp>
#include <optional>

#include "node/audit/replay.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/audit_report.hpp"
#include "node/cli/interrupt.hpp"
#include "node/cli/state_source.hpp"
#include "node/worker/worker_process.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct ReplayFlags {
    std::string job;
    std::uint32_t round = 0;
    std::string miner;
    std::optional<std::uint32_t> segment;
};

std::string verdict_text(const SlotReplay& slot) { return std::string(contracts::to_text(slot.verdict)); }

/// What the bits say, and whether the ledger said the same.
std::string finding(const SlotReplay& slot) {
    std::string text = slot.first_wrong
                           ? "unit " + std::to_string(*slot.first_wrong) + " differs from the claim"
                           : "all " + std::to_string(slot.units) + " units equal bit for bit";
    const bool caught = slot.first_wrong && slot.verdict == contracts::Reason::kMismatch;
    if (!slot.first_wrong && slot.agrees && slot.verdict == contracts::Reason::kMismatch)
        return text + "; the fault that the ledger found stands later: replay the whole round";
    if (!slot.agrees) return text + ", AGAINST the ledger's verdict " + verdict_text(slot);
    return text + (caught ? ", a cheat that the ledger caught: " : ", as the ledger judged: ") +
           verdict_text(slot);
}

nlohmann::ordered_json slot_json(const SlotReplay& slot) {
    nlohmann::ordered_json body;
    body["slot"] = slot.slot;
    body["miner"] = slot.miner.hex();
    body["units"] = slot.units;
    body["equal"] = !slot.first_wrong.has_value();
    body["first_wrong"] =
        slot.first_wrong ? nlohmann::ordered_json(*slot.first_wrong) : nlohmann::ordered_json();
    body["claimed"] = slot.first_wrong ? slot.claimed.hex() : "";
    body["recomputed"] = slot.first_wrong ? slot.recomputed.hex() : "";
    body["verdict"] = verdict_text(slot);
    body["agrees"] = slot.agrees;
    body["finding"] = finding(slot);
    return body;
}

void describe(const std::vector<SlotReplay>& slots, const std::string& where, AuditText& audit) {
    std::uint64_t units = 0;
    std::uint64_t equal = 0;
    std::uint64_t caught = 0;
    auto list = nlohmann::ordered_json::array();
    for (const SlotReplay& slot : slots) {
        units += slot.units;
        if (!slot.first_wrong) ++equal;
        if (slot.first_wrong && slot.agrees) ++caught;
        list.push_back(slot_json(slot));
        audit.say.emplace_back("slot " + std::to_string(slot.slot) + " of " + slot.miner.brief(),
                               finding(slot));
        if (!slot.agrees)
            audit.failures.push_back({where + " slot " + std::to_string(slot.slot), finding(slot), 0});
    }
    audit.checked["slots"] = slots.size();
    audit.checked["units"] = units;
    audit.checked["equal"] = equal;
    audit.checked["cheats_confirmed"] = caught;
    audit.details["slots"] = list;
}

Outcome<std::vector<SlotReplay>> recompute(const Context& context, const contracts::StateView& state,
                                           const ReplayRequest& request) {
    BlobStoreOptions options;
    options.folder = context.home().blobs();
    ASSAY_ASSIGN(const auto blobs, BlobStore::open(options));
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start({}));
    return replay_round(*worker, state, *blobs, request);
}

Outcome<void> replay(const Context& context, const ReplayFlags& flags) {
    end_on_interrupt(context);
    ASSAY_ASSIGN(const auto ledger, audit_home_ledger(context));
    AuditText audit;
    audit.schema = "assay.audit.replay/v1";
    audit.height = ledger.height;
    audit.failures = ledger.failures;
    audit.fix = "do not trust this round; keep the home as evidence";
    std::vector<SlotReplay> slots;
    std::string where;
    if (ledger.ok()) {
        ReplayRequest request;
        ASSAY_ASSIGN(const contracts::Job job, find_job(ledger.state, flags.job));
        request.job = job.id;
        request.round = flags.round;
        request.segment = flags.segment;
        if (!flags.miner.empty()) {
            ASSAY_ASSIGN(request.miner, find_miner(ledger.state, flags.miner));
        }
        where = "job " + job.id.brief() + " round " + std::to_string(flags.round);
        context.err << "recomputing " << where << '\n';
        auto replayed = recompute(context, ledger.state, request);
        if (replayed.ok()) {
            slots = std::move(*replayed);
        } else if (replayed.error().kind == base::ErrorKind::kVerification) {
            audit.failures.push_back({where, replayed.error().what, 0});
        } else {
            return base::failed(replayed.error());
        }
    }
    describe(slots, where, audit);
    return report_audit(context, audit);
}

}  // namespace

void add_audit_replay_command(CLI::App& app, Context& context) {
    CLI::App& audit =
        noun(app, "audit", "Check everything from files alone; exit code 7 when it does not check");
    const auto flags = std::make_shared<ReplayFlags>();
    CLI::App& command =
        verb(audit, "replay", "Train a round again from its base state and compare every bit claimed",
             context, [&context, flags] { return replay(context, *flags); });
    command.add_option("--job", flags->job, "Id, a beginning of it, or the name")->required();
    command.add_option("--round", flags->round, "Round, from 0")->required();
    command.add_option("--miner", flags->miner, "Node key, or a beginning of it (default: every miner)");
    command.add_option("--segment", flags->segment, "Up to this segment only (default: the whole round)");
}

}  // namespace assay::node
