// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/conservation.hpp"

#include <array>

#include "contracts/base/wide.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

using base::Int128;

namespace {

constexpr std::array kBuckets = {&Supply::balances, &Supply::escrow,    &Supply::stake,
                                 &Supply::bonds,    &Supply::unbonding, &Supply::deposits,
                                 &Supply::prepaid,  &Supply::treasury,  &Supply::burned};
constexpr std::array<std::string_view, kBuckets.size()> kNames = {
    "balances", "escrow", "stake", "bonds", "unbonding", "deposits", "prepaid", "treasury", "burned"};
/// The last two have no records: the running total is all there is of them.
constexpr std::size_t kRecorded = kBuckets.size() - 2;

using Totals = std::array<Int128, kRecorded>;

Result<void, Violation> add(Totals& totals, ByteView key, const std::optional<Bytes>& value, int sign) {
    if (!value) return {};
    ASSAY_ASSIGN(const Supply held, money_in(key, *value));
    for (std::size_t i = 0; i < kRecorded; ++i)
        totals[i] += Int128{sign} * Int128{(held.*kBuckets[i]).units()};
    return {};
}

template <class T, auto Fill>
Result<Supply, Violation> money_of(ByteView value) {
    const auto record = base::decode<T>(value);
    if (!record) return failed(Violation{"a record does not decode"});
    Supply held;
    Fill(*record, held);
    return held;
}

using MoneyReader = Result<Supply, Violation> (*)(ByteView value);

/// What reads the money of a table's records; null where they hold none.
MoneyReader reader_of(Table table) {
    switch (table) {
        case Table::kAccount:
            return &money_of<Account, [](const Account& a, Supply& s) { s.balances = a.balance; }>;
        case Table::kStake:
            return &money_of<Stake, [](const Stake& stake, Supply& s) {
                s.stake = stake.free;
                s.bonds = stake.bonded;
            }>;
        case Table::kUnbonding:
            return &money_of<Unbonding, [](const Unbonding& u, Supply& s) { s.unbonding = u.amount; }>;
        case Table::kMiner: return &money_of<Miner, [](const Miner& m, Supply& s) { s.prepaid = m.prepaid; }>;
        case Table::kJobProgress:
            return &money_of<JobProgress, [](const JobProgress& j, Supply& s) { s.escrow = j.escrow; }>;
        case Table::kBeaconMember:
            // A node's link bond is part of its bonded stake.
            return &money_of<BeaconMember, [](const BeaconMember& m, Supply& s) {
                if (m.role == BeaconRole::kBuyer) s.escrow = m.bond;
            }>;
        case Table::kBeaconLink:
            return &money_of<BeaconLink, [](const BeaconLink& l, Supply& s) { s.escrow = l.held; }>;
        case Table::kClaim:
            return &money_of<Claim,
                             [](const Claim& c, Supply& s) { s.escrow = saturating_sum(c.held, c.fees()); }>;
        case Table::kAsk: return &money_of<Ask, [](const Ask& a, Supply& s) { s.deposits = a.deposit; }>;
        case Table::kLotAsk:
            return &money_of<LotAsk, [](const LotAsk& a, Supply& s) { s.deposits = a.deposit; }>;
        case Table::kLotBid:
            return &money_of<LotBid, [](const LotBid& b, Supply& s) { s.deposits = b.deposit; }>;
        case Table::kMachine:
            return &money_of<MachineSpeed, [](const MachineSpeed& m, Supply& s) { s.deposits = m.deposit; }>;
        default: return nullptr;
    }
}

bool holds_no_money(ByteView key) {
    return !key.empty() && reader_of(static_cast<Table>(key.front())) == nullptr;
}

}  // namespace

Result<Supply, Violation> money_in(ByteView key, ByteView value) {
    if (key.empty()) return failed(Violation{"an empty key"});
    const MoneyReader read = reader_of(static_cast<Table>(key.front()));
    return read != nullptr ? read(value) : Supply{};
}

std::optional<Amount> total(const Supply& supply) {
    std::optional<Amount> result = Amount{};
    for (const auto bucket : kBuckets) {
        if (result) result = result->plus(supply.*bucket);
    }
    return result;
}

Result<void, Violation> check_changes(const StateView& before, const Overlay& changes) {
    Totals moved{};
    for (const auto& [key, value] : changes.changes()) {
        if (holds_no_money(key)) continue;  // most of what a block writes: not worth reading what was there
        ASSAY_TRY(add(moved, key, before.get(key), -1));
        ASSAY_TRY(add(moved, key, value, 1));
    }
    const Supply old = read_supply(before);
    const Supply now = read_supply(changes);
    for (std::size_t i = 0; i < kRecorded; ++i) {
        const Int128 meant = Int128{(now.*kBuckets[i]).units()} - Int128{(old.*kBuckets[i]).units()};
        if (meant != moved[i]) {
            return failed(Violation{"records and running total differ in " + std::string(kNames[i])});
        }
    }
    if (now.minted != old.minted || total(now) != now.minted) {
        return failed(Violation{"the buckets do not add up to what was minted"});
    }
    if (now.burned < old.burned) return failed(Violation{"burned money came back"});
    return {};
}

Result<void, Violation> check_supply(const StateView& state) {
    Totals sums{};
    for (const Table table : {Table::kAccount, Table::kStake, Table::kUnbonding, Table::kMiner,
                              Table::kJobProgress, Table::kBeaconMember, Table::kBeaconLink, Table::kClaim,
                              Table::kAsk, Table::kLotAsk, Table::kLotBid, Table::kMachine}) {
        Result<void, Violation> added;
        const Bytes prefix = table_prefix(table);
        state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
            added = add(sums, key, base::to_bytes(value), 1);
            return added.ok();
        });
        ASSAY_TRY(added);
    }
    const Supply supply = read_supply(state);
    for (std::size_t i = 0; i < kRecorded; ++i) {
        if (sums[i] != Int128{(supply.*kBuckets[i]).units()}) {
            return failed(
                Violation{"the records do not add up to the running total of " + std::string(kNames[i])});
        }
    }
    if (total(supply) != supply.minted) {
        return failed(Violation{"the buckets do not add up to what was minted"});
    }
    return {};
}

}  // namespace assay::contracts
