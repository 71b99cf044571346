// SPDX-License-Identifier: Apache-2.0
// Gives roles how an attempt to fetch a blob ended.
#pragma once

#include <cstdint>
#include <utility>

#include "contracts/base/error.hpp"

namespace assay::node {

/// Whose doing it is that a blob did not come. Only kNotServed says at once that a holder did not serve it.
enum class FetchFault : std::uint8_t {
    kNotServed,     ///< no holder gave it, or what they gave is not it
    kBusy,          ///< a holder, or the memory quota of our own clients, was full: it may serve later
    kOwnStore,      ///< our own store could not take it: its quota, its disk
    kOwnMachine,    ///< our own machine could not ask: no file descriptor was left
    kStopped,       ///< we gave up
    kPartsLacking,  ///< what others fetch of a blob that is stored together has not come yet
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
