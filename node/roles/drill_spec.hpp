// SPDX-License-Identifier: Apache-2.0
// Gives commands and roles DrillSpec, a planted fault as text: "round=1,segment=2,kind=lazy" or
// "miner=2,round=3,tensor=NAME,index=I,bit=B". Rounds, segments and elements count from 0; miners from 1, as
// the demo's table numbers them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "contracts/program/job_spec.hpp"
#include "node/roles/miner.hpp"

namespace assay::node {

struct DrillSpec {
    std::optional<std::uint32_t> miner;  ///< the miner that shows it, when several are meant
    PlannedDrill planned;
};

/// Keys: miner, round, segment (default 0), kind (worker::drill_rows; default flip), tensor, index, bit,
/// step (of the segment), operator (default 0). kUsage names the key that is unknown, repeated, missing or
/// out of range, with an example.
base::Outcome<DrillSpec> parse_drill(std::string_view text);

/// The kinds, for a command's help.
std::string drill_kinds();

/// The planned drill as text, without the miner.
std::string to_text(const PlannedDrill& planned);

/// kUsage when the job has no such round, segment, tensor, operator or element; lists the nearest names.
base::Outcome<void> check_drill(const PlannedDrill& planned, const program::JobSpec& spec);

}  // namespace assay::node
