// SPDX-License-Identifier: Apache-2.0
#include "node/audit/model_audit.hpp"

#include <algorithm>
#include <set>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/check.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::node {

using base::Outcome;

std::string_view to_text(SampleSource source) {
    switch (source) {
        case SampleSource::kLocal: return "local";
        case SampleSource::kBeacon: return "beacon";
        case SampleSource::kSeed: break;
    }
    return "seed";
}

base::Hash256 sample_randomness(const base::Hash256& certificate_root, const SamplePlan& plan) {
    base::Encoder encoder;
    encoder(certificate_root, plan.number);
    return base::hash("assay/audit/sample", std::move(encoder).take());
}

SegmentPopulation segments_of(const BirthCertificate& certificate) {
    const program::RoundPlan plan(certificate.spec);
    SegmentPopulation all;
    for (const CertifiedRound& round : certificate.rounds) {
        for (const std::uint32_t slot : round.merged_slots) {
            for (std::uint32_t segment = 0; segment < plan.segments(); ++segment) {
                const program::StepRange steps = plan.steps(segment);
                all.places.push_back({round.round, slot, segment});
                all.weights.push_back(steps.last - steps.first);
            }
        }
    }
    return all;
}

TilePopulation::TilePopulation(const BirthCertificate& certificate) {
    for (const program::TensorInfo& tensor : program::parameter_tensors(certificate.spec.model)) {
        tiles_each_ += arithmetic::tile_count(tensor.rows, tensor.cols);
        tile_ends_.push_back(tiles_each_);
    }
    for (const CertifiedRound& round : certificate.rounds) {
        for (const std::uint32_t slot : round.merged_slots)
            arrays_.push_back({.round = round.round, .slot = slot});
        claims_ += round.merged_slots.size();
        if (!round.merged) continue;
        ++claims_;
        arrays_.push_back({.round = round.round, .slot = std::nullopt});
        arrays_.push_back({.round = round.round, .slot = std::nullopt, .is_outer = true});
    }
}

TilePlace TilePopulation::at(std::uint64_t number) const {
    ASSAY_CHECK(number < count());
    TilePlace place = arrays_[number / tiles_each_];
    const std::uint64_t tile = number % tiles_each_;
    const auto end = std::upper_bound(tile_ends_.begin(), tile_ends_.end(), tile);
    place.tensor = static_cast<std::uint32_t>(end - tile_ends_.begin());
    place.tile = tile - (end == tile_ends_.begin() ? 0 : *std::prev(end));
    return place;
}

PanelReport panels_of(const BirthCertificate& certificate) {
    const program::RoundPlan plan(certificate.spec);
    PanelReport report;
    for (const CertifiedRound& round : certificate.rounds) {
        for (const std::uint32_t number : round.merged_slots) {
            const CertifiedSlot* slot = round.slot(number);
            report.population += plan.segments();
            // Of a slot that was paid although a drawn unit stayed open, nobody knows which.
            if (slot == nullptr || slot->verdict != contracts::Reason::kPaid) continue;
            report.recomputed += static_cast<std::uint64_t>(
                std::count_if(slot->drawn_units.begin(), slot->drawn_units.end(),
                              [&](std::uint32_t unit) { return !plan.is_finalise(unit); }));
        }
    }
    return report;
}

namespace {

/// After so many there is nothing to hope for.
constexpr std::size_t kMostGone = 16;

/// Draws until the plan ends, and keeps what came of it.
class SampleRun {
public:
    SampleRun(const BirthCertificate& certificate, const base::Hash256& randomness, const SamplePlan& plan,
              ClaimJudge& judge)
        : certificate_(certificate),
          plan_(plan),
          judge_(judge),
          known_(certificate),
          segments_(segments_of(certificate)),
          tiles_(certificate),
          segment_draw_(segments_.weights, DrawStream(randomness, "segments")),
          tile_draw_(tiles_.count(), DrawStream(randomness, "tiles")) {}

    Outcome<ModelAuditReport> run() {
        report_.segments.population = segments_.places.size();
        report_.tiles.population = tiles_.count();
        constexpr std::uint64_t kTileEvery = 5;
        std::uint64_t segments_drawn = 0;
        report_.arrays.population = tiles_.arrays();
        for (std::uint64_t draws = 1; !is_over(draws, segments_drawn); ++draws) {
            const bool is_segment = draws % kTileEvery != 0;
            const auto segment = is_segment ? segment_draw_.next() : std::nullopt;
            if (segment) {
                ++segments_drawn;
                ASSAY_TRY(look_at(segments_.places[*segment], report_.segments));
            } else if (is_segment && arrays_met_.size() == tiles_.arrays()) {
                break;
            } else {
                ASSAY_TRY(look_at_tile());
            }
        }
        ASSAY_TRY(look_at_defeats());
        gather_met();
        tell(report_.segments, Population(segments_.weights));
        tell(report_.tiles, Population::even(tiles_.count()));
        report_.panels = panels_of(certificate_);
        report_.defeated = known_.reports();
        for (const CertifiedRound& round : certificate_.rounds)
            report_.merged_slots += round.merged_slots.size();
        report_.open_rounds = open_rounds(certificate_);
        return std::move(report_);
    }

private:
    [[nodiscard]] bool is_over(std::uint64_t draws, std::uint64_t segments_drawn) const {
        if (plan_.most && segments_drawn >= *plan_.most) return true;
        if (report_.inconclusive.size() >= kMostGone) return true;
        return draws > 1 && plan_.seconds() >= plan_.limit;
    }

    template <class Place>
    Outcome<void> look_at(const Place& place, StratumReport& stratum) {
        const double began = plan_.seconds();
        ASSAY_ASSIGN(ClaimFinding found, judge_.judge(place));
        stratum.seconds += plan_.seconds() - began;
        const std::string where = to_text(place, certificate_.spec);
        if (found.state != ClaimState::kGone) ++stratum.recomputed;
        const bool admitted = known_.admits(place, found);
        if (found.state == ClaimState::kFalse && !admitted)
            report_.failures.push_back({where, std::move(found.why)});
        const bool hidden = known_.hides(place, found);
        if (found.state == ClaimState::kGone && !hidden)
            report_.inconclusive.push_back({where, std::move(found.why)});
        return {};
    }

    Outcome<void> look_at_tile() {
        const auto number = tile_draw_.next();
        if (!number) return {};
        const TilePlace tile = tiles_.at(*number);
        const std::uint64_t before = report_.tiles.recomputed;
        ASSAY_TRY(look_at(tile, report_.tiles));
        arrays_met_.emplace(tile.round, tile.slot);
        if (report_.tiles.recomputed > before) arrays_seen_.emplace(tile.round, tile.slot);
        report_.arrays.recomputed = arrays_seen_.size();
        return {};
    }

    /// Whoever lost a game about a right unit on purpose could else keep back everything behind it.
    Outcome<void> look_at_defeats() {
        for (const UnitPlace& place : known_.unreached()) {
            ASSAY_ASSIGN(ClaimFinding found, judge_.judge(place));
            (void)known_.admits(place, found);
            if (found.state == ClaimState::kGone && !known_.hides(place, found))
                report_.inconclusive.push_back({to_text(place, certificate_.spec), std::move(found.why)});
        }
        for (MetFault& fault : known_.not_excused()) report_.inconclusive.push_back(std::move(fault));
        return {};
    }

    void gather_met() {
        for (MetFault& fault : judge_.met()) {
            if (known_.admits(fault)) continue;
            const bool said = std::any_of(report_.failures.begin(), report_.failures.end(),
                                          [&](const MetFault& other) { return other.where == fault.where; });
            if (!said) report_.failures.push_back(std::move(fault));
        }
    }

    static void tell(StratumReport& stratum, const Population& population) {
        for (std::size_t i = 0; i < kForgedShares.size(); ++i)
            stratum.chances[i] = population.chance_of_share(stratum.recomputed, kForgedShares[i]);
        stratum.chance_of_one = population.chance_of_one(stratum.recomputed);
        stratum.draws_for_95 = population.draws_for(0.95, kMainShare);
    }

    const BirthCertificate& certificate_;
    const SamplePlan& plan_;
    ClaimJudge& judge_;
    KnownDefeats known_;
    SegmentPopulation segments_;
    TilePopulation tiles_;
    WeightedDraw segment_draw_;
    EvenDraw tile_draw_;
    using ArrayName = std::pair<std::uint32_t, std::optional<std::uint32_t>>;
    std::set<ArrayName> arrays_met_;   ///< of drawn tiles
    std::set<ArrayName> arrays_seen_;  ///< those that could be recomputed
    ModelAuditReport report_;
};

}  // namespace

Outcome<ModelAuditReport> audit_model(const BirthCertificate& certificate,
                                      const base::Hash256& certificate_root, const SamplePlan& plan,
                                      ClaimJudge& judge) {
    return SampleRun(certificate, sample_randomness(certificate_root, plan), plan, judge).run();
}

}  // namespace assay::node
