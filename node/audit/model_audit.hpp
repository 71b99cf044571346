// SPDX-License-Identifier: Apache-2.0
// Gives `assay audit model` the audit itself: what a certificate claims is drawn from, recomputed until the
// minutes are over, and turned into what that was worth.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "node/audit/known_defeats.hpp"
#include "node/audit/model_replay.hpp"
#include "node/audit/sampling.hpp"

namespace assay::node {

/// Where a sample's randomness comes from, and so for whom it is evidence.
enum class SampleSource : std::uint8_t {
    kLocal,   ///< this machine's, drawn after the certificate was read: for whoever runs the audit
    kBeacon,  ///< a public number: for everybody who knows that it is younger than the certificate
    kSeed,    ///< a number that anybody could have known: for nobody
};
std::string_view to_text(SampleSource source);

struct SamplePlan {
    SampleSource source = SampleSource::kLocal;
    base::Hash256 number;               ///< local, or the beacon's, or made of the seed
    std::optional<std::uint64_t> most;  ///< segments to draw at most
    /// Seconds since the audit began, by a clock that never goes back.
    std::function<double()> seconds;
    double limit = 0;  ///< seconds after which nothing more is drawn; one unit is drawn whatever it is
};

/// What is drawn: H("assay/audit/sample", certificate's root ‖ number).
base::Hash256 sample_randomness(const base::Hash256& certificate_root, const SamplePlan& plan);

/// The shares for which chances are told, parts per million.
inline constexpr std::array<std::uint32_t, 4> kForgedShares{10'000, 50'000, 100'000, 500'000};
/// The one that `confidence` and `minutes_for_95` are about.
inline constexpr std::uint32_t kMainShare = kForgedShares[0];

/// What one stratum came to.
struct StratumReport {
    std::uint64_t population = 0;
    std::uint64_t recomputed = 0;                        ///< drawn ones that got a verdict
    std::array<double, kForgedShares.size()> chances{};  ///< for kForgedShares
    double chance_of_one = 0;
    std::uint64_t draws_for_95 = 0;  ///< of kMainShare
    double seconds = 0;              ///< spent on it
};

/// Updates and merges, each of which one of its tiles brings to light as a whole: the worker computes the
/// array again and compares its root before the referee looks at the tile.
struct ArraysReport {
    std::uint64_t population = 0;
    std::uint64_t recomputed = 0;
};

/// What of the merged slots the ledger's panels recomputed when they were paid.
struct PanelReport {
    std::uint64_t population = 0;  ///< segments of merged slots
    std::uint64_t recomputed = 0;  ///< those that were drawn and decided
};

struct ModelAuditReport {
    StratumReport segments;  ///< weighted by work
    StratumReport tiles;     ///< of updates and merged states, all alike
    ArraysReport arrays;     ///< to which the tiles belong
    PanelReport panels;
    std::vector<MetFault> failures;  ///< false things, drawn or met on the way, but for `defeated`
    /// Drawn, and not to be recomputed: counted as false. Without what lies behind a defeated unit.
    std::vector<MetFault> inconclusive;
    std::vector<DefeatReport> defeated;  ///< ascending by round and game
    std::uint64_t merged_slots = 0;
    std::vector<std::uint32_t> open_rounds;  ///< whose windows were open when the certificate was made
    /// What was drawn is as claimed, but for what the certificate says was defeated, and all of it could be
    /// recomputed.
    [[nodiscard]] bool ok() const {
        return failures.empty() && inconclusive.empty() && segments.recomputed > 0;
    }
};

/// Every segment of every merged slot, and its steps, its weight.
struct SegmentPopulation {
    std::vector<UnitPlace> places;
    std::vector<std::uint64_t> weights;
};
SegmentPopulation segments_of(const BirthCertificate& certificate);

/// The tiles of every merged slot's update and of both arrays of every merge, by number.
class TilePopulation {
public:
    explicit TilePopulation(const BirthCertificate& certificate);
    [[nodiscard]] std::uint64_t count() const { return tiles_each_ * arrays_.size(); }
    /// Updates and merges.
    [[nodiscard]] std::uint64_t arrays() const { return claims_; }
    /// REQUIRES number < count().
    [[nodiscard]] TilePlace at(std::uint64_t number) const;

private:
    std::vector<TilePlace> arrays_;
    std::uint64_t claims_ = 0;
    std::vector<std::uint64_t> tile_ends_;  ///< tiles of the tensors up to each
    std::uint64_t tiles_each_ = 0;
};

PanelReport panels_of(const BirthCertificate& certificate);

/// Draws and judges; every fifth draw is a tile, and when no segment is left every one, until each update and
/// merge has been met. Errors are the judge's: of this machine.
/// REQUIRES a certificate without contradictions().
base::Outcome<ModelAuditReport> audit_model(const BirthCertificate& certificate,
                                            const base::Hash256& certificate_root, const SamplePlan& plan,
                                            ClaimJudge& judge);

}  // namespace assay::node
