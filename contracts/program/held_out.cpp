// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/held_out.hpp"

#include <algorithm>
#include <set>

#include "contracts/base/wide.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::program {

std::vector<std::uint64_t> drawn_held_out(const base::Hash256& beacon, std::uint64_t available) {
    std::set<std::uint64_t> drawn;
    const std::uint64_t count = std::min(kHeldOutSequences, available);
    for (std::uint64_t j = available - count; j < available; ++j) {
        const base::Hash256 hash = base::Hasher("assay/held-out/v1").add(beacon).add_u64(j).finish();
        std::uint64_t number = 0;
        for (int byte = 7; byte >= 0; --byte)
            number = (number << 8) | hash.bytes[static_cast<std::size_t>(byte)];
        const auto t = static_cast<std::uint64_t>((base::Uint128{number} * (j + 1)) >> 64);
        if (!drawn.insert(t).second) drawn.insert(j);
    }
    return {drawn.begin(), drawn.end()};
}

}  // namespace assay::program
