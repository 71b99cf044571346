// SPDX-License-Identifier: Apache-2.0
// Gives roles how an attempt to fetch a blob ended.
#pragma once

#include <cstdint>
#include <utility>

#include "contracts/base/error.hpp"

namespace assay::node {

/// Whose doing it is that a blob did not come. Only the first says something about those who should serve it.
enum class FetchFault : std::uint8_t {
    kNotServed,  ///< no holder gave it, or what they gave is not it
    kOwnStore,   ///< our own store could not take it: its quota, its disk
    kStopped,    ///< we gave up
};
struct FetchFailure : base::Error {
    FetchFailure(base::Error why, FetchFault whose = FetchFault::kNotServed)
        : base::Error(std::move(why)), fault(whose) {}
    FetchFault fault;
};
using FetchEnd = base::Result<void, FetchFailure>;

}  // namespace assay::node
