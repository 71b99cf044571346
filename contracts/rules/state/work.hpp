// SPDX-License-Identifier: Apache-2.0
// Gives the two halves of the rules what they work with: a read-only check and the change that follows it.
// Internal to the rules, but for BlockContext.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "contracts/base/sign.hpp"
#include "contracts/rules/state/events.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// Where a block stands. No clock: heights are the only time.
struct BlockContext {
    std::string chain_id;
    std::uint64_t height = 0;
};

/// The height `by` heights after `height`; the last one there is when that is no height any more.
inline std::uint64_t later(std::uint64_t height, std::uint64_t by) {
    return by > std::numeric_limits<std::uint64_t>::max() - height ? std::numeric_limits<std::uint64_t>::max()
                                                                   : height + by;
}

using Checked = Result<void, Reason>;

/// What a read-only check may know. Like Work it offers no parameters.
struct Case {
    const StateView& state;
    const BlockContext& block;
    PublicKey sender;  ///< the signing key
    PublicKey owner;   ///< its owner: itself for an owner key
};

/// Who sent a transaction that is carried out; `id` of the transaction.
struct Sent {
    Hash256 id;
    PublicKey sender;
    PublicKey owner;
};

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
