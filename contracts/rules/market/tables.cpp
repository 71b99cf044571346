// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/tables.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

constexpr int kClassBytes = 4;

Hash256 hash_in(ByteView part) { return base::hash_from(part.first(32)); }

template <class Record, class Name>
auto list_named(const StateView& state, Table table, Name name) {
    std::vector<std::pair<decltype(name(ByteView{})), Record>> found;
    const Bytes prefix = table_prefix(table);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        found.emplace_back(name(key.subspan(1)), stored<Record>(value));
        return true;
    });
    return found;
}

Bytes of_class(Table table, const LotClass& kind) {
    return KeyBuilder(table).add_number(number_of(kind), kClassBytes).take();
}

}  // namespace

Bytes market_clock_key() { return table_prefix(Table::kMarketClock); }
Bytes market_params_key() { return table_prefix(Table::kMarketParams); }
Bytes lot_ask_key(const PublicKey& node) { return KeyBuilder(Table::kLotAsk).add(node.view()).take(); }
Bytes lot_bid_key(const Hash256& job) { return KeyBuilder(Table::kLotBid).add(job.view()).take(); }
Bytes lot_key(std::uint64_t epoch, const PublicKey& node) {
    return KeyBuilder(Table::kLot).add_number(epoch, 8).add(node.view()).take();
}
Bytes lot_left_key(std::uint64_t epoch, const LotClass& kind, Amount ask, const PublicKey& node) {
    return KeyBuilder(Table::kLotLeft)
        .add_number(epoch, 8)
        .add_number(number_of(kind), kClassBytes)
        .add_number(ask.units(), 8)
        .add(node.view())
        .take();
}
Bytes class_book_key(const LotClass& kind) { return of_class(Table::kClassBook, kind); }
Bytes class_epoch_key(const LotClass& kind, std::uint64_t epoch) {
    return KeyBuilder(Table::kClassEpoch)
        .add_number(number_of(kind), kClassBytes)
        .add_number(epoch, 8)
        .take();
}
Bytes tenant_key(const PublicKey& owner, const LotClass& kind) {
    return KeyBuilder(Table::kTenant).add(owner.view()).add_number(number_of(kind), kClassBytes).take();
}
Bytes machine_key(const PublicKey& node, program::Profile profile) {
    return KeyBuilder(Table::kMachine)
        .add(node.view())
        .add_number(static_cast<std::uint64_t>(profile), 1)
        .take();
}
Bytes lot_wait_key(const Hash256& job) { return KeyBuilder(Table::kLotWait).add(job.view()).take(); }
Bytes seal_cost_key(const Hash256& job) { return KeyBuilder(Table::kSealCost).add(job.view()).take(); }

LotClass class_in(ByteView part) {
    LotClass kind;
    kind.profile = static_cast<program::Profile>(part[0]);
    kind.speed = part[1];
    kind.memory = part[2];
    kind.network = part[3];
    return kind;
}

PublicKey node_in(ByteView part) { return PublicKey{hash_in(part).bytes}; }

MarketClock read_market_clock(const StateView& state) {
    return load<MarketClock>(state, market_clock_key()).value_or(MarketClock{});
}
MarketParams read_market_params(const StateView& state) {
    return required(load<MarketParams>(state, market_params_key()));
}
std::optional<LotAsk> read_lot_ask(const StateView& state, const PublicKey& node) {
    return load<LotAsk>(state, lot_ask_key(node));
}
std::optional<LotBid> read_lot_bid(const StateView& state, const Hash256& job) {
    return load<LotBid>(state, lot_bid_key(job));
}
std::optional<LotWait> read_lot_wait(const StateView& state, const Hash256& job) {
    return load<LotWait>(state, lot_wait_key(job));
}
std::optional<Lot> read_lot(const StateView& state, std::uint64_t epoch, const PublicKey& node) {
    return load<Lot>(state, lot_key(epoch, node));
}
std::optional<ClassBook> read_class_book(const StateView& state, const LotClass& kind) {
    return load<ClassBook>(state, class_book_key(kind));
}
std::optional<ClassEpoch> read_class_epoch(const StateView& state, const LotClass& kind,
                                           std::uint64_t epoch) {
    return load<ClassEpoch>(state, class_epoch_key(kind, epoch));
}
TenantCount read_tenant(const StateView& state, const PublicKey& owner, const LotClass& kind) {
    return load<TenantCount>(state, tenant_key(owner, kind)).value_or(TenantCount{});
}
MachineSpeed read_machine(const StateView& state, const PublicKey& node, program::Profile profile) {
    return load<MachineSpeed>(state, machine_key(node, profile)).value_or(MachineSpeed{});
}
Amount read_seal_cost(const StateView& state, const Hash256& job) {
    return load<Amount>(state, seal_cost_key(job)).value_or(Amount{});
}

std::vector<std::pair<PublicKey, LotAsk>> list_lot_asks(const StateView& state) {
    return list_named<LotAsk>(state, Table::kLotAsk, node_in);
}
std::vector<std::pair<Hash256, LotBid>> list_lot_bids(const StateView& state) {
    return list_named<LotBid>(state, Table::kLotBid, hash_in);
}
std::vector<std::pair<Hash256, LotWait>> list_lot_waits(const StateView& state) {
    return list_named<LotWait>(state, Table::kLotWait, hash_in);
}
std::vector<std::pair<LotClass, ClassBook>> list_class_books(const StateView& state) {
    return list_named<ClassBook>(state, Table::kClassBook, class_in);
}
std::vector<std::pair<std::uint64_t, ClassEpoch>> list_class_epochs(const StateView& state,
                                                                    const LotClass& kind) {
    std::vector<std::pair<std::uint64_t, ClassEpoch>> found;
    const Bytes prefix = of_class(Table::kClassEpoch, kind);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        found.emplace_back(number_in(key.subspan(1 + kClassBytes)), stored<ClassEpoch>(value));
        return true;
    });
    return found;
}

std::vector<PublicKey> list_lots_left(const StateView& state, std::uint64_t epoch, const LotClass& kind,
                                      std::size_t most) {
    std::vector<PublicKey> found;
    const Bytes prefix =
        KeyBuilder(Table::kLotLeft).add_number(epoch, 8).add_number(number_of(kind), kClassBytes).take();
    state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
        if (found.size() == most) return false;
        found.push_back(node_in(key.subspan(key.size() - 32)));
        return true;
    });
    return found;
}

std::vector<std::pair<PublicKey, Lot>> list_lots(const StateView& state, std::uint64_t epoch) {
    std::vector<std::pair<PublicKey, Lot>> found;
    const Bytes prefix = KeyBuilder(Table::kLot).add_number(epoch, 8).take();
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        found.emplace_back(node_in(key.subspan(prefix.size())), stored<Lot>(value));
        return true;
    });
    return found;
}

}  // namespace assay::contracts
