// SPDX-License-Identifier: Apache-2.0
// Gives everybody that decides on a refusal one answer to what a refused sender may do: try again, or not.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "contracts/rules/state/reasons.hpp"

namespace assay::contracts {

/// When the same wish (sender and payload, signed anew with the nonce and expiry of the day) may be accepted.
enum class Retry : std::uint8_t {
    kNever = 1,        ///< permanent: whatever happens on the ledger, it is refused again
    kWhenChanged = 2,  ///< temporary: once money arrives, a key is registered, a phase comes, a place is free
    kSoon = 3,         ///< temporary: signed anew, or in a moment; nothing that the sender did is wrong
};

/// Nothing for a reason that refuses no transaction.
std::optional<Retry> retry(Reason reason);

/// The reason of a refusal that a node gave by number. Nothing for 0, for a number that this version does not
/// know, and for a reason that refuses nothing.
std::optional<Reason> refusal_of(std::uint32_t number);

}  // namespace assay::contracts
