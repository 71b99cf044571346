// SPDX-License-Identifier: Apache-2.0
// The validator set: the keys whose signatures make a block valid. Engines and everyone who checks a block
// use it. Validators may also feed a job's beacon, besides the job's parties. Genesis names the set; nothing
// changes it yet.
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
/// The largest sum of the powers of a set: three times this fits 64 bits.
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

/// Ordered by key. Trust a decoded set only after check_validators().
struct ValidatorSet {
    std::vector<Validator> validators;

    [[nodiscard]] static ValidatorSet of_one(const PublicKey& key) { return {{{key, 1}}}; }
    /// The power of the key; 0 when it is no validator.
    [[nodiscard]] std::uint64_t power_of(const PublicKey& key) const;
    [[nodiscard]] std::uint64_t total_power() const;
    /// Whether validators that together hold `power` decide: they hold more than two thirds.
    [[nodiscard]] bool decides(std::uint64_t power) const { return 3 * power > 2 * total_power(); }

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.validators);
    }
    friend bool operator==(const ValidatorSet&, const ValidatorSet&) = default;
};

/// Returns nothing when the set is in order: 1 to kMaxValidators keys, strictly ascending, and powers of at
/// least 1 that add up to at most kMaxTotalPower. Otherwise returns what is wrong with it.
std::optional<std::string> check_validators(const ValidatorSet& set);

}  // namespace assay::contracts
