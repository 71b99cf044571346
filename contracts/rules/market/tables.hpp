// SPDX-License-Identifier: Apache-2.0
// The keys and readers of the market between jobs, for rules and readers of the state. A reader returns
// nothing when there is no such record. Leases: leases.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/rules/market/params.hpp"
#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

using base::Bytes;
using base::ByteView;

Bytes market_clock_key();
Bytes market_params_key();
Bytes lot_ask_key(const PublicKey& node);
Bytes lot_bid_key(const Hash256& job);
Bytes lot_key(std::uint64_t epoch, const PublicKey& node);
Bytes lot_left_key(std::uint64_t epoch, const LotClass& kind, Amount ask, const PublicKey& node);
Bytes class_book_key(const LotClass& kind);
Bytes class_epoch_key(const LotClass& kind, std::uint64_t epoch);
Bytes tenant_key(const PublicKey& owner, const LotClass& kind);
Bytes machine_key(const PublicKey& node, program::Profile profile);
Bytes lot_wait_key(const Hash256& job);
Bytes seal_cost_key(const Hash256& job);

/// The class that four bytes of a key encode.
LotClass class_in(ByteView part);
PublicKey node_in(ByteView part);

MarketClock read_market_clock(const StateView& state);
MarketParams read_market_params(const StateView& state);
std::optional<LotAsk> read_lot_ask(const StateView& state, const PublicKey& node);
std::optional<LotBid> read_lot_bid(const StateView& state, const Hash256& job);
std::optional<LotWait> read_lot_wait(const StateView& state, const Hash256& job);
std::optional<Lot> read_lot(const StateView& state, std::uint64_t epoch, const PublicKey& node);
std::optional<ClassBook> read_class_book(const StateView& state, const LotClass& kind);
std::optional<ClassEpoch> read_class_epoch(const StateView& state, const LotClass& kind, std::uint64_t epoch);
TenantCount read_tenant(const StateView& state, const PublicKey& owner, const LotClass& kind);
MachineSpeed read_machine(const StateView& state, const PublicKey& node, program::Profile profile);
/// The part of the job's escrow that a sealed bid holds, or that was burned with one. It counts as spent.
Amount read_seal_cost(const StateView& state, const Hash256& job);

// Listing, ascending by key.
std::vector<std::pair<PublicKey, LotAsk>> list_lot_asks(const StateView& state);
std::vector<std::pair<Hash256, LotBid>> list_lot_bids(const StateView& state);
std::vector<std::pair<Hash256, LotWait>> list_lot_waits(const StateView& state);
std::vector<std::pair<LotClass, ClassBook>> list_class_books(const StateView& state);
/// Epochs of the class, ascending.
std::vector<std::pair<std::uint64_t, ClassEpoch>> list_class_epochs(const StateView& state,
                                                                    const LotClass& kind);
/// The lots of an epoch. Only the running epoch and the next have any.
std::vector<std::pair<PublicKey, Lot>> list_lots(const StateView& state, std::uint64_t epoch);
/// The lots that are left for instant leases of the epoch, cheapest first, at most `most` of them.
std::vector<PublicKey> list_lots_left(const StateView& state, std::uint64_t epoch, const LotClass& kind,
                                      std::size_t most);

}  // namespace assay::contracts
