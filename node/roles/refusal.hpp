// SPDX-License-Identifier: Apache-2.0
// Gives roles and commands LedgerRefusal, a node's reason to refuse a transaction. Programs read its number;
// its name is for people.
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
    std::string name;                         ///< "budget_too_small"; the node's own text when not known here

    friend bool operator==(const LedgerRefusal&, const LedgerRefusal&) = default;
};

/// REQUIRES !reply.accepted.
LedgerRefusal refusal_in(const SubmitReply& reply);

/// When the same wish may be accepted; nothing for a reason that is not known here.
std::optional<contracts::Retry> retry(const LedgerRefusal& refusal);

/// "budget_too_small (26): The budget does not cover ….", or a text that a newer node gave a reason that this
/// version does not know.
std::string describe(const LedgerRefusal& refusal);

/// The error that a command ends with: kRejected, "the ledger refused WHAT: …". Its fix is `fix`, unless the
/// reason has its own.
base::Error rejected(const LedgerRefusal& refusal, const std::string& what, const std::string& fix);

}  // namespace assay::node
