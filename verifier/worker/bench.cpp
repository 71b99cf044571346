// SPDX-License-Identifier: Apache-2.0
#include "verifier/worker/bench.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "trainer/bench.hpp"
#include "trainer/torch/backend.hpp"

namespace assay::verifier {

using nlohmann::json;
using trainer::GemmKind;
using trainer::GemmShape;
using trainer::worker::Refusal;
using trainer::worker::RefusalReason;

namespace {

using Clock = std::chrono::steady_clock;
using Work = std::function<void()>;

/// Fewer runs give no median worth printing.
constexpr std::size_t kLeastRuns = 3;
constexpr std::size_t kMostRuns = 1001;

double seconds_of(const Work& work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct Medians {
    double ours = 0;  ///< seconds of a run
    double peer = 0;  ///< 0 without a peer
};

/// Alternates ours and the peer's for about `budget` seconds, after one warm-up each. False when cancelled.
bool alternate(const Work& ours, const Work& peer, double budget, const std::atomic<bool>& cancel,
               Medians& medians) {
    ours();
    if (peer) peer();
    std::vector<double> our_times;
    std::vector<double> peer_times;
    const auto start = Clock::now();
    while (our_times.size() < kMostRuns) {
        if (cancel) return false;
        const double passed = std::chrono::duration<double>(Clock::now() - start).count();
        if (our_times.size() >= kLeastRuns && passed >= budget) break;
        our_times.push_back(seconds_of(ours));
        if (peer) peer_times.push_back(seconds_of(peer));
    }
    medians.ours = median(std::move(our_times));
    if (peer) medians.peer = median(std::move(peer_times));
    return true;
}

/// What every row of a run has in common, and how much work one run is in the row's unit.
struct RowHead {
    std::string name;
    std::string shape;
    std::string unit;
    double amount = 0;  ///< units of work per run: value = amount / seconds
};

json row(const RowHead& head, const Medians& medians, const trainer::RunnerOptions& options) {
    const bool peer = medians.peer > 0;
    return {{"name", head.name},
            {"shape", head.shape},
            {"profile", "f32"},
            {"target", std::string(trainer::to_text(options.target))},
            {"threads", options.threads},
            {"value", head.amount / medians.ours},
            {"unit", head.unit},
            {"peer", peer ? trainer::peer_name() : std::string()},
            {"peer_value", peer ? json(head.amount / medians.peer) : json()},
            {"ratio", peer ? json(medians.peer / medians.ours) : json()}};
}

base::Failed<Refusal> cancelled() {
    return base::failed(Refusal{RefusalReason::kCancelled, "the bench was cancelled"});
}

base::Result<json, Refusal> gemm_rows(double seconds, const trainer::RunnerOptions& options,
                                      const std::atomic<bool>& cancel) {
    struct Named {
        const char* name;
        GemmKind kind;
    };
    constexpr Named kKinds[] = {{"forward", GemmKind::kForward},
                                {"input gradient", GemmKind::kInputGradient},
                                {"weight gradient", GemmKind::kWeightGradient}};
    // A layer of the demo's model, a layer of GPT-2 124M, a square that peers are tuned for.
    constexpr GemmShape kShapes[] = {{512, 128, 512}, {2048, 768, 3072}, {1024, 1024, 1024}};
    const double each = seconds / static_cast<double>(std::size(kKinds) * std::size(kShapes));
    json rows = json::array();
    for (const GemmShape& shape : kShapes) {
        for (const Named& kind : kKinds) {
            Medians medians;
            const Work ours = trainer::make_gemm_bench(shape, kind.kind, {options.target, options.threads});
            const Work peer = trainer::make_peer_gemm(shape, kind.kind, options.threads);
            if (!alternate(ours, peer, each, cancel, medians)) return cancelled();
            const std::string text = std::to_string(shape.tokens) + "x" + std::to_string(shape.in) + "x" +
                                     std::to_string(shape.out);
            rows.push_back(row({kind.name, text, "GFLOP/s", shape.operations() / 1e9}, medians, options));
        }
    }
    return rows;
}

base::Result<json, Refusal> train_rows(double seconds, const trainer::RunnerOptions& options,
                                       const std::atomic<bool>& cancel) {
    struct Named {
        const char* name;
        program::ModelConfig model;
        std::uint32_t batch;
    };
    // The demo's size, and the 5.3 M model that reference figures are quoted for.
    const Named kModels[] = {{"GPT-2 1M", {program::Family::kGpt2, 4, 128, 4, 128, 2048}, 8},
                             {"GPT-2 5M", {program::Family::kGpt2, 4, 256, 4, 256, 8192}, 8}};
    json rows = json::array();
    for (const Named& named : kModels) {
        const auto ours =
            trainer::make_step_bench(named.model, named.batch, {options.target, options.threads});
        if (!ours.ok()) return base::failed(Refusal{RefusalReason::kInternal, ours.error().what});
        const Work peer = trainer::make_peer_step(named.model, named.batch, options.threads);
        Medians medians;
        if (!alternate(*ours, peer, seconds / static_cast<double>(std::size(kModels)), cancel, medians)) {
            return cancelled();
        }
        const program::ModelConfig& m = named.model;
        const std::string shape = "layers " + std::to_string(m.layers) + ", width " +
                                  std::to_string(m.width) + ", context " + std::to_string(m.context) +
                                  ", vocabulary " + std::to_string(m.vocabulary) + ", batch " +
                                  std::to_string(named.batch);
        const double tokens = static_cast<double>(std::uint64_t{named.batch} * m.context);
        rows.push_back(row({named.name, shape, "tokens/s", tokens}, medians, options));
    }
    return rows;
}

}  // namespace

base::Result<std::string, Refusal> bench_rows(const trainer::worker::Bench& request,
                                              const trainer::RunnerOptions& options,
                                              const std::atomic<bool>& cancel) {
    const double seconds = std::max<double>(request.seconds, 1);
    auto rows = request.kind == trainer::worker::BenchKind::kGemm ? gemm_rows(seconds, options, cancel)
                                                                  : train_rows(seconds, options, cancel);
    if (!rows.ok()) return base::failed(rows.error());
    return rows->dump();
}

}  // namespace assay::verifier
