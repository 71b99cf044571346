// SPDX-License-Identifier: Apache-2.0
// assay market ask|bid
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/state_source.hpp"
#include "node/key/key_file.hpp"
#include "node/processes/device_homes.hpp"
#include "node/processes/purchase.hpp"
#include "node/roles/price_order.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct OrderFlags {
    std::string job;
    std::string price;
};

/// The word that takes an order back.
constexpr const char* kDefault = "default";

Outcome<std::optional<base::Amount>> price_in(const std::string& text) {
    if (text == kDefault) return std::optional<base::Amount>();
    ASSAY_ASSIGN(const base::Amount price, amount_flag("PRICE", text));
    return std::optional(price);
}

std::string what_follows(const std::string& whose, const std::optional<base::Amount>& price) {
    return price ? whose + base::to_text(*price) + " a work unit"
                 : whose + "what the process was started with";
}

constexpr const char* kWhen =
    ". It reads this within a second where it runs, else at its next start; what is sealed already stays as "
    "it "
    "is.\n";

/// The order is a note of the home: no ledger is asked whether there is such a miner.
constexpr const char* kLotsAlone =
    "It holds for lots only: it does nothing unless a miner of this home runs with --trade.\n";

Outcome<void> order_ask(const Context& context, const OrderFlags& flags) {
    ASSAY_ASSIGN(const auto price, price_in(flags.price));
    ASSAY_TRY(check_node_key(context.home()));
    ASSAY_TRY(for_each_miner_home(
        context.home(), [&](DiskPort& notes) { return write_price_order(notes, ask_order_note(), price); }));
    if (context.json()) {
        JsonFields fields;
        fields("price", price);
        context.print_json("assay.market.ask/v1", fields.take());
        return {};
    }
    context.out << what_follows("For its lots the miner of this home asks ", price) << kWhen << kLotsAlone;
    return {};
}

Outcome<void> order_bid(const Context& context, const OrderFlags& flags) {
    ASSAY_ASSIGN(const auto price, price_in(flags.price));
    ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
    ASSAY_ASSIGN(const contracts::Job job, find_job(*state, flags.job));
    ASSAY_TRY(check_bid(price, job.spec));
    ASSAY_ASSIGN(const auto key, inspect_key_file(context.home().node_key()));
    if (key.public_key != job.buyer_node) {
        return base::fail(base::ErrorKind::kKey,
                          "job " + job.id.brief() + " was not bought with this home's node key",
                          "use the --home that bought it");
    }
    ASSAY_ASSIGN(const auto notes, make_disk_port(context.home().jobs()));
    ASSAY_TRY(write_price_order(*notes, bid_order_note(job.id), price));
    if (context.json()) {
        JsonFields fields;
        fields("job", job.id);
        fields("price", price);
        context.print_json("assay.market.bid/v1", fields.take());
        return {};
    }
    context.out << what_follows("Job " + job.id.brief() + " bids ", price) << kWhen;
    return {};
}

}  // namespace

void add_market_orders(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<OrderFlags>();
    CLI::App& market = noun(app, "market", "The market between jobs: lots of machines for an epoch");
    const std::string price =
        "Per work unit, in ASY or base units (900u), or the word `default`: as it was started with";
    CLI::App& ask = verb(market, "ask",
                         "Set the least for which the miner of this home, and those of its devices, sell "
                         "lots (with miner run --trade)",
                         context, [&context, flags] { return order_ask(context, *flags); });
    ask.add_option("price", flags->price, price)->required();
    CLI::App& bid = verb(market, "bid", "Set the most that a job of this home bids for a work unit", context,
                         [&context, flags] { return order_bid(context, *flags); });
    bid.add_option("job", flags->job, "Id, a beginning of it, or the name")->required();
    bid.add_option("price", flags->price, price)->required();
}

}  // namespace assay::node
