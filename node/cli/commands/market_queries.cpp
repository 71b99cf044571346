// SPDX-License-Identifier: Apache-2.0
// assay market show|history
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/csv.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"
#include "node/views/json.hpp"
#include "node/views/market_view.hpp"

namespace assay::node {
namespace {

using base::Amount;
using base::Outcome;
using Money = std::string (*)(Amount);

struct MarketFlags {
    std::string kind;  ///< class; empty: every one
    std::uint64_t epochs = 0;
    bool offline = false;
};

Outcome<ChainSource> chain_of(const Context& context, const MarketFlags& flags) {
    return open_chain(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode);
}

/// The class that the flags name; nothing where they name none. kNotFound for one that the market lacks.
Outcome<std::optional<contracts::LotClass>> class_flag(const contracts::StateView& state,
                                                       const std::string& text) {
    if (text.empty()) return std::optional<contracts::LotClass>();
    ASSAY_ASSIGN(const contracts::LotClass kind, parse_class(text));
    const auto known = market_classes(state);
    if (std::ranges::find(known, kind) == known.end())
        return base::fail(base::ErrorKind::kNotFound, "nobody trades in class " + class_code(kind),
                          "see: assay market show");
    return std::optional(kind);
}

std::string price_cell(const std::optional<Amount>& price, Money money) { return price ? money(*price) : ""; }

std::vector<std::string> cells(const ClassView& row, Money money) {
    const contracts::ClassEpoch last = row.last ? row.last->cleared : contracts::ClassEpoch{};
    return {class_code(row.kind),         money(row.base_price),          money(row.next_base_price),
            std::to_string(row.standing), std::to_string(row.leased),     std::to_string(row.left),
            std::to_string(row.wanted),   price_cell(last.lowest, money), price_cell(last.highest, money)};
}

std::vector<std::string> cells(const ClassEpochView& row, Money money) {
    const contracts::ClassEpoch& cleared = row.cleared;
    return {std::to_string(row.epoch),         class_code(row.kind),
            money(cleared.base_price),         std::to_string(cleared.bids),
            std::to_string(cleared.wanted),    std::to_string(cleared.offered),
            std::to_string(cleared.above),     std::to_string(cleared.sold),
            std::to_string(cleared.instant),   price_cell(cleared.lowest, money),
            price_cell(cleared.highest, money)};
}

template <class Row>
void print_csv_rows(std::ostream& out, const std::vector<std::string>& titles, const std::vector<Row>& rows) {
    print_csv_record(out, titles);
    for (const Row& row : rows) print_csv_record(out, cells(row, csv_amount));
}

std::string left_text(const MarketView& market) {
    if (!market.phase_left) return "nothing is due: the first seal starts the clock";
    return std::to_string(*market.phase_left) + " blocks to the next phase, " +
           std::to_string(*market.epoch_left) + " to the next epoch";
}

void print_market(std::ostream& out, const MarketView& market) {
    print_fields(out, {{"block", std::to_string(market.height)},
                       {"epoch", std::to_string(market.epoch)},
                       {"phase", std::string(to_text(market.phase))},
                       {"left", left_text(market)},
                       {"sealed", std::to_string(market.sealed_lots) + " lots and " +
                                      std::to_string(market.sealed_bids) +
                                      " bids (their classes are not known yet)"}});
    out << "\nprices of a work unit:\n";
    TextTable table({{"class"},
                     {"base price", Align::kRight},
                     {"next epoch's", Align::kRight},
                     {"standing", Align::kRight},
                     {"leased", Align::kRight},
                     {"left", Align::kRight},
                     {"wanted", Align::kRight},
                     {"last lowest", Align::kRight},
                     {"last highest", Align::kRight},
                     {"in words"}});
    for (const ClassView& row : market.classes) {
        std::vector<std::string> line = cells(row, base::to_text);
        line.push_back(class_words(row.kind));
        table.row(std::move(line));
    }
    table.print(out);
}

Outcome<void> show_market(const Context& context, const MarketFlags& flags) {
    ASSAY_ASSIGN(const ChainSource chain, chain_of(context, flags));
    ASSAY_ASSIGN(const auto kind, class_flag(*chain.state, flags.kind));
    MarketView market = market_view(*chain.state, chain.height);
    if (kind) std::erase_if(market.classes, [&](const ClassView& row) { return row.kind != *kind; });
    if (context.json()) {
        context.print_json("assay.market.show/v1", json_of(market));
    } else if (context.csv()) {
        print_csv_rows(context.out,
                       {"class", "base_price", "next_base_price", "standing", "leased", "left", "wanted",
                        "lowest", "highest"},
                       market.classes);
    } else {
        print_market(context.out, market);
    }
    return {};
}

Outcome<void> show_history(const Context& context, const MarketFlags& flags) {
    ASSAY_ASSIGN(const ChainSource chain, chain_of(context, flags));
    ASSAY_ASSIGN(const auto kind, class_flag(*chain.state, flags.kind));
    const MarketHistoryView history = market_epochs(*chain.state, kind, flags.epochs);
    if (context.json()) {
        context.print_json("assay.market.history/v1", json_of(history));
        return {};
    }
    if (context.csv()) {
        print_csv_rows(context.out,
                       {"epoch", "class", "base_price", "bids", "wanted", "offered", "above", "sold",
                        "instant", "lowest", "highest"},
                       history.epochs);
        return {};
    }
    TextTable table({{"epoch", Align::kRight},
                     {"class"},
                     {"base price", Align::kRight},
                     {"bids", Align::kRight},
                     {"wanted", Align::kRight},
                     {"offered", Align::kRight},
                     {"too dear", Align::kRight},
                     {"sold", Align::kRight},
                     {"instant", Align::kRight},
                     {"lowest", Align::kRight},
                     {"highest", Align::kRight}});
    for (const ClassEpochView& row : history.epochs) table.row(cells(row, base::to_text));
    table.print(context.out);
    return {};
}

}  // namespace

void add_market_queries(CLI::App& app, Context& context) {
    CLI::App& market = noun(app, "market", "The market between jobs: lots of machines for an epoch");
    const auto flags = std::make_shared<MarketFlags>();
    CLI::App& shown = verb(market, "show", "Where the epoch stands, and prices and lots of every class",
                           context, [&context, flags] { return show_market(context, *flags); });
    CLI::App& history =
        verb(market, "history", "What past clearings came to, as far as the ledger keeps them", context,
             [&context, flags] { return show_history(context, *flags); });
    history.add_option("--epochs", flags->epochs, "The newest so many epochs; default: all that are kept")
        ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
    for (CLI::App* command : {&shown, &history}) {
        allow_csv(*command, context);
        command->add_option("--class", flags->kind,
                            "One class: profile and the bits of speed, memory and network, as in f32/5/5/7");
        command->add_flag("--offline", flags->offline,
                          "Read the home's ledger files instead of asking a node");
    }
}

}  // namespace assay::node
