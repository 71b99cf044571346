// SPDX-License-Identifier: Apache-2.0
// assay stake show|add|withdraw
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "node/cli/block_time.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/own_node.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/commands/stake_lines.hpp"
#include "node/cli/table.hpp"
#include "node/roles/stake_needs.hpp"
#include "node/views/stake_view.hpp"

namespace assay::node {
namespace {

using base::Amount;
using base::ErrorKind;
using base::fail;
using base::Outcome;
using contracts::Reason;

constexpr const char* kBeforeWithdrawing =
    R"(What is bonded is not free: it comes back when the windows, rounds and jobs that hold it end; see assay
stake show. A miner that is to stop ends its work first: assay miner drain. One that goes on without free
stake is dealt no slots, and loses its places. A role whose node key has no stake at all, and never lost
any, deposits its --stake again at its next start.)";

constexpr const char* kOrAll = ", or all for what is free";

struct StakeFlags {
    OwnNodeFlags own;
    std::string amount;
    bool offline = false;
    bool yes = false;
};

Outcome<void> show_stake(const Context& context, const StakeFlags& flags) {
    ASSAY_ASSIGN(const base::PublicKey node, node_key_flag(context, flags.own.node_key));
    ASSAY_ASSIGN(const ChainSource chain,
                 open_chain(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    const auto stake = stake_view(*chain.state, node);
    if (!stake)
        return fail(ErrorKind::kNotFound, "node key " + node.brief() + " is not on this ledger",
                    "register it with: assay miner register, or assay verifier register");
    const auto pace = block_pace_ms(chain);
    if (context.json()) {
        context.print_json("assay.stake.show/v1", stake_json(*stake, chain.height, pace));
    } else {
        print_stake(context.out, *stake, chain.height, pace);
    }
    return {};
}

/// The amount of an act; kUsage when the text is none, or zero. `otherwise` ends what the error advises.
Outcome<Amount> amount_of_act(const std::string& text, const std::string& otherwise) {
    const auto amount = base::parse_amount(text);
    if (!amount || amount->is_zero())
        return fail(ErrorKind::kUsage, "'" + text + "' is not an amount",
                    "write 12.5 for tokens or 12500000u for base units" + otherwise);
    return *amount;
}

/// What both acts print. The stake is as the ledger has it behind the block; nothing where the node did not
/// answer any more.
struct StakeAct {
    base::PublicKey node, owner;
    Amount amount;
    std::uint64_t height = 0;
    std::optional<Amount> free = {}, bonded = {};

    template <class Visit>
    void fields(Visit& visit) const {
        visit("node", node);
        visit("owner", owner);
        visit("amount", amount);
        visit("height", height);
        visit("free", free);
        visit("bonded", bonded);
    }
};

StakeAct act_done(const Context& context, const OwnNode& own, Amount amount, std::uint64_t height) {
    StakeAct act{.node = own.node, .owner = own.owner, .amount = amount, .height = height};
    (void)read_after_act(context, [&]() -> Outcome<void> {
        ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
        const contracts::Stake stake = contracts::read_stake(*state, own.node);
        act.free = stake.free;
        act.bonded = stake.bonded;
        return {};
    });
    return act;
}

void print_stake_left(const Context& context, const StakeAct& act) {
    if (act.free && act.bonded)
        context.out << base::to_text(*act.free) << " is free, " << base::to_text(*act.bonded)
                    << " is bonded\n";
}

Outcome<void> add_stake(const Context& context, const StakeFlags& flags) {
    ASSAY_ASSIGN(const Amount amount, amount_of_act(flags.amount, ""));
    ASSAY_ASSIGN(const OwnNode own, find_own_node(context, flags.own));
    if (own.revoked)
        return would_refuse(context, Reason::kKeyRevoked,
                            "node key " + own.node.brief() + " is revoked, and takes no more stake",
                            "move keys/node.key of the home away, then: assay key new --role node");
    const Amount balance = contracts::read_account(*own.chain.state, own.owner).balance;
    if (balance < amount)
        return would_refuse(
            context, Reason::kInsufficientBalance,
            "the owner's balance is " + base::to_text(balance) + ", less than " + base::to_text(amount),
            "add less, or send money to owner " + own.owner.hex() + " with: assay wallet send");
    ASSAY_ASSIGN(
        const auto sent,
        sign_as_owner_of(context, flags.own, own, contracts::StakeDeposit{.node = own.node, .amount = amount},
                         "the deposit of stake"));
    const StakeAct done = act_done(context, own, amount, sent.reply.height);
    if (context.json()) {
        context.print_json("assay.stake.add/v1", json_of(done));
        return {};
    }
    context.out << "added " << base::to_text(amount) << " to the stake of node key " << own.node.brief()
                << " in block " << done.height << '\n';
    print_stake_left(context, done);
    return {};
}

/// The amount of a withdrawal; `all`: what is free. kRejected (insufficient_stake) when less is free, with
/// what locks the rest.
Outcome<Amount> amount_to_withdraw(const Context& context, const std::string& text, const StakeView& stake) {
    const bool all = text == "all";
    Amount amount = stake.free;
    if (!all) {
        ASSAY_ASSIGN(amount, amount_of_act(text, kOrAll));
    }
    if (!amount.is_zero() && amount <= stake.free) return amount;
    return would_refuse(context, Reason::kInsufficientStake, not_free_text(stake, all, amount),
                        stake.free.is_zero() ? "see when it is free again with: assay stake show"
                                             : "withdraw less; what is free: assay stake withdraw all");
}

/// What the node key is in for that asks for free stake, where less is left than that.
std::vector<std::string> warnings_of(const contracts::StateView& state, const base::PublicKey& node,
                                     Amount left) {
    std::vector<std::string> warnings;
    for (const StakeNeed& need : stake_needs(state, node)) {
        if (need.amount <= left) continue;
        warnings.push_back("job " + need.job.brief() + " may want " + base::to_text(need.amount) +
                           " of this stake for a slot, and " + base::to_text(left) +
                           " stays free: without it the miner is dealt no slot, and loses its place, or the "
                           "deposit of its ask");
    }
    const Amount deposit = contracts::read_market_params(state).lot_deposit;
    const std::uint64_t epoch = contracts::read_market_clock(state).epoch;
    const bool offers = contracts::read_lot_ask(state, node) || contracts::read_lot(state, epoch, node) ||
                        contracts::read_lot(state, epoch + 1, node);
    if (offers && left < deposit)
        warnings.push_back(
            "a lot of this node key is in the market, and each seal of one takes a deposit of " +
            base::to_text(deposit) + ": " + base::to_text(left) + " stays free");
    return warnings;
}

/// When a withdrawal is paid: what was read before it was signed.
struct UnbondingDelay {
    std::uint64_t blocks = 0;
    std::string text;  ///< with a rough time
};

UnbondingDelay delay_of(const ChainSource& chain) {
    const std::uint64_t blocks = contracts::read_current_params(*chain.state).unbonding_delay;
    return {blocks, blocks_text(blocks, block_pace_ms(chain))};
}

void print_withdrawn(const Context& context, const StakeAct& done, const UnbondingDelay& delay,
                     const std::vector<std::string>& warnings) {
    const std::uint64_t paid_at = done.height + delay.blocks;
    if (context.json()) {
        JsonFields body;
        done.fields(body);
        body("paid_at", paid_at);
        body("warnings", warnings);
        context.print_json("assay.stake.withdraw/v1", body.take());
        return;
    }
    context.out << "withdrew " << base::to_text(done.amount) << " of the stake of node key "
                << done.node.brief() << " in block " << done.height
                << ": paid to the owner's balance in block " << paid_at << " (" << delay.text << ")\n";
    print_stake_left(context, done);
}

Outcome<void> withdraw_stake(const Context& context, const StakeFlags& flags) {
    if (flags.amount != "all") ASSAY_TRY(amount_of_act(flags.amount, kOrAll));
    ASSAY_ASSIGN(const OwnNode own, find_own_node(context, flags.own));
    const auto stake = stake_view(*own.chain.state, own.node);
    if (!stake)
        return fail(ErrorKind::kVerification, "the ledger node lost node key " + own.node.brief(),
                    "ask another --node");
    ASSAY_ASSIGN(const Amount amount, amount_to_withdraw(context, flags.amount, *stake));
    const auto warnings =
        warnings_of(*own.chain.state, own.node, stake->free.minus(amount).value_or(Amount{}));
    const UnbondingDelay delay = delay_of(own.chain);
    // Before a passphrase is asked for.
    context.err << "of node key " << own.node.brief() << " " << base::to_text(stake->free) << " is free; "
                << base::to_text(amount) << " is paid to owner " << own.owner.brief() << " after "
                << delay.text << '\n';
    for (const std::string& warning : warnings) context.err << "warning: " << warning << '\n';
    if (!warnings.empty() && !flags.yes)
        return fail(ErrorKind::kUsage, "the withdrawal was not signed: " + warnings.front(),
                    "drain the miner before, with: assay miner drain; or give --yes");
    const auto sent = sign_as_owner_of(context, flags.own, own,
                                       contracts::StakeWithdraw{.node = own.node, .amount = amount},
                                       "the withdrawal of stake");
    if (!sent.ok() && context.refused && context.refused->reason == Reason::kInsufficientStake)
        return fail(ErrorKind::kRejected, sent.error().what + " Something locked it meanwhile.",
                    "see what is free now with: assay stake show");
    if (!sent.ok()) return base::failed(sent.error());
    print_withdrawn(context, act_done(context, own, amount, sent->reply.height), delay, warnings);
    return {};
}

}  // namespace

void add_stake_commands(CLI::App& app, Context& context) {
    CLI::App& stake = noun(app, "stake", "The money behind a node key: see it, add to it, take it out");
    const auto flags = std::make_shared<StakeFlags>();
    CLI::App& shown =
        verb(stake, "show", "What is free, what locks the rest, what is on its way back, what was lost",
             context, [&context, flags] { return show_stake(context, *flags); });
    add_node_key_flag(shown, flags->own.node_key);
    shown.add_flag("--offline", flags->offline, "Read the home's ledger files instead of asking a node");
    CLI::App& adding = verb(stake, "add", "Move money from the owner's balance to the stake of a node key",
                            context, [&context, flags] { return add_stake(context, *flags); });
    CLI::App& taking = verb(
        stake, "withdraw", "Take free stake out: it is paid to the owner's balance after the unbonding delay",
        context, [&context, flags] { return withdraw_stake(context, *flags); });
    taking.footer(kBeforeWithdrawing);
    adding.add_option("amount", flags->amount, "12.5 tokens, or 12500000u base units")->required();
    taking.add_option("amount", flags->amount, "12.5 tokens, 12500000u base units, or all that is free")
        ->required();
    taking.add_flag("--yes", flags->yes,
                    "Take it out although a job or the market may want it; without this flag such a "
                    "withdrawal is not signed");
    for (CLI::App* command : {&adding, &taking}) add_own_node_flags(*command, flags->own);
}

}  // namespace assay::node
