// SPDX-License-Identifier: Apache-2.0
#include "node/views/market_wait.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace assay::node {

namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// The least wait that so many hundredths of all waits do not exceed.
std::optional<std::uint64_t> quantile_of(const std::vector<std::uint64_t>& sorted, std::uint64_t hundredths) {
    if (sorted.empty()) return std::nullopt;
    const std::uint64_t rank = (sorted.size() * hundredths + 99) / 100;
    const std::uint64_t wait = sorted[std::max<std::uint64_t>(rank, 1) - 1];
    return wait == kNever ? std::nullopt : std::optional(wait);
}

/// `who`: "half", "nine of ten".
std::string wait_text(const std::string& who, const std::optional<std::uint64_t>& wait) {
    if (!wait) return who + " longer than the ledger's history";
    if (*wait == 0) return who + " for the next clearing alone";
    return who + " at most " + std::to_string(*wait) + (*wait == 1 ? " epoch" : " epochs");
}

}  // namespace

bool would_serve(const contracts::ClassEpoch& cleared, std::uint32_t lots, base::Amount price) {
    const std::uint64_t within = cleared.offered - std::min(cleared.above, cleared.offered);
    const std::uint64_t left = within - std::min<std::uint64_t>(cleared.sold, within);
    if (left >= lots && price >= cleared.base_price) return true;
    return cleared.sold >= lots && cleared.highest && price >= *cleared.highest;
}

WaitView wait_for(const contracts::StateView& state, const LotWish& wish) {
    std::map<std::uint64_t, bool> serves;  // by epoch
    for (const contracts::LotClass& kind : wish.classes)
        for (const auto& [epoch, cleared] : contracts::list_class_epochs(state, kind))
            serves[epoch] = serves[epoch] || would_serve(cleared, wish.lots, wish.price);
    WaitView view{.epochs = serves.size(), .epoch_heights = contracts::read_market_params(state).epoch};
    std::vector<std::uint64_t> waits;
    std::optional<std::uint64_t> next;  // epoch that serves, at or behind the one that is looked at
    for (auto at = serves.rbegin(); at != serves.rend(); ++at) {
        if (at->second) next = at->first;
        view.serving += at->second ? 1U : 0U;
        waits.push_back(next ? *next - at->first : kNever);
    }
    std::ranges::sort(waits);
    view.median = quantile_of(waits, 50);
    view.high = quantile_of(waits, 90);
    return view;
}

std::string WaitView::text() const {
    if (epochs == 0) return "no clearing of such a class is kept";
    return std::to_string(serving) + " of the " + std::to_string(epochs) +
           " epochs that are kept sold or left so many lots at that price; of jobs that came in one of "
           "them, " +
           wait_text("half waited", median) + "; " + wait_text("nine of ten", high) + " (an epoch has " +
           std::to_string(epoch_heights) + " blocks)";
}

}  // namespace assay::node
