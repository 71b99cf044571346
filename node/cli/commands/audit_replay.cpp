// SPDX-License-Identifier: Apache-2.0
// assay audit replay
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "node/audit/replay.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/audit_report.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/commands/round_blobs.hpp"
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
    std::string device;
    bool fetch = false;
};

std::string verdict_text(const SlotReplay& slot) { return std::string(contracts::to_text(slot.verdict)); }

std::string name_of(std::uint32_t unit) { return "unit " + std::to_string(unit); }

std::string compared_text(const SlotReplay& slot) {
    const UnitReplay* wrong = slot.first_wrong();
    if (wrong != nullptr && slot.judgement == Judgement::kRight && slot.judged_by)
        return name_of(*slot.judged_by) + " differs from the claim";
    if (wrong != nullptr) return name_of(wrong->unit) + " differs from the claim";
    const std::uint32_t equal = slot.count(UnitReplay::Comparison::kEqual);
    return (slot.is_equal() ? "all " : "") + std::to_string(equal) + " units equal bit for bit";
}

/// Why false work was paid for.
std::string why_paid(const SlotReplay& slot) {
    switch (slot.verdict) {
        case contracts::Reason::kPaidAccused: return "no accuser won a game about it";
        case contracts::Reason::kPaidUndecided: return "nobody recomputed all that was drawn";
        default: return "it was not drawn";
    }
}

/// What the bits say, beside what the ledger says.
std::string bits_text(const SlotReplay& slot) {
    const bool paid = slot.false_work_paid && slot.judgement != Judgement::kWrong;
    return compared_text(slot) + (paid ? " and was paid for: " + why_paid(slot) : "");
}

std::string lacking_of(const SlotReplay& slot) {
    return slot.judged_by && *slot.judged_by < slot.units.size() ? slot.units[*slot.judged_by].lacking : "";
}

/// False units beside the one on which the verdict rests.
std::string beside(const SlotReplay& slot) {
    std::string text;
    for (const UnitReplay& unit : slot.units) {
        if (unit.state != UnitReplay::Comparison::kFalse || slot.judged_by == unit.unit) continue;
        const bool caught = slot.judgement == Judgement::kRight && slot.judged_by.has_value();
        if (!caught && slot.first_wrong() == &unit) continue;  // said already
        text += "; " + name_of(unit.unit) + " is false too";
    }
    return text;
}

/// How many units nobody can judge from these files; and why, unless that is said already or no matter.
std::string unknown_text(const SlotReplay& slot) {
    const auto first = std::find_if(slot.units.begin(), slot.units.end(), [](const UnitReplay& unit) {
        return unit.state == UnitReplay::Comparison::kUnknown;
    });
    if (first == slot.units.end()) return "";
    const bool tells_why = slot.is_left_open() && slot.judgement != Judgement::kCannotBeMade;
    return "; " + std::to_string(slot.count(UnitReplay::Comparison::kUnknown)) + " not recomputed" +
           (tells_why ? ": " + first->lacking : "");
}

/// Of a slot whose verdict the bits do not contradict.
std::string agreement(const SlotReplay& slot) {
    if (slot.false_work_paid) return "";
    if (slot.lost_game) {
        const std::string end = "its claim died in dispute " + std::to_string(*slot.lost_game);
        return (slot.judged_by ? ", a cheat that the ledger caught: " : "; ") + end + " and was not paid";
    }
    if (!slot.awaits_game) return ", as the ledger judged: " + verdict_text(slot);
    return (slot.judged_by ? ", as its accuser says" : "") + std::string("; no game has decided yet: ") +
           verdict_text(slot);
}

std::string judged_text(const SlotReplay& slot) {
    const std::string verdict = "the verdict " + verdict_text(slot);
    switch (slot.judgement) {
        case Judgement::kWrong:
            return ", AGAINST the ledger's verdict " + verdict_text(slot) +
                   (slot.verdict == contracts::Reason::kPaidAccused ? ", whose accusers all lost" : "");
        case Judgement::kCannotBeMade:
            return "; " + verdict + " cannot be judged from these files: it rests on " +
                   name_of(*slot.judged_by) + ", and " + lacking_of(slot);
        case Judgement::kNotReached:
            return "; " + verdict + " rests on " + name_of(*slot.judged_by) +
                   ", which was not asked for: replay the whole round";
        case Judgement::kRight: break;
    }
    return agreement(slot);
}

std::string finding(const SlotReplay& slot) {
    return bits_text(slot) + judged_text(slot) + beside(slot) + unknown_text(slot);
}

std::optional<bool> agrees(const SlotReplay& slot) {
    const bool is_judged = slot.judgement == Judgement::kRight || slot.judgement == Judgement::kWrong;
    return is_judged ? std::optional(slot.judgement == Judgement::kRight) : std::nullopt;
}

Json slot_json(const SlotReplay& slot) {
    std::vector<std::uint32_t> false_units, unknown;
    for (const UnitReplay& unit : slot.units) {
        if (unit.state == UnitReplay::Comparison::kFalse) false_units.push_back(unit.unit);
        if (unit.state == UnitReplay::Comparison::kUnknown) unknown.push_back(unit.unit);
    }
    const UnitReplay* wrong = slot.first_wrong();
    JsonFields body;
    body("slot", slot.slot);
    body("miner", slot.miner);
    body("units", slot.units.size() - slot.count(UnitReplay::Comparison::kUnknown));
    body("equal", slot.is_equal());
    body("first_wrong", wrong != nullptr ? std::optional(wrong->unit) : std::nullopt);
    body("claimed", wrong != nullptr ? wrong->claimed.hex() : "");
    body("recomputed", wrong != nullptr ? wrong->recomputed.hex() : "");
    body("verdict", slot.verdict);
    body("lost_game", slot.lost_game);
    body("agrees", agrees(slot));
    body("finding", finding(slot));
    body("false_units", false_units);
    body("not_recomputed", unknown);
    return body.take();
}

void describe(const std::vector<SlotReplay>& slots, const std::string& where, AuditText& audit) {
    std::uint64_t units = 0;
    std::uint64_t equal = 0;
    std::uint64_t caught = 0;
    std::vector<Json> list;
    for (const SlotReplay& slot : slots) {
        const bool is_wrong = slot.first_wrong() != nullptr;
        const bool is_caught = is_wrong && slot.judgement == Judgement::kRight &&
                               slot.lost_game.has_value() && slot.judged_by.has_value();
        units += slot.units.size() - slot.count(UnitReplay::Comparison::kUnknown);
        if (slot.is_equal()) ++equal;
        if (is_caught) ++caught;
        list.push_back(slot_json(slot));
        audit.say.emplace_back("slot " + std::to_string(slot.slot) + " of " + slot.miner.brief(),
                               finding(slot));
        const ledger::AuditFailure found{where + " slot " + std::to_string(slot.slot), finding(slot), 0};
        if (slot.judgement == Judgement::kWrong || slot.false_work_paid) audit.failures.push_back(found);
        if (slot.is_left_open()) audit.not_judged.push_back(found);
        if (slot.judgement == Judgement::kNotReached) audit.is_part = true;
    }
    audit.checked = {{"slots", slots.size()},
                     {"units", units},
                     {"equal", equal},
                     {"cheats_confirmed", caught},
                     {"not_judged", audit.not_judged.size()}};
    JsonFields details;
    details("slots", list);
    audit.details = details.take();
}

Outcome<std::vector<SlotReplay>> recompute(const Context& context, const contracts::StateView& state,
                                           const contracts::Job& job, ReplayRequest request,
                                           const ReplayFlags& flags) {
    BlobStoreOptions options;
    options.folder = context.home().blobs();
    options.use = StoreUse::kBeside;
    ASSAY_ASSIGN(const auto blobs, BlobStore::open(options));
    RoundBlobs round(context, *blobs, holders_of_round(state, job, request.round));
    if (flags.fetch) request.bring = [&round](const BlobId& id) { return round.bring(id); };
    ASSAY_ASSIGN(const auto worker, WorkerProcess::start({.device = flags.device}));
    return replay_round(*worker, state, *blobs, request);
}

Outcome<void> replay(const Context& context, const ReplayFlags& flags) {
    end_on_interrupt(context, "run the command again; blobs that were fetched are kept");
    ASSAY_ASSIGN(const auto ledger, audit_home_ledger(context));
    AuditText audit;
    audit.schema = "assay.audit.replay/v1";
    tell_ledger(ledger, audit);
    audit.failures = ledger.failures;
    audit.fix = "do not trust this round; keep the home as evidence";
    audit.lacking_fix = std::string(flags.fetch ? "try again" : "run it with --fetch") +
                        " while somebody serves that blob, or copy it from a verifier's home";
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
        auto replayed = recompute(context, ledger.state, job, request, flags);
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
    command.add_flag(
        "--fetch", flags->fetch,
        "Fetch blobs that the home lacks from those whom the ledger names (the job's verifiers, its "
        "buyer, the round's miners) and keep them in the home; every chunk is verified");
    add_device_flag(command, flags->device);
}

}  // namespace assay::node
