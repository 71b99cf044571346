// SPDX-License-Identifier: Apache-2.0
// Gives roles FetchEnd, how an attempt to fetch a blob ended.
#pragma once

#include <cstdint>
#include <utility>

#include "contracts/base/error.hpp"

namespace assay::node {

/// The cause of a failed fetch. Only kNotServed alone means that a holder did not serve the blob.
enum class FetchFault : std::uint8_t {
    kNotServed,     ///< no holder gave it, or what they gave is something else
    kBusy,          ///< a holder had no room, or our clients' memory quota was used up: it may serve later
    kOwnStore,      ///< our own store could not take it: its quota, its disk
    kOwnMachine,    ///< our own machine could not ask: no file descriptor was left
    kStopped,       ///< we gave up
    kPartsLacking,  ///< several parties store the blob together, and the others' parts have not come yet
};
struct FetchFailure : base::Error {
    FetchFailure(base::Error why, FetchFault whose = FetchFault::kNotServed)
        : base::Error(std::move(why)), fault(whose) {}
    FetchFault fault;
};
using FetchEnd = base::Result<void, FetchFailure>;
template <class T>
using FetchOutcome = base::Result<T, FetchFailure>;

}  // namespace assay::node
