// SPDX-License-Identifier: Apache-2.0
// Gives commands about stake what they print of it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "node/views/stake_view.hpp"

namespace assay::node {

/// The members of `stake show`. `height` is that of the state, `pace_ms` as of block_pace_ms.
Json stake_json(const StakeView& stake, std::uint64_t height, const std::optional<double>& pace_ms);
/// The same for people.
void print_stake(std::ostream& out, const StakeView& stake, std::uint64_t height,
                 const std::optional<double>& pace_ms);

/// "9 ASY is bonded (4 ASY by 2 slots in the claim window of job 1a2b3c4d, until block 312)"; empty when
/// nothing is.
std::string bonded_text(const StakeView& stake);

/// Why `amount`, or anything where `all` is set, cannot be withdrawn. REQUIRES that less is free.
std::string not_free_text(const StakeView& stake, bool all, base::Amount amount);

}  // namespace assay::node
