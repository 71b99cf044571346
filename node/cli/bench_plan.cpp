// SPDX-License-Identifier: Apache-2.0
#include "node/cli/bench_plan.hpp"

#include <algorithm>

#include "node/cli/bench_card.hpp"
#include "node/cli/bench_compare.hpp"

namespace assay::node {

using base::Outcome;

namespace {

// A layer of the demo's model; a square; both layers of GPT-2 124M's MLP, the first in all three products;
// the gradients of the LM head of GPT-2 5M below.
constexpr BenchLayer kLayers[] = {{"forward", "forward", 512, 128, 512},
                                  {"forward", "forward", 1024, 1024, 1024},
                                  {"forward", "forward", 2048, 768, 3072},
                                  {"input gradient", "input", 2048, 768, 3072},
                                  {"weight gradient", "weight", 2048, 768, 3072},
                                  {"forward", "forward", 2048, 3072, 768},
                                  {"head input gradient", "head-input", 2048, 256, 8192},
                                  {"head weight gradient", "head-weight", 2048, 256, 8192}};

// The demo's size, the size that reference figures are quoted for, and GPT-2's smallest.
constexpr BenchModel kSmall = {"GPT-2 1M", 4, 128, 4, 128, 2048, 8};
constexpr BenchModel kMiddle = {"GPT-2 5M", 4, 256, 4, 256, 8192, 8};
constexpr BenchModel kLarge = {"GPT-2 124M", 12, 768, 12, 256, 50257, 4};

std::vector<BenchMatch> product_matches(const BenchSides& sides, const BenchCase& one, unsigned threads,
                                        bool peers) {
    std::vector<BenchMatch> matches;
    const auto torch = [&](const char* mode) { return sides.pytorch(mode, threads, one.verb, one.work); };
    for (const OurSide& ours : sides.f32()) {
        BenchMatch match{ours, sides.ours(ours, threads, one.verb, one.work), {}};
        if (peers) match.peers.push_back(sides.libtorch(ours.target, threads, one.verb, one.work));
        if (peers && matches.empty()) match.peers.push_back(torch("fp32"));
        matches.push_back(std::move(match));
    }
    for (const OurSide& ours : sides.i16()) {
        BenchMatch match{ours, sides.ours(ours, threads, one.verb, one.work), {}};
        if (peers) match.peers = {torch("fp32"), torch("bf16")};
        matches.push_back(std::move(match));
    }
    return matches;
}

std::vector<BenchMatch> step_matches(const BenchSides& sides, const BenchCase& one, unsigned threads,
                                     bool peers) {
    std::vector<BenchMatch> matches;
    const auto torch = [&](const char* mode) { return sides.pytorch(mode, threads, one.verb, one.work); };
    const OurSide& f32 = sides.f32().front();
    matches.push_back({f32, sides.ours(f32, threads, one.verb, one.work), {}});
    if (peers) {
        matches.back().peers = {sides.libtorch(f32.target, threads, one.verb, one.work), torch("eager-fp32"),
                                torch("compile-fp32")};
    }
    if (sides.i16().empty()) return matches;
    const OurSide& i16 = sides.i16().front();
    matches.push_back({i16, sides.ours(i16, threads, one.verb, one.work), {}});
    if (peers) matches.back().peers = {torch("compile-fp32"), torch("eager-bf16"), torch("compile-bf16")};
    return matches;
}

/// A large model's processes do not all fit into memory at once: ours meet one peer at a time.
std::vector<std::vector<BenchMatch>> one_peer_at_a_time(const std::vector<BenchMatch>& matches) {
    std::vector<std::vector<BenchMatch>> groups;
    for (const BenchMatch& match : matches) {
        for (const BenchSide& peer : match.peers) groups.push_back({{match.ours, match.side, {peer}}});
        if (match.peers.empty()) groups.push_back({match});
    }
    return groups;
}

void step_rows(const BenchSides& sides, const BenchReport& report, const BenchCase& one,
               const std::vector<std::vector<BenchMatch>>& groups, unsigned threads, double budget) {
    for (const std::vector<BenchMatch>& group : groups) {
        BenchComparison comparison(report);  // own processes: peak memory is of this case alone
        const auto results = comparison.run(group, budget / static_cast<double>(groups.size()));
        for (std::size_t i = 0; i < group.size(); ++i) {
            if (!results[i]) continue;
            comparison.speed_rows(one, group[i], threads, *results[i]);
            if (threads == sides.threads().back()) {
                comparison.memory_rows(one, group[i], threads, *results[i]);
            }
        }
    }
}

/// Ours with one thread and with the most, taking turns.
void scaling_rows(const BenchSides& sides, const BenchReport& report, const BenchCase& one, double budget) {
    const unsigned few = sides.threads().front();
    const unsigned many = sides.threads().back();
    std::vector<OurSide> ours = {sides.f32().front()};
    if (!sides.i16().empty()) ours.push_back(sides.i16().front());
    std::vector<BenchMatch> matches;
    for (const OurSide& side : ours) {
        for (const unsigned threads : {few, many})
            matches.push_back({side, sides.ours(side, threads, one.verb, one.work), {}});
    }
    BenchComparison comparison(report);
    const auto results = comparison.run(matches, budget);
    for (std::size_t i = 0; i < results.size(); i += 2) {
        if (!results[i] || !results[i + 1]) continue;
        BenchRow row{
            "scaling " + std::to_string(few) + " to " + std::to_string(many) + " threads, " + one.name,
            one.shape, matches[i].ours.profile, matches[i].ours.target, many};
        row.value = times_longer(results[i]->ours, results[i + 1]->ours);
        row.unit = "x";
        report.row(row);
    }
}

}  // namespace

Outcome<void> bench_products(const BenchOptions& options, const BenchReport& report) {
    if (!options.device.empty()) return bench_card_products(options, report);
    ASSAY_ASSIGN(const BenchSides sides, BenchSides::of_this_machine());
    const unsigned threads = sides.threads().front();
    std::vector<BenchCase> cases;
    for (const BenchLayer& layer : kLayers) {
        if (wanted(case_of(layer), options)) cases.push_back(case_of(layer));
    }
    BenchComparison comparison(report);
    for (const BenchCase& one : cases) {
        report.note("product " + one.name + " " + one.shape);
        const auto matches = product_matches(sides, one, threads, options.peers);
        const auto results = comparison.run(matches, options.seconds / static_cast<double>(cases.size()));
        for (std::size_t i = 0; i < matches.size(); ++i) {
            if (results[i]) comparison.speed_rows(one, matches[i], threads, *results[i]);
        }
    }
    return {};
}

Outcome<void> bench_steps(const BenchOptions& options, const BenchReport& report) {
    if (!options.device.empty()) return bench_card_steps(options, report);
    ASSAY_ASSIGN(const BenchSides sides, BenchSides::of_this_machine());
    struct PlanRows {
        BenchCase one;
        unsigned threads;
        bool large;
    };
    std::vector<PlanRows> groups;
    for (const BenchModel* model : {&kSmall, &kMiddle, &kLarge}) {
        if ((model == &kLarge && !options.large) || !wanted(case_of(*model), options)) continue;
        for (const unsigned threads : sides.threads()) {
            if (model != &kSmall || threads == sides.threads().front())
                groups.push_back({case_of(*model), threads, model == &kLarge});
        }
    }
    const bool scales = sides.threads().size() > 1;
    const double budget = options.seconds / static_cast<double>(groups.size() + (scales ? 1U : 0U));
    for (const PlanRows& group : groups) {
        report.note("step of " + group.one.name + ", threads: " + std::to_string(group.threads));
        const auto matches = step_matches(sides, group.one, group.threads, options.peers);
        std::vector<std::vector<BenchMatch>> together = {matches};
        if (group.large) together = one_peer_at_a_time(matches);
        step_rows(sides, report, group.one, together, group.threads, budget);
    }
    for (const BenchModel* model : {&kMiddle, &kLarge}) {
        if (!scales || (model == &kLarge && !options.large) || !wanted(case_of(*model), options)) continue;
        scaling_rows(sides, report, case_of(*model), budget);
    }
    return {};
}

}  // namespace assay::node
