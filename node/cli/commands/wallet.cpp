// SPDX-License-Identifier: Apache-2.0
// assay wallet show|send|report
#include <CLI/CLI.hpp>
#include <ctime>
#include <map>
#include <ostream>

#include "contracts/rules/transactions.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/csv.hpp"
#include "node/cli/owner_transaction.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"
#include "node/views/bill.hpp"
#include "node/views/party_view.hpp"

namespace assay::node {
namespace {

using base::Amount;
using base::ErrorKind;
using base::Outcome;

struct WalletFlags {
    std::string key;  ///< show: whose, in hexadecimal
    std::string to;
    std::string amount;
    std::string genesis;
    bool offline = false;
    std::vector<std::string> by = {"job"};  ///< report
    PassphraseFlags passphrase;
};

Outcome<base::PublicKey> wallet_of(const Context& context, const WalletFlags& flags) {
    if (!flags.key.empty()) return key_flag("--key", flags.key);
    ASSAY_ASSIGN(const auto info, inspect_key_file(context.home().owner_key()));
    return info.public_key;
}

std::string money(Units units) { return base::to_text(Amount::of(units.count).value_or(Amount{})); }

/// The sum, and when its first part arrives.
std::string withdrawals_text(const WalletView& wallet) {
    std::string text = money(wallet.unbonding);
    if (wallet.withdrawals.empty()) return text;
    const WithdrawalView& first = wallet.withdrawals.front();
    return text + (wallet.withdrawals.size() == 1 ? ", paid" : ", of which " + base::to_text(first.amount)) +
           " in block " + std::to_string(first.block);
}

Outcome<void> show_wallet(const Context& context, const WalletFlags& flags) {
    ASSAY_ASSIGN(const auto owner, wallet_of(context, flags));
    ASSAY_ASSIGN(const auto state, open_state(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    const WalletView wallet = wallet_view(*state, owner);
    if (context.json()) {
        context.print_json("assay.wallet.show/v1", json_of(wallet));
        return {};
    }
    std::vector<std::pair<std::string, std::string>> fields = {{"owner", owner.hex()},
                                                               {"balance", base::to_text(wallet.balance)},
                                                               {"free stake", money(wallet.stake)},
                                                               {"bonded", money(wallet.bonded)},
                                                               {"unbonding", withdrawals_text(wallet)},
                                                               {"in escrow", money(wallet.escrow)}};
    for (const WalletNode& node : wallet.nodes)
        fields.emplace_back("node key", node.node.hex() + (node.revoked ? "  revoked" : "") + "  " +
                                            base::to_text(node.stake) + " free, " +
                                            base::to_text(node.bonded) + " bonded");
    print_fields(context.out, fields);
    return {};
}

Outcome<void> send_money(const Context& context, const WalletFlags& flags) {
    ASSAY_ASSIGN(const base::PublicKey to, key_flag("receiver", flags.to));
    const auto amount = base::parse_amount(flags.amount);
    if (!amount || amount->is_zero())
        return base::fail(ErrorKind::kUsage, "'" + flags.amount + "' is not an amount",
                          "write 12.5 for tokens or 12500000u for base units");
    ASSAY_ASSIGN(const auto sent_in,
                 submit_as_owner(context, flags.passphrase, flags.genesis,
                                 contracts::Transfer{.to = to, .amount = *amount}, "the transfer",
                                 "see your balance with: assay wallet show"));
    if (context.json()) {
        JsonFields sent;
        sent("from", sent_in.owner);
        sent("to", to);
        sent("amount", *amount);
        sent("height", sent_in.reply.height);
        context.print_json("assay.wallet.send/v1", sent.take());
        return {};
    }
    context.out << "sent " << base::to_text(*amount) << " to " << to.brief() << " in block "
                << sent_in.reply.height << '\n';
    return {};
}

std::vector<BillBy> bill_by(const std::vector<std::string>& words) {
    std::vector<BillBy> by;
    for (const std::string& word : words)
        by.push_back(word == "job" ? BillBy::kJob : word == "day" ? BillBy::kDay : BillBy::kTeam);
    return by;
}

void print_bill(const Context& context, const Bill& bill) {
    TextTable table({{"job"},
                     {"name"},
                     {"day"},
                     {"member"},
                     {"for"},
                     {"reason"},
                     {"count", Align::kRight},
                     {"segments", Align::kRight},
                     {"work", Align::kRight},
                     {"amount", Align::kRight}});
    for (const BillLine& line : bill.lines)
        table.row({line.job.substr(0, 8), line.name, line.day, line.member.substr(0, 8),
                   std::string(to_text(line.item)), std::string(contracts::to_text(line.reason)),
                   std::to_string(line.count), std::to_string(line.segments), std::to_string(line.work_units),
                   money(line.amount)});
    table.print(context.out);
    context.out << '\n';
    print_fields(context.out, {{"put in", money(bill.totals.put_in)},
                               {"penalties", money(bill.totals.penalties)},
                               {"spent", money(bill.totals.spent)},
                               {"refunded", money(bill.totals.refunded)},
                               {"in escrow", money(bill.totals.in_escrow)},
                               {"fees burned", money(bill.totals.fees)}});
}

Outcome<void> report(const Context& context, const WalletFlags& flags) {
    ASSAY_ASSIGN(const auto owner, wallet_of(context, flags));
    ASSAY_ASSIGN(const ChainSource chain,
                 open_chain(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    ASSAY_ASSIGN(const Bill bill, bill_of(*chain.state, owner, bill_by(flags.by), days_of(chain)));
    if (context.json()) {
        context.print_json("assay.wallet.report/v1", json_of(bill));
    } else if (context.csv()) {
        for (const auto& record : csv_records(bill)) print_csv_record(context.out, record);
    } else {
        print_bill(context, bill);
    }
    return {};
}

}  // namespace

void add_wallet_commands(CLI::App& app, Context& context) {
    CLI::App& wallet = noun(app, "wallet", "Balances, holds, transfers");
    const auto flags = std::make_shared<WalletFlags>();
    CLI::App& shown = verb(wallet, "show", "Balance, stake, bonds, escrow and node keys of an owner", context,
                           [&context, flags] { return show_wallet(context, *flags); });
    CLI::App& reported =
        verb(wallet, "report", "What jobs cost: accepted work, audits, merges, fees; lost work at zero",
             context, [&context, flags] { return report(context, *flags); });
    allow_csv(reported, context);
    reported.description(reported.get_description() + " (-o csv too)");
    reported.add_option("--by", flags->by, "What lines are told apart by: job, day, team")
        ->delimiter(',')
        ->check(CLI::IsMember({"job", "day", "team"}))
        ->capture_default_str();
    for (CLI::App* command : {&shown, &reported}) {
        command->add_option("--key", flags->key, "Owner's public key; default: the home's owner key");
        command->add_flag("--offline", flags->offline,
                          "Read the home's ledger files instead of asking a node");
    }
    CLI::App& sent = verb(wallet, "send", "Transfer from the home's owner key", context,
                          [&context, flags] { return send_money(context, *flags); });
    sent.add_option("to", flags->to, "Receiver's owner key")->required();
    sent.add_option("amount", flags->amount, "12.5 tokens, or 12500000u base units")->required();
    sent.add_option("--genesis", flags->genesis, "The ledger's genesis file; needed once per home");
    add_passphrase_flags(sent, flags->passphrase);
}

}  // namespace assay::node
