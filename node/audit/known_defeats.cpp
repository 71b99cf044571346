// SPDX-License-Identifier: Apache-2.0
#include "node/audit/known_defeats.hpp"

#include <algorithm>
#include <utility>

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

bool KnownDefeats::comes_before(const DefeatReport& defeat, const UnitPlace& place) const {
    return defeat.claim.claim == ClaimKind::kSlot && defeat.round == place.round &&
           defeat.claim.number == place.slot && place_of(defeat, spec_).unit < place.unit;
}

bool KnownDefeats::note_hidden(const UnitPlace& place, const std::string& where,
                               const ClaimFinding& finding) {
    const bool hidden = finding.state == ClaimState::kGone &&
                        std::any_of(reports_.begin(), reports_.end(),
                                    [&](const DefeatReport& defeat) { return comes_before(defeat, place); });
    if (hidden) hidden_.push_back({place, {where, finding.why}});
    return hidden;
}

bool KnownDefeats::hides(const UnitPlace& place, const ClaimFinding& finding) {
    return note_hidden(place, to_text(place, spec_), finding);
}

bool KnownDefeats::hides(const TilePlace& place, const ClaimFinding& finding) {
    // The tiles of an update are what `finalise` makes.
    return place.slot && note_hidden({place.round, *place.slot, program::RoundPlan(spec_).finalise()},
                                     to_text(place, spec_), finding);
}

std::vector<UnitPlace> KnownDefeats::unreached() const {
    std::vector<UnitPlace> places;
    for (const DefeatReport& defeat : reports_) {
        const bool hides = std::any_of(hidden_.begin(), hidden_.end(), [&](const Hidden& hidden) {
            return comes_before(defeat, hidden.place);
        });
        if (hides && !defeat.found) places.push_back(place_of(defeat, spec_));
    }
    return places;
}

std::vector<MetFault> KnownDefeats::not_excused() {
    std::vector<MetFault> left;
    for (Hidden& hidden : hidden_) {
        bool excused = false;
        for (DefeatReport& defeat : reports_) {
            if (!comes_before(defeat, hidden.place) || defeat.found == ClaimState::kRight) continue;
            ++defeat.behind;
            excused = true;
        }
        if (!excused) left.push_back(std::move(hidden.fault));
    }
    hidden_.clear();
    return left;
}

}  // namespace assay::node
