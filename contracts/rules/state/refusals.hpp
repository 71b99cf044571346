// SPDX-License-Identifier: Apache-2.0
// Says whether the sender of a refused transaction may try again, for everyone who reacts to a refusal.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "contracts/rules/state/reasons.hpp"

namespace assay::contracts {

/// When the same sender and payload, signed again with a current nonce and expiry, may be accepted.
enum class Retry : std::uint8_t {
    kNever = 1,        ///< permanent: whatever happens on the ledger, it is refused again
    kWhenChanged = 2,  ///< temporary: once money arrives, a key is registered, a phase comes, a place is free
    kSoon = 3,         ///< temporary: signed anew, or in a moment; nothing that the sender did is wrong
};

/// Returns nothing for a reason that refuses no transaction.
std::optional<Retry> retry(Reason reason);

/// The reason of a refusal that a node sent as a number. Returns nothing for 0, for a number that this
/// version does not know, and for a reason that refuses no transaction.
std::optional<Reason> refusal_of(std::uint32_t number);

}  // namespace assay::contracts
