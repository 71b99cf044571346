// SPDX-License-Identifier: Apache-2.0
// Gives roles the names of the notes that they keep about a job. A name has the whole id of its job, so that
// two jobs never share one. Whoever submits jobs can find two whose ids begin alike: of 64 bits that takes
// hours. One job's note would then be read for the other.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "contracts/base/hash.hpp"

namespace assay::node {

/// `kind`, the job's id, and the numbers behind it: "slot-JOB-ROUND-SLOT".
inline std::string job_note(std::string_view kind, const base::Hash256& job,
                            std::initializer_list<std::uint64_t> numbers = {}) {
    std::string name = std::string(kind) + "-" + job.hex();
    for (const std::uint64_t number : numbers) name += "-" + std::to_string(number);
    return name;
}

}  // namespace assay::node
