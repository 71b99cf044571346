// SPDX-License-Identifier: Apache-2.0
// The validator set: the keys whose signatures make a block count, for engines and for everybody who checks
// a block, and who may feed a job's beacon besides its parties. Genesis names it; nothing changes it yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"

namespace assay::contracts {

using base::PublicKey;

inline constexpr std::size_t kMaxValidators = 128;
/// Of the powers of a set together: three times as much fits 64 bits.
inline constexpr std::uint64_t kMaxTotalPower = 1ULL << 60U;

struct Validator {
    PublicKey key;            ///< a node key: signs blocks, opens beacon links
    std::uint64_t power = 1;  ///< what its vote weighs
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.key, self.power);
    }
    friend bool operator==(const Validator&, const Validator&) = default;
};

/// Ordered by key. One that was decoded is believed after check_validators() only.
struct ValidatorSet {
    std::vector<Validator> validators;

    [[nodiscard]] static ValidatorSet of_one(const PublicKey& key) { return {{{key, 1}}}; }
    /// 0: no validator.
    [[nodiscard]] std::uint64_t power_of(const PublicKey& key) const;
    [[nodiscard]] std::uint64_t total_power() const;
    /// Whether those who hold `power` together decide: they hold more than two thirds.
    [[nodiscard]] bool decides(std::uint64_t power) const { return 3 * power > 2 * total_power(); }

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.validators);
    }
    friend bool operator==(const ValidatorSet&, const ValidatorSet&) = default;
};

/// Nothing when the set is in order: 1 to kMaxValidators keys strictly ascending, powers of 1 at least that
/// add up to kMaxTotalPower at most. Else what is wrong with it.
std::optional<std::string> check_validators(const ValidatorSet& set);

}  // namespace assay::contracts
