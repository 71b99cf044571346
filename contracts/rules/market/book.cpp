// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/book.hpp"

#include <algorithm>

#include "contracts/rules/market/clearing.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

void keep_from(State& state, const LotClass& kind, std::uint64_t first) {
    for (const auto& [epoch, cleared] : list_class_epochs(state, kind))
        if (epoch < first) state.erase(class_epoch_key(kind, epoch));
}

}  // namespace

Amount base_price_for(const StateView& state, const LotClass& kind, std::uint64_t epoch, Amount least) {
    const auto book = read_class_book(state, kind);
    if (!book) return least;
    const auto before = read_class_epoch(state, kind, epoch - 1);
    if (!before) return std::max(book->base_price, least);
    return next_base_price(book->base_price, std::uint64_t{before->sold} + before->instant,
                           before->offered - before->above, least);
}

void write_class_epoch(State& state, const LotClass& kind, std::uint64_t epoch, const ClassEpoch& cleared,
                       const MarketParams& params) {
    store(state, class_book_key(kind), ClassBook{cleared.base_price, epoch});
    store(state, class_epoch_key(kind, epoch), cleared);
    if (epoch >= params.history_epochs) keep_from(state, kind, epoch - params.history_epochs + 1);
}

void forget_old_classes(State& state, std::uint64_t epoch, const MarketParams& params) {
    for (const auto& [kind, book] : list_class_books(state)) {
        if (epoch - book.last_epoch < params.history_epochs) continue;
        keep_from(state, kind, epoch);
        state.erase(class_book_key(kind));
    }
}

}  // namespace assay::contracts
