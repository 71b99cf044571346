// SPDX-License-Identifier: Apache-2.0
#include "node/views/market_view.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "contracts/rules/market/book.hpp"

namespace assay::node {

namespace {

using contracts::LotClass;
using contracts::MarketPhase;

/// Everything of the state that a row is counted from, read once.
struct Stand {
    std::vector<std::pair<base::PublicKey, contracts::LotAsk>> asks;
    std::vector<std::pair<base::Hash256, contracts::LotBid>> bids;
    std::vector<std::pair<base::Hash256, contracts::LotWait>> waits;
    std::vector<std::pair<base::PublicKey, contracts::Lot>> lots;  ///< of the running epoch
    std::map<LotClass, contracts::ClassBook> books;
};

Stand read_stand(const contracts::StateView& state, std::uint64_t epoch) {
    Stand stand{.asks = contracts::list_lot_asks(state),
                .bids = contracts::list_lot_bids(state),
                .waits = contracts::list_lot_waits(state),
                .lots = contracts::list_lots(state, epoch),
                .books = {}};
    std::erase_if(stand.asks, [](const auto& one) { return !one.second.opened; });
    std::erase_if(stand.bids, [](const auto& one) { return !one.second.opened; });
    for (const auto& [kind, book] : contracts::list_class_books(state)) stand.books.emplace(kind, book);
    return stand;
}

std::map<LotClass, ClassView> count_classes(const Stand& stand) {
    std::map<LotClass, ClassView> rows;
    for (const auto& [kind, book] : stand.books) rows[kind];
    for (const auto& [node, ask] : stand.asks) ++rows[ask.kind].standing;
    for (const auto& [job, bid] : stand.bids) rows[bid.kind].wanted += bid.lots;
    for (const auto& [job, wait] : stand.waits) rows[wait.kind].wanted += wait.lots;
    for (const auto& [node, lot] : stand.lots)
        ++(lot.job.is_zero() ? rows[lot.kind].left : rows[lot.kind].leased);
    return rows;
}

void add_prices(const contracts::StateView& state, std::uint64_t epoch, base::Amount least,
                const std::map<LotClass, contracts::ClassBook>& books, ClassView& row) {
    const auto running = contracts::read_class_epoch(state, row.kind, epoch);
    row.next_base_price = contracts::base_price_for(state, row.kind, epoch + 1, least);
    const auto book = books.find(row.kind);
    row.base_price = book == books.end() ? least : std::max(book->second.base_price, least);
    // Behind a clearing the book holds the price of the next epoch already.
    if (running) row.base_price = running->base_price;
    if (book == books.end()) return;
    if (const auto cleared = contracts::read_class_epoch(state, row.kind, book->second.last_epoch))
        row.last = ClassEpochView{book->second.last_epoch, row.kind, *cleared};
}

/// A node's state may go on between two reads of it.
std::uint64_t difference_of(std::uint64_t all, std::uint64_t some) { return all - std::min(all, some); }

}  // namespace

MarketView market_view(const contracts::StateView& state, std::uint64_t height) {
    const contracts::MarketClock clock = contracts::read_market_clock(state);
    const Stand stand = read_stand(state, clock.epoch);
    MarketView view{.height = height,
                    .epoch = clock.epoch,
                    .phase = clock.phase,
                    .phase_left = {},
                    .epoch_left = {},
                    .sealed_lots = difference_of(clock.lots, stand.asks.size()),
                    .sealed_bids = difference_of(clock.bids, stand.bids.size()),
                    .classes = {}};
    if (clock.phase != MarketPhase::kStopped) {
        view.phase_left = clock.due() > height ? clock.due() - height : 0;
        view.epoch_left = clock.end > height ? clock.end - height : 0;
    }
    const base::Amount least = contracts::read_market_params(state).least_base_price;
    for (auto& [kind, row] : count_classes(stand)) {
        row.kind = kind;
        add_prices(state, clock.epoch, least, stand.books, row);
        view.classes.push_back(std::move(row));
    }
    return view;
}

std::vector<LotClass> market_classes(const contracts::StateView& state) {
    std::vector<LotClass> classes;
    const Stand stand = read_stand(state, contracts::read_market_clock(state).epoch);
    for (const auto& [kind, row] : count_classes(stand)) classes.push_back(kind);
    return classes;
}

MarketHistoryView market_epochs(const contracts::StateView& state, const std::optional<LotClass>& kind,
                                std::uint64_t epochs) {
    MarketHistoryView view;
    std::set<std::uint64_t> known;
    for (const auto& [each, book] : contracts::list_class_books(state)) {
        for (const auto& [epoch, cleared] : contracts::list_class_epochs(state, each)) {
            known.insert(epoch);
            if (!kind || each == *kind) view.epochs.push_back({epoch, each, cleared});
        }
    }
    if (epochs > 0 && known.size() > epochs) {
        const std::uint64_t first = *std::next(known.rbegin(), static_cast<std::ptrdiff_t>(epochs - 1));
        std::erase_if(view.epochs, [&](const ClassEpochView& row) { return row.epoch < first; });
    }
    std::ranges::sort(view.epochs, {},
                      [](const ClassEpochView& row) { return std::pair(row.epoch, row.kind); });
    return view;
}

}  // namespace assay::node
