// SPDX-License-Identifier: Apache-2.0
// What the mutating half of the rules works with. Internal.
#pragma once

#include <cstdint>
#include <limits>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/store.hpp"

namespace assay::contracts {

/// The height `by` heights after `height`; the last one there is when that is no height any more.
inline std::uint64_t later(std::uint64_t height, std::uint64_t by) {
    return by > std::numeric_limits<std::uint64_t>::max() - height ? std::numeric_limits<std::uint64_t>::max()
                                                                   : height + by;
}

/// One transaction's or one block beginning's work on the state. It offers no parameters: those of a job are
/// params_of(state, job), and only what belongs to no job reads the current ones.
struct Work {
    State& state;
    const BlockContext& block;
    Events events;

    Work(State& target, const BlockContext& at) : state(target), block(at) {}
    void tell(Event event) { events.push_back(std::move(event)); }
};

}  // namespace assay::contracts
