// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/validators.hpp"

namespace assay::contracts {

std::uint64_t ValidatorSet::power_of(const PublicKey& key) const {
    for (const Validator& validator : validators) {
        if (validator.key == key) return validator.power;
    }
    return 0;
}

std::uint64_t ValidatorSet::total_power() const {
    std::uint64_t total = 0;
    for (const Validator& validator : validators) total += validator.power;
    return total;
}

std::optional<std::string> check_validators(const ValidatorSet& set) {
    const auto& all = set.validators;
    if (all.empty()) return "there is no validator";
    if (all.size() > kMaxValidators) return "at most " + std::to_string(kMaxValidators) + " validators";
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i > 0 && !(all[i - 1].key < all[i].key)) return "validators must ascend by key";
        if (all[i].power == 0) return "a validator's power must be above zero";
        if (all[i].power > kMaxTotalPower - total) return "the validators' powers add up to too much";
        total += all[i].power;
    }
    return std::nullopt;
}

}  // namespace assay::contracts
