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

/// What an owner says of the machine that it offers.
struct LotTerms {
    program::Profile profile = program::Profile::kF32;  ///< of the jobs that it works for
    base::Amount ask;                                   ///< base units per work unit: the least it works for
    std::uint32_t epochs = 24;                          ///< that an ask stands for
    /// Bits of speed (LotClass::speed) while the ledger has measured none; nothing: as the pace of the slots
    /// that were trained here promises, or none.
    std::optional<std::uint8_t> speed = std::nullopt;
    std::uint8_t memory = 0;   ///< LotClass::memory
    std::uint8_t network = 0;  ///< LotClass::network
};

/// Bits of a size as a class has them: 5 for 16 to 31.
std::uint8_t class_bits(std::uint64_t size);

/// Bits of the speed that the pace measured here promises, in blocks of so many milliseconds. An eighth of
/// the quickest pace of the profile: a round is also fetching and waiting. A class that is missed by two bits
/// costs a deposit, one that is too slow is left after the first round. Nothing where no slot was trained
/// here, or blocks say nothing of time (0).
std::optional<std::uint8_t> expected_speed(const MinerPace& pace, program::Profile profile,
                                           std::uint64_t block_ms);

/// The class in which the machine is offered: at its verified speed, where there is one.
contracts::LotClass class_of(const contracts::StateView& state, const base::PublicKey& node,
                             const LotTerms& terms);

enum class LotStep : std::uint8_t { kNone, kSeal, kOpen, kWithdraw };

/// What the node does next with its lot. `terms`: nothing where it offers none. What is sealed is opened
/// either way, since its deposit would be burned. An ask that stands in another class or at another price is
/// withdrawn while a new one can be sealed in its place. Where the clock stands still a lot that is left for
/// instant leases stays as it is: a new seal would start an epoch for nothing.
LotStep next_lot_step(const contracts::StateView& state, const base::PublicKey& node,
                      const std::optional<LotTerms>& terms);

/// Heights from `height` until a lot that is sealed next has been worked off.
std::uint64_t lot_lasts(const contracts::StateView& state, std::uint64_t height);

/// Whether the job is one that the node works for, or will: of a job with an auction of its own whoever is in
/// its roster, of one that leases whoever has a lot of it, or a slot in its running round.
bool has_place(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& node);
/// Whether a job with an auction of its own counts on the node: it has a place there, or a sealed ask.
bool is_bound_by_auction(const contracts::StateView& state, const base::PublicKey& node);
/// The job that leases the node now or in the next epoch; nothing: none.
std::optional<base::Hash256> leased_by(const contracts::StateView& state, const base::PublicKey& node);

}  // namespace assay::node
