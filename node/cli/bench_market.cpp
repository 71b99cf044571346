// SPDX-License-Identifier: Apache-2.0
#include "node/cli/bench_market.hpp"

#include <algorithm>
#include <ctime>

#include "node/cli/bench_why.hpp"
#include "node/cli/market_peer.hpp"
#include "node/sim/epochs/full_epoch.hpp"
#include "node/sim/market/optimum.hpp"
#include "node/worker/bench_run.hpp"

namespace assay::node {

namespace {

using base::Outcome;
using contracts::ClassMarket;

/// All bids and asks of an epoch, in classes of equal size.
struct EpochShape {
    const char* name;
    std::size_t classes;
    sim::ClassSize size;  ///< of each
    double clearing_limit_ms;
    std::optional<double> why_limit_ms;
    bool whole;  ///< solved as an integer program too
    /// On a ledger: the block that clears, and the whole epoch.
    std::optional<double> block_limit_ms, epoch_limit_ms;
};

constexpr EpochShape kShapes[] = {
    {"1000x1000", 1, {1'000, 1'000}, 10, 20, true, 100, std::nullopt},
    {"10000x100000", 4, {2'500, 25'000}, 2'000, std::nullopt, false, std::nullopt, 60'000}};
constexpr sim::MarketFamily kFamily = sim::MarketFamily::kGangs;
constexpr std::size_t kTurns = 9;
constexpr std::size_t kAsked = 5;  // bids and asks, evenly over the class

struct StudySize {
    const char* name;
    sim::ClassSize size;
    std::uint64_t markets, sellers, prices;
};
constexpr StudySize kStudies[] = {{"8x12", {8, 12}, 2'000, 4, 100}, {"1000x1000", {1'000, 1'000}, 20, 6, 16}};

double milliseconds_of(const std::function<void()>& work) {
    const std::clock_t begin = std::clock();
    work();
    return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

bool wanted(const BenchOptions& options, const std::string& text) {
    return text.find(options.only) != std::string::npos;
}

MarketRow row_of(const EpochShape& shape, const std::string& name, double value, const std::string& unit) {
    MarketRow row;
    row.name = name;
    row.shape = shape.name;
    row.value = value;
    row.unit = unit;
    return row;
}

std::vector<ClassMarket> classes_of(const EpochShape& shape) {
    std::vector<ClassMarket> classes;
    for (std::size_t i = 0; i < shape.classes; ++i)
        classes.push_back(sim::random_class(kFamily, shape.size, i + 1));
    return classes;
}

/// Sums over the classes; nothing without the peer.
Outcome<std::optional<Solved>> solve_all(MarketPeer& peer, const std::vector<ClassMarket>& classes,
                                         SolvedAs program) {
    Solved all;
    for (const ClassMarket& market : classes) {
        ASSAY_ASSIGN(const std::optional<Solved> one, peer.solve(market, program));
        if (!one) return std::optional<Solved>();
        all.worth += one->worth;
        all.seconds += one->seconds;
    }
    return std::optional(all);
}

/// The slowest of the asked ones, each the median of its turns.
double slowest_why(const ClassMarket& market, std::size_t count,
                   const std::function<void(const ClassMarket&, std::size_t)>& why) {
    double slowest = 0;
    for (std::size_t i = 0; i < kAsked; ++i) {
        std::vector<double> times;
        for (std::size_t turn = 0; turn < kTurns; ++turn)
            times.push_back(milliseconds_of([&] { why(market, i * (count - 1) / (kAsked - 1)); }));
        slowest = std::max(slowest, median(std::move(times)));
    }
    return slowest;
}

/// What the commands do for one clearing, from the state before it. `explains` says whether all were
/// explained.
void command_rows(const EpochShape& shape, const ClassMarket& market, bool& explains,
                  std::vector<MarketRow>& rows) {
    const contracts::MemoryState before = state_before_clearing(market);
    MarketRow bids = row_of(shape, "why_ms, bid, from the state",
                            slowest_why(market, market.bids.size(),
                                        [&](const ClassMarket& of, std::size_t place) {
                                            explains &= explain_bid(before, of, place);
                                        }),
                            "ms");
    MarketRow asks = row_of(shape, "why_ms, ask, from the state",
                            slowest_why(market, market.asks.size(),
                                        [&](const ClassMarket& of, std::size_t place) {
                                            explains &= explain_ask(before, of, place);
                                        }),
                            "ms");
    bids.limit = asks.limit = shape.why_limit_ms;
    rows.push_back(bids);
    rows.push_back(asks);
}

void why_rows(const EpochShape& shape, const ClassMarket& market, std::vector<MarketRow>& rows) {
    MarketRow bids = row_of(shape, "why_ms, bid",
                            slowest_why(market, market.bids.size(),
                                        [](const ClassMarket& of, std::size_t place) {
                                            (void)contracts::critical_bid(of, place);
                                        }),
                            "ms");
    MarketRow asks = row_of(shape, "why_ms, ask",
                            slowest_why(market, market.asks.size(),
                                        [](const ClassMarket& of, std::size_t place) {
                                            (void)contracts::critical_ask(of, place);
                                        }),
                            "ms");
    bids.limit = asks.limit = shape.why_limit_ms;
    rows.push_back(bids);
    rows.push_back(asks);
}

/// Without a peer: ours alone.
Outcome<void> shape_rows(const EpochShape& shape, MarketPeer* peer, std::vector<MarketRow>& rows) {
    const std::vector<ClassMarket> classes = classes_of(shape);
    std::vector<double> times;
    double worth = 0;
    double best = 0;
    for (std::size_t turn = 0; turn < kTurns; ++turn)
        times.push_back(milliseconds_of([&] {
            for (const ClassMarket& market : classes) (void)contracts::clear_class(market);
        }));
    for (const ClassMarket& market : classes) {
        worth += static_cast<double>(sim::worth_sold(market, contracts::clear_class(market)));
        best += static_cast<double>(sim::best_worth(market, sim::Allowed::kAny));
    }
    MarketRow clearing = row_of(shape, "clearing_ms", median(std::move(times)), "ms");
    clearing.limit = shape.clearing_limit_ms;
    MarketRow welfare = row_of(shape, "welfare", worth / best, "of the best");
    why_rows(shape, classes.front(), rows);
    if (shape.why_limit_ms) {
        bool explains = true;
        command_rows(shape, classes.front(), explains, rows);
        if (!explains)
            return base::fail(base::ErrorKind::kFailure, "the rules came to another clearing than the law",
                              "report this");
    }
    if (peer == nullptr) {
        rows.push_back(clearing);
        rows.push_back(welfare);
        return {};
    }
    std::vector<SolvedAs> programs{SolvedAs::kRelaxation};
    if (shape.whole) programs.push_back(SolvedAs::kWhole);
    for (const SolvedAs program : programs) {
        clearing.peer = welfare.peer =
            peer->name() + (program == SolvedAs::kWhole ? ", integer program" : ", linear relaxation");
        ASSAY_ASSIGN(const std::optional<Solved> solved, solve_all(*peer, classes, program));
        for (MarketRow* row : {&clearing, &welfare}) row->peer_value = row->ratio = std::nullopt;
        if (solved) {
            clearing.peer_value = solved->seconds * 1e3;
            clearing.ratio = *clearing.peer_value / clearing.value;
            welfare.peer_value = solved->worth / best;
            welfare.ratio = welfare.value / *welfare.peer_value;
        }
        rows.push_back(clearing);
        rows.push_back(welfare);
    }
    return {};
}

/// The same bids and asks as transactions of a ledger.
Outcome<void> ledger_rows(const EpochShape& shape, std::vector<MarketRow>& rows) {
    ASSAY_ASSIGN(const sim::FullEpoch epoch,
                 sim::measure_full_epoch(
                     {.classes = shape.classes, .size = shape.size, .family = kFamily, .first_seed = 1}));
    MarketRow block = row_of(shape, "clearing_block_ms", epoch.clearing_ms, "ms");
    block.limit = shape.block_limit_ms;
    MarketRow whole = row_of(shape, "epoch_ms", epoch.epoch_ms, "ms");
    whole.limit = shape.epoch_limit_ms;
    rows.push_back(block);
    rows.push_back(whole);
    return {};
}

void study_rows(sim::MarketFamily family, const StudySize& size, std::vector<WelfareRow>& rows) {
    WelfareRow row;
    row.family = sim::to_text(family);
    row.shape = size.name;
    row.plan = {.family = family,
                .size = size.size,
                .first_seed = 1,
                .markets = size.markets,
                .sellers = size.sellers,
                .prices = size.prices};
    const sim::ClassStudy found = sim::study(row.plan);
    row.rule = "ours";
    row.found = found.ours;
    row.paying = found.paying;
    row.paying_worst = found.paying_worst;
    rows.push_back(row);
    row.rule = "McAfee";
    row.found = found.mcafee;
    row.paying = row.paying_worst = std::nullopt;
    rows.push_back(row);
}

}  // namespace

Outcome<MarketBench> bench_market(const BenchOptions& options,
                                  const std::function<void(const std::string&)>& note) {
    MarketBench bench;
    std::optional<MarketPeer> peer;
    if (options.peers) {
        ASSAY_ASSIGN(MarketPeer opened, MarketPeer::open());
        peer.emplace(std::move(opened));
    }
    for (const EpochShape& shape : kShapes) {
        if (!wanted(options, std::string("clearing ") + shape.name)) continue;
        note(std::string("clearing ") + shape.name);
        ASSAY_TRY(shape_rows(shape, peer ? &*peer : nullptr, bench.rows));
    }
    for (const EpochShape& shape : kShapes) {
        if (!wanted(options, std::string("ledger ") + shape.name)) continue;
        note(std::string("ledger ") + shape.name);
        ASSAY_TRY(ledger_rows(shape, bench.rows));
    }
    for (const StudySize& size : kStudies) {
        for (const sim::MarketFamily family : sim::kFamilies) {
            const std::string text =
                "welfare " + std::string(size.name) + " " + std::string(sim::to_text(family));
            if (!wanted(options, text)) continue;
            note(text);
            study_rows(family, size, bench.welfare);
        }
    }
    return bench;
}

}  // namespace assay::node
