// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace assay::trainer {

namespace {
constexpr std::array kLevels = {Rematerialise::kNothing, Rematerialise::kCheap, Rematerialise::kLayers};
constexpr std::uint64_t kLeastHeadRows = 64;
// Logits of half as many tokens, twice as often, cost nothing that can be measured while they are so many.
constexpr std::uint64_t kManyLogits = 128U << 20U;  // bytes
constexpr std::uint64_t kUsefulOfManyRows = 256;
// Rematerialising norms and activations costs 1 to 2 % of a step: not for less memory than this, unless a
// budget asks.
constexpr std::uint64_t kWorthRematerialising = 64U << 20U;
// Micro-batches of a step from which packed weights are worth their memory: fewer save less of the packing.
constexpr std::uint32_t kRepaidPacking = 4;

std::uint32_t useful_micro_batch(const program::Program& program, const PlanHints& hints,
                                 const PlanLimits& limits) {
    if (limits.micro_batch != 0) return std::min(limits.micro_batch, limits.batch);
    const std::uint64_t wanted = std::max<std::uint64_t>(1, hints.tokens / program.model.context);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, limits.batch));
}

std::uint64_t useful_head_rows(const program::Program& program, const PlanHints& hints) {
    std::uint64_t rows = hints.head_rows;
    while (rows > kUsefulOfManyRows && rows * program.model.vocabulary * sizeof(float) > kManyLogits)
        rows /= 2;
    return rows;
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB"; }
}  // namespace

base::Outcome<std::uint64_t> parse_memory(std::string_view text) {
    constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
    constexpr double kMost = 0x1p50;
    double number = 0;
    const auto parsed =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    std::string_view unit = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
    if (unit.starts_with(' ')) unit.remove_prefix(1);
    const auto* found = std::find(kUnits.begin(), kUnits.end(), unit);
    if (parsed.ec == std::errc() && found != kUnits.end()) {
        number = std::ldexp(number, 10 * static_cast<int>(found - kUnits.begin()));
        if (number >= 1 && number <= kMost) return static_cast<std::uint64_t>(number);
    }
    // Appended, not added: GCC 12 takes an addition here for an overlapping copy at -O3 (GCC bug 105651).
    std::string what = "'";
    what.append(text).append("' is not an amount of memory");
    return base::fail(base::ErrorKind::kUsage, what, "write it like 2GiB or 512MiB");
}

base::Outcome<std::uint64_t> memory_from_environment() {
    const char* value = std::getenv("ASSAY_MEMORY");
    if (value == nullptr || *value == '\0') return 0;
    auto bytes = parse_memory(value);
    if (bytes.ok()) return bytes;
    return base::fail(bytes.error().kind, "ASSAY_MEMORY: " + bytes.error().what, bytes.error().fix);
}

std::uint64_t state_bytes(const program::Program& program) {
    const bool trains = program.operators.back().row().phase == program::Phase::kOncePerStep;
    return (trains ? 3 : 1) * program::parameter_count(program.model) * sizeof(float);
}

AllocationPlan smallest_plan(const program::Program& program, const Device& device, std::uint32_t batch) {
    return plan_allocation(program, device, {1, Rematerialise::kLayers, kLeastHeadRows}, batch);
}

base::Outcome<AllocationPlan> choose_plan(const program::Program& program, const Device& device,
                                          const PlanLimits& limits) {
    const std::uint64_t state = state_bytes(program);
    const PlanHints hints = device.hints();
    const std::uint32_t most = useful_micro_batch(program, hints, limits);
    const std::uint64_t most_rows = useful_head_rows(program, hints);
    const auto plan_of = [&](const PlanChoice& choice) {
        return plan_allocation(program, device, choice, limits.batch);
    };
    const auto fits = [&](const AllocationPlan& plan) {
        return limits.bytes == 0 || state + plan.bytes() + limits.reserved <= limits.bytes;
    };
    const auto most_of = [&](Rematerialise rematerialise) {
        return plan_of({most, rematerialise, most_rows}).bytes();
    };
    const bool rematerialising_is_worth_it =
        most_of(Rematerialise::kNothing) >= most_of(Rematerialise::kCheap) + kWorthRematerialising;
    for (const Rematerialise rematerialise : kLevels) {
        if (rematerialise == Rematerialise::kNothing && rematerialising_is_worth_it) continue;
        for (std::uint32_t micro_batch = most; micro_batch >= 1; micro_batch /= 2) {
            const bool repaid = (limits.batch + micro_batch - 1) / micro_batch >= kRepaidPacking;
            for (std::uint64_t rows = most_rows; rows >= kLeastHeadRows; rows /= 2) {
                AllocationPlan plan = plan_of({micro_batch, rematerialise, rows});
                if (repaid && rows == most_rows) {
                    AllocationPlan keeping = plan_of({micro_batch, rematerialise, rows, true});
                    // A device that keeps nothing of weights takes the same either way.
                    if (keeping.device != plan.device && fits(keeping)) return keeping;
                }
                if (fits(plan)) return plan;
            }
            if (limits.micro_batch != 0) break;
        }
    }
    PlanChoice least{limits.micro_batch != 0 ? most : 1, Rematerialise::kLayers, kLeastHeadRows};
    const std::uint64_t needed = state + plan_of(least).bytes() + limits.reserved;
    return base::fail(base::ErrorKind::kPreflight,
                      "a memory budget of " + std::to_string(limits.bytes) + " bytes (" +
                          mebibytes(limits.bytes) + ") cannot hold one sequence of this model: " +
                          std::to_string(needed) + " bytes (" + mebibytes(needed) + ") are needed",
                      "give at least " + mebibytes(needed));
}

}  // namespace assay::trainer
