// SPDX-License-Identifier: Apache-2.0
#include "node/audit/known_defeats.hpp"

namespace assay::node {

using contracts::ClaimKind;
using dispute::UnitKind;

namespace {

/// Of a slot's claim the unit that the game was about.
UnitPlace place_of(const DefeatReport& defeat, const program::JobSpec& spec) {
    const bool is_segment = defeat.claim.unit == UnitKind::kSegment;
    return {defeat.round, defeat.claim.number,
            is_segment ? defeat.claim.part : program::RoundPlan(spec).finalise()};
}

/// Clips belong to the unit of a merge, and what is handed on to that of `finalise`.
bool is_about(const DefeatReport& defeat, const TilePlace& place) {
    if (defeat.round != place.round) return false;
    if (!place.slot) return defeat.claim.claim == ClaimKind::kMerge;
    return defeat.claim.claim == ClaimKind::kSlot && defeat.claim.number == *place.slot &&
           defeat.claim.unit != UnitKind::kSegment;
}

bool note_false(DefeatReport& defeat, const std::string& why) {
    if (defeat.found != ClaimState::kFalse) defeat.why = why;
    defeat.found = ClaimState::kFalse;
    return true;
}

}  // namespace

KnownDefeats::KnownDefeats(const BirthCertificate& certificate) : spec_(certificate.spec) {
    for (const CertifiedRound& round : certificate.rounds)
        for (const DefeatedClaim& claim : round.defeated)
            reports_.push_back({.round = round.round, .claim = claim, .found = std::nullopt, .why = ""});
}

bool KnownDefeats::admits(const UnitPlace& place, const ClaimFinding& finding) {
    bool admitted = false;
    for (DefeatReport& defeat : reports_) {
        if (defeat.claim.claim != ClaimKind::kSlot || place_of(defeat, spec_) != place) continue;
        if (finding.state == ClaimState::kFalse) admitted = note_false(defeat, finding.why);
        // A game that was conceded, thrown or left to the clock proves nothing about the unit.
        if (finding.state == ClaimState::kRight && !defeat.found) defeat.found = ClaimState::kRight;
    }
    return admitted;
}

bool KnownDefeats::admits(const TilePlace& place, const ClaimFinding& finding) {
    if (finding.state != ClaimState::kFalse) return false;
    bool admitted = false;
    for (DefeatReport& defeat : reports_)
        if (is_about(defeat, place)) admitted = note_false(defeat, finding.why);
    return admitted;
}

bool KnownDefeats::admits(const MetFault& fault) {
    bool admitted = false;
    for (DefeatReport& defeat : reports_) {
        const std::string where = defeat.claim.claim == ClaimKind::kMerge
                                      ? claim_name(defeat.claim, defeat.round)
                                      : to_text(place_of(defeat, spec_), spec_);
        if (where == fault.where) admitted = note_false(defeat, fault.what);
    }
    return admitted;
}

bool KnownDefeats::hides(const UnitPlace& place, const ClaimFinding& finding) {
    if (finding.state != ClaimState::kGone) return false;
    bool hidden = false;
    for (DefeatReport& defeat : reports_) {
        if (defeat.claim.claim != ClaimKind::kSlot || defeat.round != place.round ||
            defeat.claim.number != place.slot || place_of(defeat, spec_).unit >= place.unit)
            continue;
        ++defeat.behind;
        hidden = true;
    }
    return hidden;
}

bool KnownDefeats::hides(const TilePlace& place, const ClaimFinding& finding) {
    // The tiles of an update are what `finalise` makes.
    return place.slot &&
           hides(UnitPlace{place.round, *place.slot, program::RoundPlan(spec_).finalise()}, finding);
}

}  // namespace assay::node
