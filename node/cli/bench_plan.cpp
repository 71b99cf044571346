// SPDX-License-Identifier: Apache-2.0
#include "node/cli/bench_plan.hpp"

#include <algorithm>

#include "node/cli/bench_sides.hpp"

namespace assay::node {

using base::Outcome;

namespace {

/// What every side of a comparison does.
struct BenchCase {
    std::string name;
    std::string shape;
    std::string verb;   ///< of the lines: gemm or step
    std::string work;   ///< rest of the lines
    double amount = 0;  ///< value = amount / seconds
    std::string unit;
};

/// One of ours and those it is held against.
struct Match {
    OurSide ours;
    BenchSide side;
    std::vector<BenchSide> peers;
};

struct MatchResult {
    BenchTiming ours;
    std::vector<std::optional<BenchTiming>> peers;
};

struct Layer {
    const char* name;
    const char* word;
    unsigned tokens, in, out;
    [[nodiscard]] std::string sizes(const char* between) const {
        return std::to_string(tokens) + between + std::to_string(in) + between + std::to_string(out);
    }
};
// A layer of the demo's model; a square; both layers of GPT-2 124M's MLP, the first in all three products;
// the gradients of the LM head of GPT-2 5M below.
constexpr Layer kLayers[] = {{"forward", "forward", 512, 128, 512},
                             {"forward", "forward", 1024, 1024, 1024},
                             {"forward", "forward", 2048, 768, 3072},
                             {"input gradient", "input", 2048, 768, 3072},
                             {"weight gradient", "weight", 2048, 768, 3072},
                             {"forward", "forward", 2048, 3072, 768},
                             {"head input gradient", "head-input", 2048, 256, 8192},
                             {"head weight gradient", "head-weight", 2048, 256, 8192}};

struct Model {
    const char* name;
    unsigned layers, width, heads, context, vocabulary, batch;
};
// The demo's size, the size that reference figures are quoted for, and GPT-2's smallest.
constexpr Model kSmall = {"GPT-2 1M", 4, 128, 4, 128, 2048, 8};
constexpr Model kMiddle = {"GPT-2 5M", 4, 256, 4, 256, 8192, 8};
constexpr Model kLarge = {"GPT-2 124M", 12, 768, 12, 256, 50257, 4};

BenchCase case_of(const Layer& layer) {
    const double operations = 2.0 * layer.tokens * layer.in * layer.out;
    return {layer.name,       layer.sizes("x"), "gemm", std::string(layer.word) + " " + layer.sizes(" "),
            operations / 1e9, "GFLOP/s"};
}

BenchCase case_of(const Model& m) {
    const auto text = [](unsigned number) { return std::to_string(number); };
    const std::string shape = "layers " + text(m.layers) + ", width " + text(m.width) + ", context " +
                              text(m.context) + ", vocabulary " + text(m.vocabulary) + ", batch " +
                              text(m.batch);
    const std::string work = text(m.layers) + " " + text(m.width) + " " + text(m.heads) + " " +
                             text(m.context) + " " + text(m.vocabulary) + " " + text(m.batch);
    return {m.name, shape, "step", work, 1.0 * m.batch * m.context, "tokens/s"};
}

bool wanted(const BenchCase& one, const BenchOptions& options) {
    return (one.name + " " + one.shape).find(options.only) != std::string::npos;
}

/// What the peer is called: by its own name, or by what it would be and how to get it.
std::string peer_label(const BenchSide& side, const std::optional<BenchTiming>& timing) {
    const std::string kind = side.key.substr(0, side.key.rfind(' '));  // without the threads
    if (kind.starts_with("LibTorch")) {
        return timing ? timing->name + kind.substr(kind.find(',')) : "LibTorch (not built in)";
    }
    const std::string mode = kind.substr(kind.find(' '));
    return timing ? timing->name + mode : "PyTorch 2.15" + mode + " (missing: run make bench-peers)";
}

class Comparison {
public:
    Comparison(const BenchSides& sides, const BenchReport& report)
        : sides_(sides), report_(report), room_([this](const BenchSide& side, const std::string& why) {
              report_.note(side.key + " threads, left out: " + why);
          }) {}

    /// Everybody of `matches` takes turns at once.
    std::vector<std::optional<MatchResult>> run(const std::vector<Match>& matches, double budget) {
        std::vector<BenchSide> all;
        const auto place = [&](const BenchSide& side) {
            const auto same = [&](const BenchSide& other) { return other.key == side.key; };
            const auto found = std::find_if(all.begin(), all.end(), same);
            if (found == all.end()) all.push_back(side);
            return static_cast<std::size_t>(std::find_if(all.begin(), all.end(), same) - all.begin());
        };
        std::vector<std::vector<std::size_t>> places;
        for (const Match& match : matches) {
            places.push_back({place(match.side)});
            for (const BenchSide& peer : match.peers) places.back().push_back(place(peer));
        }
        const auto timings = room_.take_turns(all, budget);
        std::vector<std::optional<MatchResult>> results(matches.size());
        for (std::size_t i = 0; i < matches.size(); ++i) {
            if (!timings[places[i][0]]) continue;
            results[i] = MatchResult{*timings[places[i][0]], {}};
            for (std::size_t p = 1; p < places[i].size(); ++p)
                results[i]->peers.push_back(timings[places[i][p]]);
        }
        return results;
    }

    void speed_rows(const BenchCase& one, const Match& match, unsigned threads,
                    const MatchResult& result) const {
        BenchRow row{one.name, one.shape, match.ours.profile, match.ours.target, threads};
        row.value = one.amount / result.ours.seconds;
        row.unit = one.unit;
        each_peer(row, match, result, [&](const BenchTiming& peer) {
            return std::pair{one.amount / peer.seconds, times_longer(peer, result.ours)};
        });
    }

    void memory_rows(const BenchCase& one, const Match& match, unsigned threads,
                     const MatchResult& result) const {
        constexpr double kMiB = 1024.0 * 1024.0;
        BenchRow row{"peak memory, " + one.name, one.shape, match.ours.profile, match.ours.target, threads};
        row.value = result.ours.peak_bytes / kMiB;
        row.unit = "MiB";
        each_peer(row, match, result, [&](const BenchTiming& peer) {
            return std::pair{peer.peak_bytes / kMiB, peer.peak_bytes / result.ours.peak_bytes};
        });
    }

private:
    template <class Values>
    void each_peer(BenchRow row, const Match& match, const MatchResult& result, const Values& values) const {
        if (match.peers.empty()) report_.row(row);
        for (std::size_t i = 0; i < match.peers.size(); ++i) {
            const auto& peer = result.peers[i];
            row.peer = peer_label(match.peers[i], peer);
            row.peer_value.reset();
            row.ratio.reset();
            if (peer) std::tie(row.peer_value, row.ratio) = values(*peer);
            report_.row(row);
        }
    }

    const BenchSides& sides_;
    const BenchReport& report_;
    BenchRoom room_;
};

std::vector<Match> product_matches(const BenchSides& sides, const BenchCase& one, unsigned threads,
                                   bool peers) {
    std::vector<Match> matches;
    const auto torch = [&](const char* mode) { return sides.pytorch(mode, threads, one.verb, one.work); };
    for (const OurSide& ours : sides.f32()) {
        Match match{ours, sides.ours(ours, threads, one.verb, one.work), {}};
        if (peers) match.peers.push_back(sides.libtorch(ours.target, threads, one.verb, one.work));
        if (peers && matches.empty()) match.peers.push_back(torch("fp32"));
        matches.push_back(std::move(match));
    }
    for (const OurSide& ours : sides.i16()) {
        Match match{ours, sides.ours(ours, threads, one.verb, one.work), {}};
        if (peers) match.peers = {torch("fp32"), torch("bf16")};
        matches.push_back(std::move(match));
    }
    return matches;
}

std::vector<Match> step_matches(const BenchSides& sides, const BenchCase& one, unsigned threads, bool peers) {
    std::vector<Match> matches;
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
std::vector<std::vector<Match>> one_peer_at_a_time(const std::vector<Match>& matches) {
    std::vector<std::vector<Match>> groups;
    for (const Match& match : matches) {
        for (const BenchSide& peer : match.peers) groups.push_back({{match.ours, match.side, {peer}}});
        if (match.peers.empty()) groups.push_back({match});
    }
    return groups;
}

void step_rows(const BenchSides& sides, const BenchReport& report, const BenchCase& one,
               const std::vector<std::vector<Match>>& groups, unsigned threads, double budget) {
    for (const std::vector<Match>& group : groups) {
        Comparison comparison(sides, report);  // own processes: peak memory is of this case alone
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
    std::vector<Match> matches;
    for (const OurSide& side : ours) {
        for (const unsigned threads : {few, many})
            matches.push_back({side, sides.ours(side, threads, one.verb, one.work), {}});
    }
    Comparison comparison(sides, report);
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
    ASSAY_ASSIGN(const BenchSides sides, BenchSides::of_this_machine());
    const unsigned threads = sides.threads().front();
    std::vector<BenchCase> cases;
    for (const Layer& layer : kLayers) {
        if (wanted(case_of(layer), options)) cases.push_back(case_of(layer));
    }
    Comparison comparison(sides, report);
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
    ASSAY_ASSIGN(const BenchSides sides, BenchSides::of_this_machine());
    struct PlanRows {
        BenchCase one;
        unsigned threads;
        bool large;
    };
    std::vector<PlanRows> groups;
    for (const Model* model : {&kSmall, &kMiddle, &kLarge}) {
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
        std::vector<std::vector<Match>> together = {matches};
        if (group.large) together = one_peer_at_a_time(matches);
        step_rows(sides, report, group.one, together, group.threads, budget);
    }
    for (const Model* model : {&kMiddle, &kLarge}) {
        if (!scales || (model == &kLarge && !options.large) || !wanted(case_of(*model), options)) continue;
        scaling_rows(sides, report, case_of(*model), budget);
    }
    return {};
}

}  // namespace assay::node
