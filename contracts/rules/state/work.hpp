// SPDX-License-Identifier: Apache-2.0
// The arguments of the two halves of the rules: a read-only check, and the change that follows it. Internal
// to the rules, except BlockContext.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "contracts/base/sign.hpp"
#include "contracts/rules/state/events.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// The chain and height of a block. There is no clock: heights are the only time.
struct BlockContext {
    std::string chain_id;
    std::uint64_t height = 0;
};

/// The height `by` heights after `height`; the largest number when the sum overflows.
inline std::uint64_t later(std::uint64_t height, std::uint64_t by) {
    return by > std::numeric_limits<std::uint64_t>::max() - height ? std::numeric_limits<std::uint64_t>::max()
                                                                   : height + by;
}

using Checked = Result<void, Reason>;

/// What a read-only check may read. Like Work it offers no parameters.
struct Case {
    const StateView& state;
    const BlockContext& block;
    PublicKey sender;  ///< the signing key
    PublicKey owner;   ///< its owner: itself for an owner key
};

/// The sender of a transaction that is carried out; `id` is the transaction's.
struct Sent {
    Hash256 id;
    PublicKey sender;
    PublicKey owner;
};

/// The work on the state of one transaction or of one beginning of a block. It offers no parameters: those of
/// a job are params_of(state, job), and only what belongs to no job reads the current ones.
struct Work {
    State& state;
    const BlockContext& block;
    Events events;

    Work(State& target, const BlockContext& at) : state(target), block(at) {}
    void tell(Event event) { events.push_back(std::move(event)); }
};

}  // namespace assay::contracts
