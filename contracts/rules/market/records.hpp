// SPDX-License-Identifier: Apache-2.0
// What the state stores about the market between jobs, for the rules and every reader of the state (decision
// 86). Keys: market/tables.hpp.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "contracts/base/amount.hpp"
#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;
using base::PublicKey;

/// Lots of one class are alike. Each size is a number of bits: 5 stands for 16 to 31.
struct LotClass {
    program::Profile profile = program::Profile::kF32;
    std::uint8_t speed = 0;    ///< of the node's verified speed, in thousandths of a work unit per height
    std::uint8_t memory = 0;   ///< of the GiB that a job may take, as its miner states
    std::uint8_t network = 0;  ///< of Mbit/s, as its miner states
    friend auto operator<=>(const LotClass&, const LotClass&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.profile, self.speed, self.memory, self.network);
    }
};
/// The largest sizes of a class: the most that measured speeds, memories and networks can be, so that the
/// number of classes is bounded.
inline constexpr std::uint8_t kMaxSpeedBits = 62;
inline constexpr std::uint8_t kMaxMemoryBits = 20;
inline constexpr std::uint8_t kMaxNetworkBits = 24;
constexpr bool is_class(const LotClass& kind) {
    return kind.speed <= kMaxSpeedBits && kind.memory <= kMaxMemoryBits && kind.network <= kMaxNetworkBits;
}
/// The class as one number, as keys and Event::slot contain it.
constexpr std::uint32_t number_of(const LotClass& kind) {
    return std::uint32_t{static_cast<std::uint8_t>(kind.profile)} << 24U | std::uint32_t{kind.speed} << 16U |
           std::uint32_t{kind.memory} << 8U | kind.network;
}

/// A lot that a job has, for heights [from, until).
struct Lease {
    PublicKey node;
    PublicKey owner;
    Hash256 job;
    LotClass kind;
    Amount price;  ///< base units per work unit, paid to the node's owner
    std::uint64_t epoch = 0;
    std::uint64_t from = 0;
    std::uint64_t until = 0;
    bool instant = false;  ///< taken at the base price after the clearing
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.owner, self.job, self.kind, self.price, self.epoch, self.from, self.until,
              self.instant);
    }
};

enum class MarketPhase : std::uint8_t {
    kStopped = 1,  ///< nothing is sealed, leased or waited for; the epoch goes on, and time does not count
    kSealing = 2,  ///< lots and bids for the next epoch are sealed
    kOpening = 3,  ///< they are opened
    kNotice = 4,   ///< the next epoch is cleared; the rest of this one is the notice
};
std::string_view to_text(MarketPhase phase);

/// The progress of the running epoch. A state without this record is in the first epoch, stopped.
struct MarketClock {
    MarketPhase phase = MarketPhase::kStopped;
    std::uint64_t epoch = 1;     ///< the running one
    std::uint64_t start = 0;     ///< its first height
    std::uint64_t open_at = 0;   ///< first height at which seals are opened
    std::uint64_t clear_at = 0;  ///< height whose begin_block clears the next epoch
    std::uint64_t end = 0;       ///< first height of the next epoch
    std::uint32_t lots = 0;      ///< LotAsk records
    std::uint32_t bids = 0;      ///< LotBid records
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.phase, self.epoch, self.start, self.open_at, self.clear_at, self.end, self.lots,
              self.bids);
    }
    /// The height of its entry among the deadlines. REQUIRES that it is not stopped.
    [[nodiscard]] std::uint64_t due() const {
        if (phase == MarketPhase::kSealing) return open_at;
        return phase == MarketPhase::kOpening ? clear_at : end;
    }
};

/// A node's ask: sealed, then standing for a number of epochs.
struct LotAsk {
    PublicKey owner;
    Hash256 seal;
    Amount deposit;       ///< held until it is opened
    bool opened = false;  ///< the rest is said only then
    LotClass kind;
    Amount price;  ///< base units per work unit: the least it works for
    Hash256 salt;
    std::uint32_t epochs = 0;  ///< epochs in which it is still offered
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.owner, self.seal, self.deposit, self.opened, self.kind, self.price, self.salt,
              self.epochs);
    }
};

/// A job's bid for lots of the next epoch, until it is cleared.
struct LotBid {
    PublicKey tenant;  ///< owner of the job
    Hash256 seal;
    Amount deposit;       ///< held until it is opened
    bool opened = false;  ///< the rest is said only then
    LotClass kind;
    std::uint32_t lots = 0;
    Amount price;  ///< base units per work unit: the most it pays
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.tenant, self.seal, self.deposit, self.opened, self.kind, self.lots, self.price, self.salt);
    }
};

/// A job that waits for lots that the next clearing leaves.
struct LotWait {
    PublicKey tenant;
    LotClass kind;
    std::uint32_t lots = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.tenant, self.kind, self.lots);
    }
};

/// A node's lot in one epoch, leased or left.
struct Lot {
    Hash256 job;  ///< the job that leases it; zero when it is left for instant leases
    LotClass kind;
    Amount ask;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.kind, self.ask);
    }
};

/// The base price of a class.
struct ClassBook {
    Amount base_price;             ///< of the last epoch for which it was cleared
    std::uint64_t last_epoch = 0;  ///< that one
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.base_price, self.last_epoch);
    }
};

/// The result of the clearing of a class in one epoch.
struct ClassEpoch {
    Amount base_price;
    std::uint32_t bids = 0;     ///< opened, and covered by their escrow
    std::uint32_t wanted = 0;   ///< lots that these bids wanted
    std::uint32_t offered = 0;  ///< lots
    std::uint32_t above = 0;    ///< offered lots that were not sold and asked more than the base price
    std::uint32_t sold = 0;     ///< by the auction
    std::uint32_t instant = 0;  ///< leased at the base price after the auction
    std::optional<Amount> lowest;
    std::optional<Amount> highest;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.base_price, self.bids, self.wanted, self.offered, self.above, self.sold, self.instant,
              self.lowest, self.highest);
    }
};

/// The lots of a class to which an owner of jobs was entitled, and that it got, in thousandths; both halve
/// each epoch.
struct TenantCount {
    std::uint64_t entitled = 0;
    std::uint64_t received = 0;
    /// The part of its entitlement that it did not get.
    [[nodiscard]] std::uint64_t owed() const { return entitled > received ? entitled - received : 0; }
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.entitled, self.received);
    }
};

/// The bits of a speed in thousandths of a work unit per height, as classes count them.
std::uint8_t bits_of_speed(std::uint64_t speed);

/// What is known about a node's speed in one profile.
struct MachineSpeed {
    /// Verified work units × 1000 per height, of recent rounds that showed something, newest last.
    std::vector<std::uint64_t> speeds;
    Amount deposit;  ///< of a lot whose class was not measured; held until a lease ends after a measurement,
                     ///< or the node has no lot
    std::uint8_t asked = 0;  ///< the bits of speed that its class asked for, while the deposit is held
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.speeds, self.deposit, self.asked);
    }
    /// The bits of its speed; nothing before the first verified round.
    [[nodiscard]] std::optional<std::uint8_t> speed_bits() const;
};

}  // namespace assay::contracts

namespace assay::base {
ASSAY_ENUM_RANGE(contracts::MarketPhase, kStopped, kNotice);
}  // namespace assay::base
