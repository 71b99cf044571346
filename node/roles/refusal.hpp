// SPDX-License-Identifier: Apache-2.0
// Gives roles and commands LedgerRefusal, what a node said against a transaction, read by number. Its
// words are for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "contracts/rules/state/refusals.hpp"
#include "node/seams/ledger_service.hpp"

namespace assay::node {

struct LedgerRefusal {
    std::uint32_t number = 0;                 ///< as the node gave it
    std::optional<contracts::Reason> reason;  ///< nothing when this version knows no such refusal
    std::string name;                         ///< "budget_too_small"; the node's own word when not known here

    friend bool operator==(const LedgerRefusal&, const LedgerRefusal&) = default;
};

/// REQUIRES !reply.accepted.
LedgerRefusal refusal_in(const SubmitReply& reply);

/// When the same wish may be accepted; nothing for a reason that is not known here.
std::optional<contracts::Retry> retry(const LedgerRefusal& refusal);

/// "budget_too_small (26): The budget does not cover ….", or that a newer node gave a reason without words
/// here.
std::string describe(const LedgerRefusal& refusal);

/// What a command ends with: kRejected, "the ledger refused WHAT: …". `fix` unless the reason has its own.
base::Error rejected(const LedgerRefusal& refusal, const std::string& what, const std::string& fix);

}  // namespace assay::node
