// SPDX-License-Identifier: Apache-2.0
#include "node/cli/bench_card.hpp"

#include "node/cli/bench_compare.hpp"
#include "node/worker/bench_child.hpp"
#include "node/worker/device_list.hpp"

namespace assay::node {

using base::Outcome;

namespace {

// A layer of GPT-2 124M at 8,192 tokens in all three products, a square, its LM head's gradients.
constexpr BenchLayer kCardLayers[] = {{"forward", "forward", 8192, 768, 3072},
                                      {"forward", "forward", 4096, 4096, 4096},
                                      {"input gradient", "input", 8192, 768, 3072},
                                      {"weight gradient", "weight", 8192, 768, 3072},
                                      {"head input gradient", "head-input", 4096, 768, 50257},
                                      {"head weight gradient", "head-weight", 4096, 768, 50257}};
constexpr BenchModel kCardModel = {"GPT-2 124M", 12, 768, 12, 1024, 50257, 8};

// What the emulation can do in seconds.
constexpr BenchLayer kEmulatedLayers[] = {{"emulated forward", "forward", 64, 40, 48},
                                          {"emulated head weight gradient", "head-weight", 64, 32, 70}};
constexpr BenchModel kEmulatedModel = {"emulated GPT-2", 1, 32, 2, 16, 64, 2};

constexpr double kSegment = 16;       // steps
constexpr double kMostTracing = 1.0;  // of training it, in percent

bool is_emulated(const BenchOptions& options) { return !is_card(options.device); }

BenchMatch match_of(const BenchSides& sides, const OurSide& ours, const BenchCase& one,
                    const std::vector<std::string>& modes) {
    const unsigned threads = sides.threads().front();
    BenchMatch match{ours, sides.ours(ours, threads, one.verb, one.work), {}};
    for (const std::string& mode : modes)
        match.peers.push_back(sides.pytorch(mode, threads, one.verb, one.work));
    return match;
}

// Which peers a profile meets: none in the emulation, or where nobody is wanted.
std::vector<std::string> modes_of(const BenchOptions& options, std::vector<std::string> modes) {
    if (is_emulated(options) || !options.peers) modes.clear();
    return modes;
}

// A step of one profile beside each of its peers, one at a time: a large model does not fit twice.
std::optional<double> card_step_rows(const BenchSides& sides, const BenchOptions& options,
                                     const BenchReport& report, const OurSide& ours,
                                     const std::vector<std::string>& modes, double budget) {
    const BenchCase one = case_of(is_emulated(options) ? kEmulatedModel : kCardModel);
    std::optional<double> seconds;
    std::vector<std::vector<std::string>> groups;
    for (const std::string& mode : modes) groups.push_back({mode});
    if (groups.empty()) groups.emplace_back();
    for (const auto& group : groups) {
        BenchComparison comparison(report);
        const std::vector<BenchMatch> matches = {match_of(sides, ours, one, group)};
        const auto results = comparison.run(matches, budget / static_cast<double>(groups.size()));
        if (!results[0]) continue;
        comparison.speed_rows(one, matches[0], sides.threads().front(), *results[0]);
        comparison.memory_rows(one, matches[0], sides.threads().front(), *results[0]);
        seconds = results[0]->ours.seconds;
    }
    return seconds;
}

// The roots of a state beside its copy to the host by PyTorch, and by ourselves.
std::optional<double> root_rows(const BenchSides& sides, const BenchOptions& options,
                                const BenchReport& report, double budget) {
    const BenchModel& m = is_emulated(options) ? kEmulatedModel : kCardModel;
    BenchCase one = case_of(m);
    one.work = one.work.substr(0, one.work.rfind(' '));  // a state has no batch
    one.verb = "state";
    std::optional<double> seconds;
    for (const char* work : {"roots", "copy"}) {
        one.name = std::string(work == std::string("roots") ? "roots of a slot's state, "
                                                            : "its copy to the host, ") +
                   m.name;
        const OurSide ours{work, sides.f32().front().target};
        BenchComparison comparison(report);
        std::vector<BenchMatch> matches = {match_of(sides, ours, one, modes_of(options, {"copy"}))};
        matches[0].ours.profile.clear();
        const auto results = comparison.run(matches, budget / 2);
        if (!results[0]) continue;
        comparison.time_rows(one, matches[0], sides.threads().front(), *results[0]);
        if (!seconds) seconds = results[0]->ours.seconds;
    }
    return seconds;
}

void tracing_row(const BenchSides& sides, const BenchReport& report, const BenchCase& one,
                 const OurSide& ours, double step, double root) {
    BenchRow row{"tracing a segment of 16 steps, " + one.name, one.shape, ours.profile, ours.target,
                 sides.threads().front()};
    row.value = 100 * root / (kSegment * step);
    row.unit = "% of training";
    row.peer = "the most";
    row.peer_value = kMostTracing;
    row.ratio = kMostTracing / row.value;
    report.row(row);
}

// Kernels that take a hundredth of all kernels' time and more, each in its kind of group, and all others
// together.
void part_rows(const BenchSides& sides, const BenchReport& report, const BenchCase& one,
               const OurSide& ours) {
    constexpr double kWorthARow = 0.01, kMilliseconds = 1e3;
    const BenchSide side = sides.ours(ours, sides.threads().front(), "parts", one.work);
    auto child = BenchChild::start(side.program);
    const auto parts = child.ok() ? child->parts(side.line) : base::Failed{child.error()};
    if (!parts.ok()) return report.note("parts of a step, left out: " + parts.error().what);
    if (parts->empty()) return report.note("parts of a step, left out: " + side.key + " does not tell");
    BenchPart all, others;
    for (const BenchPart& part : *parts) {
        all.seconds += part.seconds;
        all.count += part.count;
    }
    const auto row = [&](const std::string& name, const BenchPart& part) {
        BenchRow of{"part of a step, " + one.name, name + ", " + std::to_string(part.count) + " launches",
                    ours.profile, ours.target, sides.threads().front()};
        of.value = kMilliseconds * part.seconds;
        of.unit = "ms";
        report.row(of);
    };
    for (const BenchPart& part : *parts) {
        if (part.seconds >= kWorthARow * all.seconds) {
            row(part.name, part);
        } else {
            others.seconds += part.seconds;
            others.count += part.count;
        }
    }
    if (others.count != 0) row("others", others);
    if (all.count != 0) row("all kernels", all);
}

}  // namespace

Outcome<void> bench_card_products(const BenchOptions& options, const BenchReport& report) {
    ASSAY_ASSIGN(const BenchSides sides, BenchSides::of_device(options.device, options.device_memory));
    std::vector<BenchCase> cases;
    const auto take = [&](const auto& layers) {
        for (const BenchLayer& layer : layers) {
            if (wanted(case_of(layer), options)) cases.push_back(case_of(layer));
        }
    };
    if (is_emulated(options)) {
        take(kEmulatedLayers);
    } else {
        take(kCardLayers);
    }
    BenchComparison comparison(report);
    for (const BenchCase& one : cases) {
        report.note("product " + one.name + " " + one.shape + " on " + options.device);
        const std::vector<BenchMatch> matches = {
            match_of(sides, sides.f32().front(), one, modes_of(options, {"fp32"})),
            match_of(sides, sides.i16().front(), one, modes_of(options, {"fp32", "bf16"}))};
        const auto results = comparison.run(matches, options.seconds / static_cast<double>(cases.size()));
        for (std::size_t i = 0; i < matches.size(); ++i) {
            if (results[i]) comparison.speed_rows(one, matches[i], sides.threads().front(), *results[i]);
        }
    }
    return {};
}

Outcome<void> bench_card_steps(const BenchOptions& options, const BenchReport& report) {
    ASSAY_ASSIGN(const BenchSides sides, BenchSides::of_device(options.device, options.device_memory));
    const BenchCase one = case_of(is_emulated(options) ? kEmulatedModel : kCardModel);
    if (!wanted(one, options)) return {};
    const double budget = options.seconds / 3;
    report.note("roots of the state of " + one.name + " on " + options.device);
    const auto root = root_rows(sides, options, report, budget);
    struct ProfileSteps {
        const OurSide& ours;
        std::vector<std::string> modes;
    };
    const ProfileSteps profiles[] = {{sides.f32().front(), {"compile-fp32"}},
                                     {sides.i16().front(), {"compile-bf16", "compile-fp32"}}};
    for (const ProfileSteps& profile : profiles) {
        report.note("step of " + one.name + ", " + profile.ours.profile + ", on " + options.device);
        const auto step =
            card_step_rows(sides, options, report, profile.ours, modes_of(options, profile.modes), budget);
        if (step && root) tracing_row(sides, report, one, profile.ours, *step, *root);
        if (step) part_rows(sides, report, one, profile.ours);
    }
    return {};
}

}  // namespace assay::node
