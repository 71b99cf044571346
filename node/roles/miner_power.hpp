// SPDX-License-Identifier: Apache-2.0
// Gives the miner and the commands of its home what its work brings and what its power costs. Both follow
// from the price that the owner states and the pace that the miner measures; they are kept among its notes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/rules/tables.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// What the owner states about the machine's power.
struct PowerTerms {
    std::uint32_t watts = 0;  ///< drawn while it trains
    base::Amount price;       ///< of a kilowatt-hour
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.watts, self.price);
    }
    friend bool operator==(const PowerTerms&, const PowerTerms&) = default;
};

/// How long work of one class took here, over the last slots; older slots count less and less.
struct ClassPace {
    program::Family family = program::Family::kGpt2;
    program::Profile profile = program::Profile::kF32;
    std::uint8_t scale = 0;   ///< WorkClass::scale
    std::uint64_t units = 0;  ///< work units
    std::uint64_t ns = 0;     ///< of the whole machine, rests included
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.family, self.profile, self.scale, self.units, self.ns);
    }
    [[nodiscard]] contracts::WorkClass kind() const { return {family, profile, scale}; }
    [[nodiscard]] bool known() const { return units > 0 && ns > 0; }
};

/// All that the note holds.
struct MinerPace {
    base::Amount ask;  ///< the least that it works for, per work unit
    std::optional<PowerTerms> power;
    std::vector<ClassPace> classes;  ///< ascending, each once
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.ask, self.power, self.classes);
    }
};

inline constexpr std::string_view kPaceNote = "miner-pace";
/// Empty when there is no note. kFailure when it cannot be read, or does not decode.
base::Outcome<MinerPace> read_pace(DiskPort& notes);
base::Outcome<void> write_pace(DiskPort& notes, const MinerPace& pace);

/// The pace of the job's class; not known() when no slot of the class was measured.
ClassPace pace_for(const MinerPace& pace, const contracts::JobTerms& job);
/// Adds a slot of the job, which took `ns`.
void add_slot(MinerPace& pace, const contracts::JobTerms& job, std::uint64_t ns);

/// Nanoseconds that `units` of work take; nothing when the pace is not known.
std::optional<std::uint64_t> time_of(const ClassPace& pace, std::uint64_t units);
/// Cost of the power for `units` of work, rounded up; nothing when the pace is not known.
std::optional<base::Amount> power_cost(const PowerTerms& power, const ClassPace& pace, std::uint64_t units);

/// What an hour of work of a class brings at a price, and what its power costs.
struct HourOfWork {
    std::uint64_t units = 0;
    base::Amount earned;
    std::optional<base::Amount> power;  ///< nothing when the owner has stated no cost
    [[nodiscard]] bool pays() const { return !power || earned >= *power; }
};
/// Nothing when the pace is not known.
std::optional<HourOfWork> hour_of_work(const ClassPace& pace, base::Amount price,
                                       const std::optional<PowerTerms>& power);

}  // namespace assay::node
