// SPDX-License-Identifier: Apache-2.0
// What the state stores about the market between jobs, for the rules and every reader of the state (decision
// 86). Keys: market/tables.hpp.
#pragma once

#include <compare>
#include <cstdint>

#include "contracts/base/amount.hpp"
#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;
using base::PublicKey;

/// What makes lots alike. Each size is a number of bits: 5 stands for 16 to 31.
struct LotClass {
    program::Profile profile = program::Profile::kF32;
    std::uint8_t speed = 0;    ///< of the node's verified speed, in thousandths of a work unit per height
    std::uint8_t memory = 0;   ///< of GiB that a job may take, as its miner states
    std::uint8_t network = 0;  ///< of Mbit/s, as its miner states
    friend auto operator<=>(const LotClass&, const LotClass&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.profile, self.speed, self.memory, self.network);
    }
};

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
    bool instant = false;  ///< taken at the base price behind the clearing
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.owner, self.job, self.kind, self.price, self.epoch, self.from, self.until,
              self.instant);
    }
};

}  // namespace assay::contracts
