// SPDX-License-Identifier: Apache-2.0
// assay miner list|status|why
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/audit/step_memory.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/clearing_lines.hpp"
#include "node/cli/commands/party_flags.hpp"
#include "node/cli/commands/settlement_lines.hpp"
#include "node/cli/table.hpp"
#include "node/roles/miner_power.hpp"
#include "node/roles/work_order.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/views/json.hpp"
#include "node/views/market_outlook.hpp"
#include "node/views/party_view.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct MinerQueryFlags : PartyFlags {
    ClearingFlags clearings;  ///< of `miner why`
};

/// What the owner wants of the miner, and what it measured, where `key` is that of this home.
Outcome<void> add_own_notes(const Context& context, const base::PublicKey& key, MinerStatus& status) {
    const auto own = own_node_key(context);
    if (!own.ok() || *own != key) return {};
    ASSAY_ASSIGN(const auto notes, make_disk_port(context.home().jobs()));
    ASSAY_ASSIGN(const WorkOrder order, read_order(*notes, WorkRole::kMiner));
    status.order = to_text(order);
    ASSAY_ASSIGN(const MinerPace pace, read_pace(*notes));
    for (const ClassPace& one : pace.classes) {
        if (const auto hour = hour_of_work(one, pace.ask, pace.power))
            status.expected_hour.push_back({class_name(one.kind()), hour->units, hour->earned, hour->power});
    }
    return {};
}

Outcome<void> list_miners(const Context& context, const PartyFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, flags.from()));
    const MinerList list = miners_of(*state);
    if (context.json()) {
        context.print_json("assay.miner.list/v1", json_of(list));
        return {};
    }
    TextTable table({{"miner"},
                     {"endpoint"},
                     {"verified work", Align::kRight},
                     {"earned", Align::kRight},
                     {"forfeited", Align::kRight}});
    for (const MinerView& miner : list.miners)
        table.row({miner.miner.brief(), miner.endpoint, std::to_string(miner.verified_work),
                   base::to_text(miner.earned), base::to_text(miner.forfeited)});
    table.print(context.out);
    return {};
}

Outcome<void> show_miner(const Context& context, const PartyFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, flags.from()));
    ASSAY_ASSIGN(const auto key, party_of(context, *state, WorkRole::kMiner, flags));
    MinerStatus status = miner_status(*state, key, contracts::read_miner(*state, key).value());
    ASSAY_TRY(add_own_notes(context, key, status));
    if (context.json()) {
        context.print_json("assay.miner.status/v1", json_of(status));
        return {};
    }
    const MinerView& miner = status.miner;
    std::vector<std::pair<std::string, std::string>> fields = {
        {"miner", key.hex()}, {"owner", miner.owner.hex()}, {"endpoint", miner.endpoint}};
    for (const StandingView& standing : miner.standing)
        fields.emplace_back("verified work",
                            std::to_string(standing.verified_work) + " units of " + standing.work_class);
    fields.emplace_back("free stake", base::to_text(miner.stake));
    fields.emplace_back("bonded", base::to_text(miner.bonded));
    fields.emplace_back("earned", base::to_text(miner.earned));
    fields.emplace_back("forfeited", base::to_text(miner.forfeited));
    for (const OpenJobView& open : status.open_jobs)
        fields.emplace_back("open job " + open.job.brief(), "can lock up to " +
                                                                base::to_text(open.lock_slot) + " a slot, " +
                                                                base::to_text(open.lock_job) + " in all");
    for (const ExpectedHour& hour : status.expected_hour) {
        std::string text = std::to_string(hour.work_units) + " work units of " + hour.work_class + " bring " +
                           base::to_text(hour.earned) + " at its ask";
        if (hour.power_cost) text += ", power costs " + base::to_text(*hour.power_cost);
        if (hour.power_cost && *hour.power_cost > hour.earned) text += ": more than that";
        fields.emplace_back("an hour", std::move(text));
    }
    if (status.order) fields.emplace_back("told to", *status.order);
    print_fields(context.out, fields);
    return {};
}

/// The miner's obstacles before the next clearing, and its results in past ones; null: past clearings were
/// left out.
struct MinerMarketWhy {
    MinerOutlook outlook;
    std::optional<std::vector<AskWhy>> asks;

    template <class Visit>
    void fields(Visit& visit) const {
        outlook.fields(visit);
        visit("asks", asks);
    }
};

void print_market_why(std::ostream& out, const MinerMarketWhy& why) {
    const MinerOutlook& look = why.outlook;
    std::vector<std::pair<std::string, std::string>> fields;
    if (look.kind) {
        fields.emplace_back("lot", class_words(*look.kind) + " at " + base::to_text(*look.ask) +
                                       " a work unit, for " + std::to_string(look.epochs) + " more epochs");
    }
    for (const MinerLease& lease : look.leases)
        fields.emplace_back("leased", "to job " + lease.job.brief() + " in epoch " +
                                          std::to_string(lease.epoch) + " for " + base::to_text(lease.price) +
                                          " a work unit");
    for (const Obstacle& one : look.obstacles) fields.emplace_back(one.token, one.text);
    if (fields.empty()) return;
    out << "\nthe market:\n";
    print_fields(out, fields);
    if (!why.asks) return;
    out << "\nclearings:\n";
    for (const AskWhy& ask : *why.asks) out << "  " << ask.text() << '\n';
    if (why.asks->empty()) out << "  (none in which it offered a lot)\n";
}

Outcome<MinerMarketWhy> market_why(const Context& context, const ChainSource& chain,
                                   const base::PublicKey& miner, const ClearingFlags& flags) {
    MinerMarketWhy why{miner_outlook(*chain.state, chain.height, miner, least_step_bytes), {}};
    std::vector<AskWhy> asks;
    const auto see = [&](const ClearedMarket& market) {
        if (auto ask = market.why_ask(miner)) asks.push_back(*std::move(ask));
    };
    ASSAY_ASSIGN(const bool found, find_clearings(context, chain, flags, see));
    if (found) why.asks = std::move(asks);
    return why;
}

Outcome<void> why_miner(const Context& context, const MinerQueryFlags& flags) {
    ASSAY_ASSIGN(const ChainSource chain, open_chain(context, flags.from()));
    LineFilter filter;
    ASSAY_ASSIGN(filter.node, party_of(context, *chain.state, WorkRole::kMiner, flags));
    filter.unpaid_only = true;
    const PayoutLines lines = payout_lines(*chain.state, filter);
    ASSAY_ASSIGN(const MinerMarketWhy market, market_why(context, chain, filter.node, flags.clearings));
    if (context.json()) {
        Json body = json_of(lines);
        body["market"] = json_of(market);
        context.print_json("assay.miner.why/v1", body);
        return {};
    }
    print_lines(context, "assay.miner.why/v1", lines);
    print_market_why(context.out, market);
    return {};
}

}  // namespace

void add_miner_queries(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<MinerQueryFlags>();
    CLI::App& miner = noun(app, "miner", "Work for pay: train slots of jobs");
    CLI::App& listed = verb(miner, "list", "Every registered miner", context,
                            [&context, flags] { return list_miners(context, *flags); });
    CLI::App& shown = verb(miner, "status", "Stake, record and earnings of a miner", context,
                           [&context, flags] { return show_miner(context, *flags); });
    CLI::App& why = verb(
        miner, "why", "Why a miner was not paid or lost something in a round, and why its lot was not sold",
        context, [&context, flags] { return why_miner(context, *flags); });
    why.add_option("node", flags->key, "As --key");
    add_clearing_flags(why, flags->clearings);
    for (CLI::App* command : {&listed, &shown, &why}) add_offline_flag(*command, *flags);
    for (CLI::App* command : {&shown, &why}) add_key_flag(*command, *flags);
}

}  // namespace assay::node
