// SPDX-License-Identifier: Apache-2.0
#include "node/cli/market_peer.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "node/cli/bench_sides.hpp"
#include "node/worker/worker_process.hpp"

namespace assay::node {

namespace {

constexpr const char* kMissing = "HiGHS 1.15 (missing: run make bench-peers)";

/// Base price; price and lots of each bid; price of each ask: a line each.
void write(std::ostream& out, const contracts::ClassMarket& market) {
    out << market.base_price.units() << '\n';
    for (const contracts::ClassBid& bid : market.bids) out << bid.price.units() << ' ' << bid.lots << ' ';
    out << '\n';
    for (const contracts::ClassAsk& ask : market.asks) out << ask.price.units() << ' ';
    out << '\n';
}

}  // namespace

base::Outcome<MarketPeer> MarketPeer::open() {
    ASSAY_ASSIGN(ScratchFolder folder, ScratchFolder::make("assay-bench"));
    MarketPeer peer(std::move(folder));
    peer.name_ = kMissing;
    ASSAY_ASSIGN(const auto own, own_program());
    const std::filesystem::path python = peer_python(own, "installed-peers");
    if (python.empty()) return peer;
    auto child = BenchChild::start({python, {(own.parent_path() / "assay-highs-peer.py").string()}, {}});
    if (!child.ok()) return peer;
    if (const auto name = child->ask("name", "name"); name.ok()) {
        peer.name_ = *name;
        peer.solver_ = std::move(*child);
    }
    return peer;
}

base::Outcome<std::optional<Solved>> MarketPeer::solve(const contracts::ClassMarket& market,
                                                       SolvedAs program) {
    if (!solver_) return std::optional<Solved>();
    const std::filesystem::path file = folder_.path() / "market";
    std::ofstream out(file, std::ios::trunc);
    write(out, market);
    out.close();
    if (!out) return base::fail(base::ErrorKind::kFailure, file.string() + ": cannot be written");
    ASSAY_ASSIGN(
        const std::string answer,
        solver_->ask((program == SolvedAs::kWhole ? "whole " : "relaxed ") + file.string(), "solved"));
    std::istringstream words(answer);
    Solved solved;
    words >> solved.worth >> solved.seconds;
    return std::optional(solved);
}

}  // namespace assay::node
