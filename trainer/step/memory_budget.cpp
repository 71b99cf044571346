// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "trainer/step/memory_text.hpp"

namespace assay::trainer {

namespace {
constexpr std::array kLevels = {Rematerialise::kNothing, Rematerialise::kCheap, Rematerialise::kLayers};
constexpr std::uint64_t kLeastHeadRows = 64;
constexpr std::uint64_t kUsefulOfManyRows = 256;
// Micro-batches of a step from which packed weights are worth their memory: fewer save less of the packing.
constexpr std::uint32_t kRepaidPacking = 4;

std::uint32_t useful_micro_batch(const program::Program& program, const PlanHints& hints,
                                 const PlanLimits& limits) {
    const program::ModelConfig& model = program.model;
    std::uint64_t wanted = limits.micro_batch != 0 ? limits.micro_batch : hints.tokens / model.context;
    if (hints.most_at_once != 0)
        wanted = std::min(wanted, hints.most_at_once / std::max(model.context, model.heads));
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, limits.batch));
}

// Whether the device can take one sequence of the model at all.
base::Outcome<void> check_size(const program::Program& program, const Device& device) {
    const program::ModelConfig& model = program.model;
    const PlanHints hints = device.hints();
    const auto check = [&](std::uint64_t found, std::uint64_t most, const char* of) -> base::Outcome<void> {
        if (most == 0 || found <= most) return {};
        return base::fail(base::ErrorKind::kPreflight,
                          std::string(device.name()) + " takes models of at most " + std::to_string(most) +
                              of + ", and this one has " + std::to_string(found),
                          "use another device");
    };
    ASSAY_TRY(check(model.heads, hints.most_at_once, " heads"));
    ASSAY_TRY(check(model.context, hints.most_at_once, " tokens of context"));
    if (program.profile != program::Profile::kI16) return {};
    return check(model.vocabulary, hints.most_vocabulary, " tokens of vocabulary in profile i16");
}

std::uint64_t useful_head_rows(const program::Program& program, const PlanHints& hints) {
    std::uint64_t rows = hints.head_rows;
    while (rows > kUsefulOfManyRows && rows * program.model.vocabulary * sizeof(float) > hints.logits)
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

base::Outcome<std::uint64_t> parse_memory_limit(std::string_view text) {
    if (text == "0") return 0;
    return parse_memory(text);
}

namespace {
base::Outcome<std::uint64_t> amount_from(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return 0;
    auto bytes = parse_memory_limit(value);
    if (bytes.ok()) return bytes;
    return base::fail(bytes.error().kind, std::string(name) + ": " + bytes.error().what, bytes.error().fix);
}
}  // namespace

base::Outcome<std::uint64_t> memory_from_environment() { return amount_from("ASSAY_MEMORY"); }
base::Outcome<std::uint64_t> device_memory_from_environment() { return amount_from("ASSAY_DEVICE_MEMORY"); }

std::uint64_t state_bytes(const program::Program& program) {
    const bool trains = program.operators.back().row().phase == program::Phase::kOncePerStep;
    return (trains ? 3 : 1) * program::parameter_count(program.model) * sizeof(float);
}

std::uint64_t state_bytes(const program::Program& program, const PlanChoice& choice) {
    if (!choice.offload_moments) return state_bytes(program);
    return program::parameter_count(program.model) * sizeof(float);
}

AllocationPlan smallest_plan(const program::Program& program, const Device& device, std::uint32_t batch) {
    return plan_allocation(program, device, {1, Rematerialise::kLayers, kLeastHeadRows}, batch);
}

namespace {
// Plans from the quickest on.
class PlanSearch {
public:
    PlanSearch(const program::Program& program, const Device& device, const PlanLimits& limits)
        : program_(program),
          device_(device),
          limits_(limits),
          most_(useful_micro_batch(program, device.hints(), limits)),
          most_rows_(useful_head_rows(program, device.hints())) {}

    /// The first that fits.
    [[nodiscard]] std::optional<AllocationPlan> find(bool offload_moments) const {
        // A player of a dispute runs a step by its operators, a sequence at a time, within this budget. That
        // takes as much as the smallest plan, which can be more than a step of one micro-batch, whose
        // gradients lie where activations were.
        if (!fits(plan(smallest(1, offload_moments)))) return std::nullopt;
        const auto most_of = [&](Rematerialise rematerialise) {
            return plan({most_, rematerialise, most_rows_}).bytes();
        };
        const std::uint64_t all = most_of(Rematerialise::kNothing), less = most_of(Rematerialise::kCheap);
        const bool rematerialising_is_worth_it =
            all >= less && all - less >= device_.hints().worth_rematerialising;
        for (const Rematerialise rematerialise : kLevels) {
            if (rematerialise == Rematerialise::kNothing && rematerialising_is_worth_it) continue;
            for (std::uint32_t micro_batch = most_; micro_batch >= 1; micro_batch /= 2) {
                const bool repaid = (limits_.batch + micro_batch - 1) / micro_batch >= kRepaidPacking;
                for (std::uint64_t rows = most_rows_; rows >= kLeastHeadRows; rows /= 2) {
                    PlanChoice choice{micro_batch, rematerialise, rows};
                    choice.offload_moments = offload_moments;
                    AllocationPlan found = plan(choice);
                    if (repaid && rows == most_rows_) {
                        choice.keep_weights = true;
                        AllocationPlan keeping = plan(choice);
                        // A device that keeps nothing of weights takes the same either way.
                        if (keeping.device != found.device && fits(keeping)) return keeping;
                    }
                    if (fits(found)) return found;
                    if (found.is_one_by_one()) break;  // it has all logits anyway
                }
                if (limits_.micro_batch != 0) break;
            }
        }
        return std::nullopt;
    }

    /// What the smallest takes.
    [[nodiscard]] std::uint64_t needed() const {
        const bool offload_moments = !limits_.device.empty();
        const std::uint64_t least = taken(plan(smallest(1, offload_moments)));
        if (limits_.micro_batch == 0) return least;
        return std::max(least, taken(plan(smallest(most_, offload_moments))));
    }

private:
    [[nodiscard]] static PlanChoice smallest(std::uint32_t micro_batch, bool offload_moments) {
        PlanChoice choice{micro_batch, Rematerialise::kLayers, kLeastHeadRows};
        choice.offload_moments = offload_moments;
        return choice;
    }
    [[nodiscard]] AllocationPlan plan(const PlanChoice& choice) const {
        return plan_allocation(program_, device_, choice, limits_.batch);
    }
    [[nodiscard]] std::uint64_t taken(const AllocationPlan& plan) const {
        return state_bytes(program_, plan.choice) + plan.bytes() + limits_.reserved;
    }
    [[nodiscard]] bool fits(const AllocationPlan& plan) const {
        return limits_.bytes == 0 || taken(plan) <= limits_.bytes;
    }

    const program::Program& program_;
    const Device& device_;
    const PlanLimits& limits_;
    std::uint32_t most_;
    std::uint64_t most_rows_;
};

base::Failed<base::Error> does_not_fit(const PlanLimits& limits, std::uint64_t needed) {
    if (!limits.device.empty()) {
        std::string what = "a step of one sequence of this model needs ";
        what.append(memory_text(needed)).append(" on ").append(limits.device).append(", which has ");
        what.append(memory_text(limits.bytes)).append(" for it");
        return base::fail(base::ErrorKind::kPreflight, what,
                          "use a device with more memory, or give it more with --device-memory");
    }
    return base::fail(base::ErrorKind::kPreflight,
                      "a memory budget of " + std::to_string(limits.bytes) + " bytes (" +
                          mebibytes(limits.bytes) + ") cannot hold one sequence of this model: " +
                          std::to_string(needed) + " bytes (" + mebibytes(needed) + ") are needed",
                      "give at least " + mebibytes(needed) + " (--memory or ASSAY_MEMORY)");
}
}  // namespace

base::Outcome<AllocationPlan> choose_plan(const program::Program& program, const Device& device,
                                          const PlanLimits& limits) {
    ASSAY_TRY(check_size(program, device));
    const PlanSearch search(program, device, limits);
    auto found = search.find(false);
    if (!found && !limits.device.empty() &&
        state_bytes(program) > state_bytes(program, {.offload_moments = true}))
        found = search.find(true);
    if (found) return std::move(*found);
    return does_not_fit(limits, search.needed());
}

base::Outcome<void> check_host_budget(const program::Program& program, const Device& device,
                                      const PlanChoice& choice, std::uint64_t bytes, std::uint64_t reserved) {
    const std::uint64_t state = state_bytes(program);
    const std::uint64_t needed =
        state + (state - state_bytes(program, choice)) + device.host_bytes() + reserved;
    if (bytes == 0 || needed <= bytes) return {};
    return base::fail(base::ErrorKind::kPreflight,
                      "a memory budget of " + memory_text(bytes) + " cannot hold a slot's state beside " +
                          std::string(device.name()) + ": " + memory_text(needed) + " are needed",
                      "give at least " + mebibytes(needed) + " (--memory or ASSAY_MEMORY)");
}

}  // namespace assay::trainer
