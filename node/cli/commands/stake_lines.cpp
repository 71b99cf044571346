// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/stake_lines.hpp"

#include <ostream>

#include "node/cli/block_time.hpp"
#include "node/cli/table.hpp"

namespace assay::node {
namespace {

constexpr std::size_t kLocksNamed = 5;  ///< in one error

/// A withdrawal, with the time until it is paid.
struct TimedWithdrawal {
    WithdrawalView withdrawal;
    std::uint64_t blocks_left = 0;
    std::optional<double> hours_left;

    template <class Visit>
    void fields(Visit& visit) const {
        withdrawal.fields(visit);
        visit("blocks_left", blocks_left);
        visit("hours_left", hours_left);
    }
};

std::string unbonding_text(const StakeView& stake) {
    return base::to_text(base::Amount::of(stake.unbonding.count).value_or(base::Amount{}));
}

std::string roles_text(const StakeView& stake) {
    std::string text;
    for (const std::string& role : stake.roles) text += (text.empty() ? "" : ", ") + role;
    return text.empty() ? "none" : text;
}

std::string deposit_text(const StakeDepositView& deposit) {
    if (deposit.job) return base::to_text(deposit.amount) + " behind its ask for job " + deposit.job->brief();
    return base::to_text(deposit.amount) +
           (deposit.behind == "lot" ? " behind a sealed lot" : " behind its class of lots");
}

void print_locks(std::ostream& out, const StakeView& stake) {
    if (stake.locks.empty()) return;
    TextTable table({{"job"}, {"bonded", Align::kRight}, {"for"}, {"until"}});
    for (const StakeLock& lock : stake.locks)
        table.row({lock.job.brief(), base::to_text(lock.amount), lock.what(), lock.freed()});
    out << '\n';
    table.print(out);
}

void print_withdrawals(std::ostream& out, const StakeView& stake, std::uint64_t height,
                       const std::optional<double>& pace_ms) {
    if (stake.withdrawals.empty()) return;
    TextTable table({{"unbonding", Align::kRight}, {"paid in block", Align::kRight}, {"in"}});
    for (const WithdrawalView& one : stake.withdrawals)
        table.row({base::to_text(one.amount), std::to_string(one.block),
                   blocks_text(blocks_to(height, one.block), pace_ms)});
    out << '\n';
    table.print(out);
}

}  // namespace

Json stake_json(const StakeView& stake, std::uint64_t height, const std::optional<double>& pace_ms) {
    std::vector<TimedWithdrawal> timed;
    for (const WithdrawalView& one : stake.withdrawals) {
        const std::uint64_t left = blocks_to(height, one.block);
        timed.push_back({one, left, hours_of(left, pace_ms)});
    }
    JsonFields body;
    body("height", height);
    stake.fields(body);
    body("withdrawals", timed);
    return body.take();
}

void print_stake(std::ostream& out, const StakeView& stake, std::uint64_t height,
                 const std::optional<double>& pace_ms) {
    std::vector<std::pair<std::string, std::string>> fields = {
        {"node key", stake.node.hex()},
        {"owner", stake.owner.hex()},
        {"registered as", roles_text(stake)},
        {"revoked", stake.revoked ? "yes: it signs nothing more" : "no"},
        {"free", base::to_text(stake.free)},
        {"bonded", base::to_text(stake.bonded)}};
    for (const StakeDepositView& deposit : stake.deposits)
        fields.emplace_back("deposit", deposit_text(deposit));
    fields.emplace_back("unbonding", unbonding_text(stake));
    for (const std::string& role : stake.roles) {
        if (role == "miner") fields.emplace_back("forfeited", base::to_text(stake.forfeited) + " as a miner");
        if (role == "verifier")
            fields.emplace_back("penalised", base::to_text(stake.penalised) + " as a verifier");
    }
    fields.emplace_back("at", "block " + std::to_string(height));
    print_fields(out, fields);
    print_locks(out, stake);
    print_withdrawals(out, stake, height, pace_ms);
}

std::string bonded_text(const StakeView& stake) {
    if (stake.bonded.is_zero()) return {};
    std::string text = base::to_text(stake.bonded) + " is bonded";
    for (std::size_t i = 0; i < stake.locks.size(); ++i) {
        if (i == kLocksNamed) {
            text += ", and " + std::to_string(stake.locks.size() - i) + " more";
            break;
        }
        const StakeLock& lock = stake.locks[i];
        text += (i == 0 ? " (" : ", ") + base::to_text(lock.amount) + " by " + lock.what() + " of job " +
                lock.job.brief() + " until " + lock.freed();
    }
    return stake.locks.empty() ? text : text + ")";
}

std::string not_free_text(const StakeView& stake, bool all, base::Amount amount) {
    std::string text = all ? "nothing of the stake of node key " + stake.node.brief() + " is free"
                           : base::to_text(stake.free) + " of the stake of node key " + stake.node.brief() +
                                 " is free, less than " + base::to_text(amount);
    if (const std::string bonded = bonded_text(stake); !bonded.empty()) text += "; " + bonded;
    for (const StakeDepositView& deposit : stake.deposits) text += "; " + deposit_text(deposit);
    if (stake.unbonding.count > 0) text += "; " + unbonding_text(stake) + " is on its way to the owner";
    return text;
}

}  // namespace assay::node
