// SPDX-License-Identifier: Apache-2.0
// Names of the notes that roles keep about a job. Two jobs never share a name, whoever submits them: it has
// the whole id. Of a part of it whoever submits jobs finds two that are alike (half of 64 bits takes hours),
// and what was noted for one would be sent for the other.
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
