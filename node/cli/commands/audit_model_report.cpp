// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/audit_model_report.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "node/cli/table.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;

struct ChanceView {
    double fraction = 0;
    double value = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("fraction", fraction);
        visit("value", value);
    }
};

struct FaultView {
    std::string where, what;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("where", where);
        visit("what", what);
    }
};

struct TilesView {
    std::uint64_t population = 0;
    std::uint64_t recomputed = 0;
    std::vector<ChanceView> confidences;
    std::uint64_t arrays = 0;             ///< updates and merges
    std::uint64_t arrays_recomputed = 0;  ///< with all their tiles

    template <class Visit>
    void fields(Visit& visit) const {
        visit("population", population);
        visit("recomputed", recomputed);
        visit("confidences", confidences);
        visit("arrays", arrays);
        visit("arrays_recomputed", arrays_recomputed);
    }
};

struct PanelsView {
    std::uint64_t population = 0;
    std::uint64_t recomputed = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("population", population);
        visit("recomputed", recomputed);
    }
};

struct DefeatedView {
    std::uint32_t round = 0;
    contracts::ClaimKind claim = contracts::ClaimKind::kSlot;
    std::optional<std::uint32_t> slot;  ///< of a slot's claim, or whose clip it was
    std::string dispute;                ///< JOB/NUMBER
    dispute::UnitKind unit = dispute::UnitKind::kSegment;
    std::optional<std::uint32_t> segment;
    base::PublicKey claimant;
    contracts::Reason reason = contracts::Reason::kNone;
    std::optional<std::string> found;  ///< recomputed here: false, right; null: not met
    std::uint64_t behind = 0;          ///< drawn behind it, and gone

    template <class Visit>
    void fields(Visit& visit) const {
        visit("round", round);
        visit("claim", std::string(claim == contracts::ClaimKind::kSlot ? "slot" : "merge"));
        visit("slot", slot);
        visit("dispute", dispute);
        visit("unit", unit);
        visit("segment", segment);
        visit("claimant", claimant);
        visit("reason", reason);
        visit("found", found);
        visit("behind", behind);
    }
};

double fraction_of(std::uint32_t parts) { return static_cast<double>(parts) / kWholeShare; }

std::vector<ChanceView> chances_of(const StratumReport& stratum) {
    std::vector<ChanceView> all;
    for (std::size_t i = 0; i < kForgedShares.size(); ++i)
        all.push_back({fraction_of(kForgedShares[i]), stratum.chances[i]});
    return all;
}

std::vector<FaultView> faults_of(const std::vector<MetFault>& first, const std::vector<MetFault>& second) {
    std::vector<FaultView> all;
    for (const auto* list : {&first, &second})
        for (const MetFault& fault : *list) all.push_back({fault.where, fault.what});
    return all;
}

std::vector<DefeatedView> defeats_of(const ModelAuditText& text) {
    std::vector<DefeatedView> all;
    for (const DefeatReport& defeat : text.report.defeated) {
        const DefeatedClaim& claim = defeat.claim;
        DefeatedView view{.round = defeat.round,
                          .claim = claim.claim,
                          .slot = {},
                          .dispute = text.job.hex() + "/" + std::to_string(claim.game),
                          .unit = claim.unit,
                          .segment = {},
                          .claimant = claim.claimant,
                          .reason = claim.reason,
                          .found = {},
                          .behind = defeat.behind};
        if (claim.claim == contracts::ClaimKind::kSlot) view.slot = claim.number;
        if (claim.unit == dispute::UnitKind::kClip) view.slot = claim.part;
        if (claim.unit == dispute::UnitKind::kSegment) view.segment = claim.part;
        if (defeat.found) view.found = *defeat.found == ClaimState::kFalse ? "false" : "right";
        all.push_back(std::move(view));
    }
    return all;
}

bool is_ok(const ModelAuditText& text) { return text.failures.empty() && text.report.ok(); }

/// At the pace of this run; nothing where nothing was recomputed.
std::optional<double> minutes_for_95(const StratumReport& segments) {
    if (segments.recomputed == 0) return std::nullopt;
    const double each = segments.seconds / static_cast<double>(segments.recomputed);
    return each * static_cast<double>(segments.draws_for_95) / 60;
}

void print_model_json(const Context& context, const ModelAuditText& text) {
    const ModelAuditReport& report = text.report;
    JsonFields body;
    body("ok", is_ok(text));
    body("height", text.height);
    body("anchored", text.anchored);
    body("at_fraction", fraction_of(kMainShare));
    body("confidence", report.segments.chances[0]);
    body("confidences", chances_of(report.segments));
    body("population", report.segments.population);
    body("recomputed", report.segments.recomputed);
    body("minutes_for_95", minutes_for_95(report.segments));
    body("seconds", text.seconds);
    body("inconclusive", !report.inconclusive.empty());
    body("failures", faults_of(text.failures, report.failures));
    body("not_recomputed", faults_of(report.inconclusive, {}));
    body("one_in_population", report.segments.chance_of_one);
    body("tiles", TilesView{report.tiles.population, report.tiles.recomputed, chances_of(report.tiles),
                            report.arrays.population, report.arrays.recomputed});
    body("panels", PanelsView{report.panels.population, report.panels.recomputed});
    body("merged_slots", report.merged_slots);
    body("defeated", defeats_of(text));
    body("open_rounds", report.open_rounds);
    body("evidence", std::string(text.source == SampleSource::kSeed ? "none" : to_text(text.source)));
    body("drawn_by", text.number);
    body("certificate", text.certificate);
    body("job", text.job);
    body("rounds", text.rounds);
    body("initial_blob", text.initial_blob.is_zero() ? std::string() : text.initial_blob.hex());
    body("ledger", text.ledger);
    context.print_json("assay.audit.model/v1", body.take());
}

std::string percent(double share, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f %%", digits, share * 100);
    return text;
}

std::string of_all(std::uint64_t some, std::uint64_t all) {
    return std::to_string(some) + " of " + std::to_string(all);
}

std::string evidence_text(const ModelAuditText& text) {
    switch (text.source) {
        case SampleSource::kLocal: return "for you: drawn by this machine after the certificate was read";
        case SampleSource::kBeacon:
            return "for whoever knows that " + text.number.brief() + " is younger than the model";
        case SampleSource::kSeed: break;
    }
    return "none: whoever knew the seed could choose what to forge";
}

std::string minutes_text(const StratumReport& segments) {
    const auto minutes = minutes_for_95(segments);
    if (!minutes) return "not known: nothing was recomputed";
    char text[64];
    std::snprintf(text, sizeof text, "%.1f minutes, %llu segments", *minutes,
                  static_cast<unsigned long long>(segments.draws_for_95));
    return text;
}

std::string count_of_dead(const ModelAuditReport& report) {
    const auto slots = static_cast<std::uint64_t>(std::count_if(
        report.defeated.begin(), report.defeated.end(),
        [](const DefeatReport& defeat) { return defeat.claim.claim == contracts::ClaimKind::kSlot; }));
    const std::uint64_t merges = report.defeated.size() - slots;
    std::string text =
        slots == 0 ? "none of " + std::to_string(report.merged_slots) : of_all(slots, report.merged_slots);
    text += " merged slots";
    if (merges > 0) text += " and " + std::to_string(merges) + (merges == 1 ? " merge" : " merges");
    return text + " lost a game after they were merged";
}

std::string windows_text(const std::vector<std::uint32_t>& rounds) {
    if (rounds.empty()) return "were over when this folder was made";
    return "of " + rounds_text(rounds) +
           " were open when this folder was made; what lost since is not named here";
}

std::string line_of(const DefeatReport& defeat) {
    std::string text = "  " + claim_name(defeat.claim, defeat.round) + " (dispute " +
                       std::to_string(defeat.claim.game) + ", " + unit_name(defeat.claim) +
                       "): " + std::string(contracts::explain(defeat.claim.reason));
    if (defeat.found == ClaimState::kFalse) text += " Recomputed here, and false: " + defeat.why + ".";
    if (defeat.found == ClaimState::kRight) text += " Recomputed here, and right.";
    if (defeat.behind > 0) text += " Drawn behind it, and gone: " + std::to_string(defeat.behind) + ".";
    return text;
}

std::string verdict_text(const ModelAuditText& text) {
    const ModelAuditReport& report = text.report;
    if (!text.failures.empty() || !report.failures.empty()) return "DOES NOT CHECK";
    if (!report.inconclusive.empty()) return "inconclusive: counted as false";
    const bool met = std::any_of(report.defeated.begin(), report.defeated.end(),
                                 [](const auto& defeat) { return defeat.found == ClaimState::kFalse; });
    return met ? "everything drawn is as claimed, or as the ledger found it in a game"
               : "everything drawn is as claimed";
}

void print_model_table(const Context& context, const ModelAuditText& text) {
    const ModelAuditReport& report = text.report;
    const StratumReport& segments = report.segments;
    std::vector<std::pair<std::string, std::string>> fields{
        {"job", text.job.hex() + ", " + std::to_string(text.rounds) + " rounds"},
        {"begins with", text.initial_blob.is_zero()
                            ? "weights that follow from the job's seed"
                            : "given weights, of which nothing is audited: blob " + text.initial_blob.hex()},
        {"compared with", text.ledger == "none" ? "no ledger: give --home or --node for that"
                                                : "the ledger of the " + text.ledger},
        {"evidence", evidence_text(text)},
        {"recomputed", of_all(segments.recomputed, segments.population) + " segments, by work"}};
    if (!text.end.empty()) fields.insert(fields.begin() + 3, {"its end", text.end});
    for (std::size_t i = 0; i < kForgedShares.size(); ++i) {
        fields.emplace_back(percent(fraction_of(kForgedShares[i]), 0) + " forged",
                            "met with a chance of " + percent(segments.chances[i], 2));
    }
    const std::string population = std::to_string(segments.population);
    fields.emplace_back("1 in " + population, std::to_string(segments.recomputed) + "/" + population +
                                                  ": met with a chance of " +
                                                  percent(segments.chance_of_one, 2));
    fields.emplace_back("95 % for 1 % forged", minutes_text(segments));
    fields.emplace_back("tiles", of_all(report.tiles.recomputed, report.tiles.population) +
                                     " of updates and merges; 1 % forged met with a chance of " +
                                     percent(report.tiles.chances[0], 2));
    fields.emplace_back("arrays", of_all(report.arrays.recomputed, report.arrays.population) +
                                      " updates and merges recomputed whole on the way to their tiles");
    fields.emplace_back("panels", "recomputed " + of_all(report.panels.recomputed, report.panels.population) +
                                      " of these segments before they were paid");
    fields.emplace_back("defeated", count_of_dead(report));
    fields.emplace_back("windows", windows_text(report.open_rounds));
    fields.emplace_back("verdict", verdict_text(text));
    print_fields(context.out, fields);
    for (const DefeatReport& defeat : report.defeated) context.out << line_of(defeat) << '\n';
    for (const FaultView& fault : faults_of(text.failures, report.failures))
        context.out << "  " << fault.where << ": " << fault.what << '\n';
    for (const MetFault& fault : report.inconclusive)
        context.out << "  not recomputed: " << fault.where << ": " << fault.what << '\n';
}

}  // namespace

base::Outcome<void> report_model_audit(const Context& context, const ModelAuditText& text) {
    if (context.json()) {
        print_model_json(context, text);
    } else {
        print_model_table(context, text);
    }
    if (is_ok(text)) return {};
    const auto failures = faults_of(text.failures, text.report.failures);
    if (!failures.empty()) {
        return base::fail(ErrorKind::kVerification, failures.front().where + ": " + failures.front().what,
                          "do not trust this model; keep the folder as evidence");
    }
    const std::string what =
        text.report.inconclusive.empty()
            ? "nothing was drawn"
            : text.report.inconclusive.front().where + ": " + text.report.inconclusive.front().what;
    return base::fail(ErrorKind::kVerification, "inconclusive: " + what,
                      "give more --minutes, or a --home, --node or --job-file that has the bytes");
}

}  // namespace assay::node
