// SPDX-License-Identifier: Apache-2.0
// Gives `assay audit model` the audit: it draws from the claims of a certificate, recomputes them until the
// time is over, and computes how much evidence that is.
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

/// The source of a sample's randomness, which decides for whom the sample is evidence.
enum class SampleSource : std::uint8_t {
    kLocal,   ///< this machine's, drawn after the certificate was read: for the person who runs the audit
    kBeacon,  ///< a public number: for everybody who knows that it is newer than the certificate
    kSeed,    ///< a number that anybody could have known: for nobody
};
std::string_view to_text(SampleSource source);

struct SamplePlan {
    SampleSource source = SampleSource::kLocal;
    base::Hash256 number;               ///< the local number, the beacon, or made from the seed
    std::optional<std::uint64_t> most;  ///< the most segments to draw
    /// Seconds since the audit began, from a monotonic clock.
    std::function<double()> seconds;
    double limit = 0;  ///< seconds after which nothing more is drawn; at least one unit is always drawn
};

/// The randomness of the draws: H("assay/audit/sample", certificate's root ‖ number).
base::Hash256 sample_randomness(const base::Hash256& certificate_root, const SamplePlan& plan);

/// The forged shares for which chances are reported, in parts per million.
inline constexpr std::array<std::uint32_t, 4> kForgedShares{10'000, 50'000, 100'000, 500'000};
/// The share that `confidence` and `minutes_for_95` are about.
inline constexpr std::uint32_t kMainShare = kForgedShares[0];

/// The result of one stratum.
struct StratumReport {
    std::uint64_t population = 0;
    std::uint64_t recomputed = 0;                        ///< drawn ones that got a verdict
    std::array<double, kForgedShares.size()> chances{};  ///< for kForgedShares
    double chance_of_one = 0;
    std::uint64_t draws_for_95 = 0;  ///< of kMainShare
    double seconds = 0;              ///< spent on it
};

/// Updates and merges. One tile is enough to check a whole array, because the worker computes the array again
/// and compares its root before the referee looks at the tile.
struct ArraysReport {
    std::uint64_t population = 0;
    std::uint64_t recomputed = 0;
};

/// How much of the merged slots the ledger's panels recomputed when they were paid.
struct PanelReport {
    std::uint64_t population = 0;  ///< segments of merged slots
    std::uint64_t recomputed = 0;  ///< those that were drawn and decided
};

struct ModelAuditReport {
    StratumReport segments;  ///< weighted by work
    StratumReport tiles;     ///< of updates and merged states, all alike
    ArraysReport arrays;     ///< the arrays to which the tiles belong
    PanelReport panels;
    std::vector<MetFault> failures;  ///< false claims, drawn or found on the way, except `defeated`
    /// Drawn claims that could not be recomputed; they count as false. Without those after a defeated unit.
    std::vector<MetFault> inconclusive;
    std::vector<DefeatReport> defeated;  ///< ascending by round and game
    std::uint64_t merged_slots = 0;
    std::vector<std::uint32_t> open_rounds;  ///< rounds whose windows were open when the certificate was made
    /// Whether everything that was drawn could be recomputed and is as claimed, except for what the
    /// certificate calls defeated.
    [[nodiscard]] bool ok() const {
        return failures.empty() && inconclusive.empty() && segments.recomputed > 0;
    }
};

/// Every segment of every merged slot, with its number of steps as its weight.
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

/// Draws claims and has them judged. Every fifth draw is a tile, and every draw when no segment is left,
/// until each update and merge has been checked. Errors are the judge's, about this machine.
/// REQUIRES a certificate without contradictions().
base::Outcome<ModelAuditReport> audit_model(const BirthCertificate& certificate,
                                            const base::Hash256& certificate_root, const SamplePlan& plan,
                                            ClaimJudge& judge);

}  // namespace assay::node
