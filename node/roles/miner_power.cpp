// SPDX-License-Identifier: Apache-2.0
#include "node/roles/miner_power.hpp"

#include <algorithm>
#include <string>

#include "contracts/base/wide.hpp"
#include "contracts/rules/job/standing.hpp"

namespace assay::node {

namespace {

using base::Amount;
using base::Uint128;

constexpr std::uint64_t kHourNs = 3'600'000'000'000;
/// Watt-nanoseconds of a milliwatt-hour, and milliwatt-hours of a kilowatt-hour.
constexpr std::uint64_t kWattNsInMilliwattHour = kHourNs / 1'000;
constexpr std::uint64_t kMilliwattHoursInKilowattHour = 1'000'000;
/// Work that is remembered; what comes on top halves what was before.
constexpr std::uint64_t kRememberedNs = kHourNs;

std::uint64_t capped(Uint128 value) {
    return value > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(value);
}

bool is_ascending(const std::vector<ClassPace>& classes) {
    return std::adjacent_find(classes.begin(), classes.end(),
                              [](const ClassPace& one, const ClassPace& next) {
                                  return !(one.kind() < next.kind());
                              }) == classes.end();
}

Amount cost_of_energy(const PowerTerms& power, std::uint64_t ns) {
    const std::uint64_t energy =
        capped((Uint128{power.watts} * ns + kWattNsInMilliwattHour - 1) / kWattNsInMilliwattHour);
    return power.price.times(energy, kMilliwattHoursInKilowattHour, base::Rounding::kUp)
        .value_or(Amount::of(base::kAmountMax).value());
}

}  // namespace

base::Outcome<MinerPace> read_pace(DiskPort& notes) {
    ASSAY_ASSIGN(const auto kept, notes.read(kPaceNote));
    if (!kept) return MinerPace{};
    auto note = base::decode<MinerPace>(*kept);
    if (note.ok() && is_ascending(note->classes)) return std::move(note).value();
    return base::fail(
        base::ErrorKind::kFailure,
        "the note " + std::string(kPaceNote) + " does not say what this miner measured: " +
            (note.ok() ? "its classes are not in order" : std::string(base::to_text(note.error()))),
        "remove it from the home's folder jobs: the miner measures anew");
}

base::Outcome<void> write_pace(DiskPort& notes, const MinerPace& pace) {
    return notes.write(kPaceNote, base::encode(pace));
}

ClassPace pace_for(const MinerPace& pace, const contracts::JobTerms& job) {
    const contracts::WorkClass kind = contracts::class_of(job);
    for (const ClassPace& one : pace.classes)
        if (one.kind() == kind) return one;
    return {.family = kind.family, .profile = kind.profile, .scale = kind.scale, .units = 0, .ns = 0};
}

void add_slot(MinerPace& all, const contracts::JobTerms& job, std::uint64_t ns) {
    if (job.slot_work == 0 || ns == 0) return;
    ClassPace pace = pace_for(all, job);
    if (pace.ns >= kRememberedNs) {
        pace.units /= 2;
        pace.ns /= 2;
    }
    pace.units = capped(Uint128{pace.units} + job.slot_work);
    pace.ns = capped(Uint128{pace.ns} + ns);
    std::erase_if(all.classes, [&](const ClassPace& one) { return one.kind() == pace.kind(); });
    const auto behind = std::find_if(all.classes.begin(), all.classes.end(),
                                     [&](const ClassPace& one) { return pace.kind() < one.kind(); });
    all.classes.insert(behind, pace);
}

std::optional<std::uint64_t> time_of(const ClassPace& pace, std::uint64_t units) {
    if (!pace.known()) return std::nullopt;
    return capped(Uint128{pace.ns} * units / pace.units);
}

std::optional<Amount> power_cost(const PowerTerms& power, const ClassPace& pace, std::uint64_t units) {
    const auto ns = time_of(pace, units);
    if (!ns) return std::nullopt;
    return cost_of_energy(power, *ns);
}

std::optional<HourOfWork> hour_of_work(const ClassPace& pace, Amount price,
                                       const std::optional<PowerTerms>& power) {
    if (!pace.known()) return std::nullopt;
    HourOfWork hour;
    hour.units = capped(Uint128{pace.units} * kHourNs / pace.ns);
    hour.earned =
        price.times(hour.units, 1, base::Rounding::kDown).value_or(Amount::of(base::kAmountMax).value());
    if (power) hour.power = cost_of_energy(*power, kHourNs);
    return hour;
}

}  // namespace assay::node
