// SPDX-License-Identifier: Apache-2.0
// Gives the market's outlooks FittingLots, which counts lots by the first property that does not fit a job.
#pragma once

#include <cstdint>
#include <string>

#include "contracts/rules/tables.hpp"

namespace assay::node {

/// Lots that stand or are left, each counted at the first of these properties, in this order, that does not
/// fit the job.
struct FittingLots {
    std::uint64_t fit = 0;
    std::uint64_t other_profile = 0, too_slow = 0, too_little_memory = 0, too_little_network = 0;
    std::uint64_t above_cap = 0;  ///< of a class whose next base price is above the job's cap

    [[nodiscard]] std::uint64_t all() const {
        return fit + other_profile + too_slow + too_little_memory + too_little_network + above_cap;
    }
    template <class Visit>
    void fields(Visit& visit) const {
        visit("fit", fit);
        visit("other_profile", other_profile);
        visit("too_slow", too_slow);
        visit("too_little_memory", too_little_memory);
        visit("too_little_network", too_little_network);
        visit("above_cap", above_cap);
    }
};

/// The count to which a lot of the class belongs: that of the first of profile, speed, memory, network and
/// cap that does not fit the job, else `fit`. `price`: base units per work unit.
std::uint64_t& bin_of(FittingLots& lots, const contracts::JobTerms& job, const contracts::LotClass& kind,
                      base::Amount price);

/// "4 lots stand or are left, 1 in classes that do, 3 too slow". `sealed`: number of lots whose classes are
/// not known yet.
std::string breakdown(const FittingLots& lots, std::uint64_t sealed);

/// "1 lot", "2 lots".
std::string counted(std::uint64_t count, const char* what);

}  // namespace assay::node
