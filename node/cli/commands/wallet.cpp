// SPDX-License-Identifier: Apache-2.0
// assay wallet show|send
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "contracts/rules/transactions.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/owner_transaction.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"

namespace assay::node {
namespace {

using base::Amount;
using base::ErrorKind;
using base::Outcome;

struct WalletFlags {
    std::string key;  ///< show: whose, in hexadecimal
    std::string to;
    std::string amount;
    bool offline = false;
    PassphraseFlags passphrase;
};

Outcome<base::PublicKey> wallet_of(const Context& context, const WalletFlags& flags) {
    if (!flags.key.empty()) {
        const auto key = base::parse_public_key(flags.key);
        if (!key)
            return base::fail(ErrorKind::kUsage, "'" + flags.key + "' is not a public key",
                              "a key is 64 hexadecimal digits in lower case");
        return *key;
    }
    ASSAY_ASSIGN(const auto info, inspect_key_file(context.home().owner_key()));
    return info.public_key;
}

/// Money of one owner, and where it is.
struct Holdings {
    contracts::Account account;
    std::uint64_t staked = 0;
    std::uint64_t bonded = 0;
    std::uint64_t escrow = 0;
};

Holdings holdings_of(const contracts::StateView& state, const base::PublicKey& owner) {
    Holdings held;
    held.account = contracts::read_account(state, owner);
    const auto add_stake = [&](const base::PublicKey& node) {
        const contracts::Stake stake = contracts::read_stake(state, node);
        held.staked += stake.free.units();
        held.bonded += stake.bonded.units();
    };
    std::vector<base::PublicKey> miners;
    for (const auto& [node, miner] : contracts::list_miners(state))
        if (miner.owner == owner) {
            add_stake(node);
            miners.push_back(node);
        }
    for (const auto& [node, verifier] : contracts::list_verifiers(state))
        if (verifier.owner == owner && std::find(miners.begin(), miners.end(), node) == miners.end())
            add_stake(node);
    for (const contracts::Job& job : contracts::list_jobs(state))
        if (job.buyer == owner) held.escrow += job.escrow.units();
    return held;
}

std::string money(std::uint64_t units) { return base::to_text(Amount::of(units).value_or(Amount{})); }

Outcome<void> show_wallet(const Context& context, const WalletFlags& flags) {
    ASSAY_ASSIGN(const auto owner, wallet_of(context, flags));
    ASSAY_ASSIGN(const auto state, open_state(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    const Holdings held = holdings_of(*state, owner);
    if (context.json()) {
        nlohmann::ordered_json body;
        body["owner"] = owner.hex();
        body["balance"] = std::to_string(held.account.balance.units());
        body["stake"] = std::to_string(held.staked);
        body["bonded"] = std::to_string(held.bonded);
        body["escrow"] = std::to_string(held.escrow);
        body["nonce"] = held.account.nonce;
        context.print_json("assay.wallet.show/v1", body);
        return {};
    }
    print_fields(context.out, {{"owner", owner.hex()},
                               {"balance", base::to_text(held.account.balance)},
                               {"free stake", money(held.staked)},
                               {"bonded", money(held.bonded)},
                               {"in escrow", money(held.escrow)}});
    return {};
}

Outcome<void> send_money(const Context& context, const WalletFlags& flags) {
    const auto to = base::parse_public_key(flags.to);
    if (!to)
        return base::fail(ErrorKind::kUsage, "'" + flags.to + "' is not a public key",
                          "a key is 64 hexadecimal digits in lower case");
    const auto amount = base::parse_amount(flags.amount);
    if (!amount || amount->is_zero())
        return base::fail(ErrorKind::kUsage, "'" + flags.amount + "' is not an amount",
                          "write 12.5 for tokens or 12500000u for base units");
    ASSAY_ASSIGN(const auto sent_in,
                 submit_as_owner(context, flags.passphrase, contracts::Transfer{.to = *to, .amount = *amount},
                                 "the transfer", "see your balance with: assay wallet show"));
    if (context.json()) {
        nlohmann::ordered_json sent;
        sent["from"] = sent_in.owner.hex();
        sent["to"] = to->hex();
        sent["amount"] = std::to_string(amount->units());
        sent["height"] = sent_in.reply.height;
        context.print_json("assay.wallet.send/v1", sent);
        return {};
    }
    context.out << "sent " << base::to_text(*amount) << " to " << to->brief() << " in block "
                << sent_in.reply.height << '\n';
    return {};
}

}  // namespace

void add_wallet_commands(CLI::App& app, Context& context) {
    CLI::App& wallet = noun(app, "wallet", "Balances, holds, transfers");
    const auto flags = std::make_shared<WalletFlags>();
    CLI::App& shown = verb(wallet, "show", "Balance, stake, bonds and escrow of an owner", context,
                           [&context, flags] { return show_wallet(context, *flags); });
    shown.add_option("--key", flags->key, "Owner's public key; default: the home's owner key");
    shown.add_flag("--offline", flags->offline, "Read the home's ledger files instead of asking a node");
    CLI::App& sent = verb(wallet, "send", "Transfer from the home's owner key", context,
                          [&context, flags] { return send_money(context, *flags); });
    sent.add_option("to", flags->to, "Receiver's owner key")->required();
    sent.add_option("amount", flags->amount, "12.5 tokens, or 12500000u base units")->required();
    add_passphrase_flags(sent, flags->passphrase);
}

}  // namespace assay::node
