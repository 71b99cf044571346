// SPDX-License-Identifier: Apache-2.0
// Gives the simulator of the market its random numbers. Each is derived from the seed and from its purpose,
// so that it is the same in every scenario.
#pragma once

#include <cstdint>
#include <string_view>

#include "contracts/base/hash.hpp"
#include "node/sim/epochs/sim_key.hpp"

namespace assay::node::sim {

inline base::Hash256 salt_of(const SimKey& key, std::uint64_t epoch) {
    return base::Hasher("assay/sim-market-salt/v1").add(key.public_key().view()).add_u64(epoch).finish();
}

/// A random number for one purpose, such as whether a machine is away in an epoch or a player breaks off.
inline std::uint64_t dice(std::uint64_t seed, std::string_view what, std::uint64_t epoch,
                          std::uint64_t number) {
    const base::Hash256 hash = base::Hasher("assay/sim-market-dice/v1")
                                   .add_u64(seed)
                                   .add(base::as_bytes(what))
                                   .add_u64(epoch)
                                   .add_u64(number)
                                   .finish();
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) value = value << 8U | hash.view()[i];
    return value;
}

inline bool happens(double chance, std::uint64_t dice) {
    return static_cast<double>(dice >> 11U) * 0x1p-53 < chance;
}

}  // namespace assay::node::sim
