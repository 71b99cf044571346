// SPDX-License-Identifier: Apache-2.0
// Gives the miner role what it does with its machine in the market between jobs (decision 86), as functions
// of the state: in which class it offers, when it seals, opens and withdraws its lot, and which job its lot
// binds it to.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/tables.hpp"
#include "node/roles/miner_power.hpp"

namespace assay::node {

/// Epochs that an ask stands for at most.
inline constexpr std::uint32_t kMostLotEpochs = contracts::kMaxStanding;

/// An owner's terms for the machine that it offers.
struct LotTerms {
    program::Profile profile = program::Profile::kF32;  ///< arithmetic of the jobs that it works for
    base::Amount ask;                                   ///< base units per work unit: the least it works for
    std::uint32_t epochs = 24;                          ///< that an ask stands for
    /// Bits of speed (LotClass::speed) to offer while the ledger has measured none. Nothing: as expected from
    /// the pace of slots trained here; without such a pace, none.
    std::optional<std::uint8_t> speed = std::nullopt;
    std::uint8_t memory = 0;   ///< LotClass::memory
    std::uint8_t network = 0;  ///< LotClass::network
};

/// Number of bits of `size`, as a class states it: 5 for 16 to 31.
std::uint8_t class_bits(std::uint64_t size);

/// Bits of speed expected from the pace measured here, for blocks of `block_ms` milliseconds: an eighth of
/// the profile's quickest pace, since a round also fetches and waits. A low estimate is the cheaper error:
/// missing the offered class by two bits costs a deposit, while a class that is too slow is left after the
/// first round. Nothing when no slot was trained here, or when `block_ms` is 0 (blocks tell no time).
std::optional<std::uint8_t> expected_speed(const MinerPace& pace, program::Profile profile,
                                           std::uint64_t block_ms);

/// The class in which the machine is offered: at its verified speed if there is one.
contracts::LotClass class_of(const contracts::StateView& state, const base::PublicKey& node,
                             const LotTerms& terms);

enum class LotStep : std::uint8_t { kNone, kSeal, kOpen, kWithdraw };

/// What the node does next with its lot. `terms`: nothing when it offers none. A sealed ask is opened in any
/// case, since its deposit would be burned. A standing ask of another class or price is withdrawn while a new
/// one can be sealed in its place. While the market's clock stands still, a lot that is left for instant
/// leases stays as it is: a new seal would start an epoch for nothing.
LotStep next_lot_step(const contracts::StateView& state, const base::PublicKey& node,
                      const std::optional<LotTerms>& terms);

/// Number of heights from `height` to the end of the epoch of a lot that is sealed next.
std::uint64_t lot_lasts(const contracts::StateView& state, std::uint64_t height);

/// Whether the node works for the job, or will. For a job with its own auction: the node is in the roster.
/// For a job that leases: it has a lot leased to the job, or a slot in the running round.
bool has_place(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& node);
/// Whether some job with its own auction counts on the node: the node has a place there, or an ask in a
/// running auction.
bool is_bound_by_auction(const contracts::StateView& state, const base::PublicKey& node);
/// The job that leases the node now or in the next epoch; nothing: none.
std::optional<base::Hash256> leased_by(const contracts::StateView& state, const base::PublicKey& node);

}  // namespace assay::node
