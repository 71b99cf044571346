// SPDX-License-Identifier: Apache-2.0
#include "node/cli/bench_compare.hpp"

#include <algorithm>

namespace assay::node {

namespace {
std::string sizes(const BenchLayer& layer, const char* between) {
    return std::to_string(layer.tokens) + between + std::to_string(layer.in) + between +
           std::to_string(layer.out);
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
}  // namespace

BenchCase case_of(const BenchLayer& layer) {
    const double operations = 2.0 * layer.tokens * layer.in * layer.out;
    return {layer.name,       sizes(layer, "x"), "gemm", std::string(layer.word) + " " + sizes(layer, " "),
            operations / 1e9, "GFLOP/s"};
}

BenchCase case_of(const BenchModel& m) {
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

BenchComparison::BenchComparison(const BenchReport& report)
    : report_(report), room_([this](const BenchSide& side, const std::string& why) {
          report_.note(side.key + " threads, left out: " + why);
      }) {}

std::vector<std::optional<BenchMatchResult>> BenchComparison::run(const std::vector<BenchMatch>& matches,
                                                                  double budget) {
    std::vector<BenchSide> all;
    const auto place = [&](const BenchSide& side) {
        const auto same = [&](const BenchSide& other) { return other.key == side.key; };
        const auto found = std::find_if(all.begin(), all.end(), same);
        if (found == all.end()) all.push_back(side);
        return static_cast<std::size_t>(std::find_if(all.begin(), all.end(), same) - all.begin());
    };
    std::vector<std::vector<std::size_t>> places;
    for (const BenchMatch& match : matches) {
        places.push_back({place(match.side)});
        for (const BenchSide& peer : match.peers) places.back().push_back(place(peer));
    }
    const auto timings = room_.take_turns(all, budget);
    std::vector<std::optional<BenchMatchResult>> results(matches.size());
    for (std::size_t i = 0; i < matches.size(); ++i) {
        if (!timings[places[i][0]]) continue;
        results[i] = BenchMatchResult{*timings[places[i][0]], {}};
        for (std::size_t p = 1; p < places[i].size(); ++p) results[i]->peers.push_back(timings[places[i][p]]);
    }
    return results;
}

template <class Values>
void BenchComparison::each_peer(BenchRow row, const BenchMatch& match, const BenchMatchResult& result,
                                const Values& values) const {
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

void BenchComparison::speed_rows(const BenchCase& one, const BenchMatch& match, unsigned threads,
                                 const BenchMatchResult& result) const {
    BenchRow row{one.name, one.shape, match.ours.profile, match.ours.target, threads};
    row.value = one.amount / result.ours.seconds;
    row.unit = one.unit;
    each_peer(row, match, result, [&](const BenchTiming& peer) {
        return std::pair{one.amount / peer.seconds, times_longer(peer, result.ours)};
    });
}

void BenchComparison::memory_rows(const BenchCase& one, const BenchMatch& match, unsigned threads,
                                  const BenchMatchResult& result) const {
    constexpr double kMiB = 1024.0 * 1024.0;
    BenchRow row{"peak memory, " + one.name, one.shape, match.ours.profile, match.ours.target, threads};
    row.value = result.ours.peak_bytes / kMiB;
    row.unit = "MiB";
    each_peer(row, match, result, [&](const BenchTiming& peer) {
        return std::pair{peer.peak_bytes / kMiB, peer.peak_bytes / result.ours.peak_bytes};
    });
}

void BenchComparison::time_rows(const BenchCase& one, const BenchMatch& match, unsigned threads,
                                const BenchMatchResult& result) const {
    BenchRow row{one.name, one.shape, match.ours.profile, match.ours.target, threads};
    row.value = result.ours.seconds * 1e3;
    row.unit = "ms";
    each_peer(row, match, result, [&](const BenchTiming& peer) {
        return std::pair{peer.seconds * 1e3, times_longer(peer, result.ours)};
    });
}

}  // namespace assay::node
