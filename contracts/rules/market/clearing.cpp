// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/clearing.hpp"

#include <algorithm>
#include <utility>

#include "contracts/rules/market/sorted_class.hpp"

namespace assay::contracts {

namespace {

using base::Int128;

/// What a winner pays. `winner` is a place in the sorted bids.
struct Payment {
    std::size_t winner = 0;
    std::uint64_t price = 0;
};

/// A bid that the greedy rule passed over, and that would have fitted if one before it with at least `lack`
/// lots had not been there.
struct PassedOver {
    std::size_t bid = 0;
    std::uint64_t lack = 0;
};

/// What the greedy rule alone makes each of its winners pay. A winner that bids less comes to stand further
/// behind, where the others use the same lots, until it stands behind the first bid that fits in its stead.
/// Behind that one it fits no more. In front of it, it uses no lot above the dearest that was sold, which all
/// winners pay. So the price is the larger of that lot's and the one that still stands in front.
std::vector<Payment> greedy_payments(const std::vector<BookBid>& bids, const LotCosts& costs,
                                     const BothRules& result) {
    std::vector<Payment> payments(result.served.size());
    const std::uint64_t dearest_sold = costs.dearest(result.lots);
    // Nearest last; each lacks more than those behind it, since one that lacks less hides what is further on.
    std::vector<PassedOver> behind;
    std::uint64_t used = result.lots;
    std::size_t next = result.served.size();
    for (std::size_t i = bids.size(); i-- > 0;) {
        const BookBid& bid = bids[i];
        if (next == 0 || result.served[next - 1] != i) {
            const PassedOver passed{i, used + bid.lots - costs.within(bid.price)};
            while (!behind.empty() && behind.back().lack >= passed.lack) behind.pop_back();
            behind.push_back(passed);
            continue;
        }
        --next;
        used -= bid.lots;
        payments[next] = {i, dearest_sold};
        const auto first = std::partition_point(behind.rbegin(), behind.rend(),
                                                [&](const PassedOver& one) { return one.lack > bid.lots; });
        if (first == behind.rend()) continue;
        BookBid level = bid;
        level.price = bids[first->bid].price;
        const std::uint64_t in_front = level.price + (served_before(level, bids[first->bid]) ? 0 : 1);
        payments[next].price = std::max(dearest_sold, in_front);
    }
    return payments;
}

/// The least price at which the greedy rule is still worth as much as `rival` alone. Each unit less of a
/// winner's price takes its lots off the worth of the greedy rule, and of nobody else's.
std::uint64_t kept_from_rival(const BookBid& winner, Int128 worth, Int128 rival) {
    const Int128 less = (worth - rival) / winner.lots;
    return less >= Int128{winner.price} ? 0 : winner.price - static_cast<std::uint64_t>(less);
}

std::uint64_t least_price_of_winner(const std::vector<BookBid>& bids, std::size_t winner,
                                    const LotCosts& costs) {
    std::vector<BookBid> others = bids;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(winner));
    return least_winning_price(std::move(others), bids[winner], costs, bids[winner].price).value();
}

/// Ascending by price.
std::vector<Payment> payments_of(const std::vector<BookBid>& bids, const LotCosts& costs,
                                 const BothRules& result) {
    if (!result.best) return {};
    // Only the best alone can win by both rules: its price is searched, those of the others follow.
    const std::size_t best = *result.best;
    if (result.rule() == ClearedBy::kBestAlone) return {{best, least_price_of_winner(bids, best, costs)}};
    std::vector<Payment> payments = greedy_payments(bids, costs, result);
    for (Payment& payment : payments) {
        payment.price = payment.winner == best
                            ? least_price_of_winner(bids, best, costs)
                            : std::max(payment.price, kept_from_rival(bids[payment.winner], result.worth,
                                                                      result.best_worth));
    }
    std::stable_sort(payments.begin(), payments.end(),
                     [](const Payment& left, const Payment& right) { return left.price < right.price; });
    return payments;
}

}  // namespace

ClassOutcome clear_class(const ClassMarket& market) { return clear_class(SortedClass(market)); }

ClassOutcome clear_class(const SortedClass& sorted) {
    const auto& [bids, asks, base_price] = sorted;
    const LotCosts costs(asks);
    const BothRules result = apply_both_rules(bids, costs);
    ClassOutcome outcome;
    outcome.rule = result.rule();
    std::size_t next = 0;
    for (const Payment& payment : payments_of(bids, costs, result)) {
        const BookBid& winner = bids[payment.winner];
        const Amount price = Amount::of(payment.price).value();
        for (std::uint64_t lot = 0; lot < winner.lots; ++lot)
            outcome.matches.push_back({winner.place, asks[next++].place, price});
        if (!outcome.lowest) outcome.lowest = price;
        outcome.highest = price;
    }
    return outcome;
}

}  // namespace assay::contracts
