// SPDX-License-Identifier: Apache-2.0
#include "node/roles/refusal.hpp"

namespace assay::node {

using contracts::Reason;

namespace {

// What helps against the refusals that a person can do something about; empty where the caller knows better.
std::string advice(const LedgerRefusal& refusal) {
    if (!refusal.reason) return "bring this program to the version of the ledger node";
    switch (*refusal.reason) {
        case Reason::kInsufficientBalance:
        case Reason::kUnknownSender:
            return "send money to the owner's account from another one: assay wallet send OWNER AMOUNT";
        case Reason::kInsufficientStake:
            return "let the owner add stake to this node key: assay stake add AMOUNT";
        case Reason::kBudgetTooSmall:
            return "raise market.budget, or lower market.max_price; see: assay plan JOB.toml";
        case Reason::kTooManyJobs: return "submit it again when another job has ended: assay job list";
        case Reason::kKeyTaken:
        case Reason::kKeyRevoked: return "make another node key: assay key new --role node";
        default: return {};
    }
}

}  // namespace

LedgerRefusal refusal_in(const SubmitReply& reply) {
    ASSAY_CHECK(!reply.accepted);
    const auto reason = contracts::refusal_of(reply.reason);
    return {.number = reply.reason,
            .reason = reason,
            .name = reason ? std::string(contracts::to_text(*reason)) : reply.reason_text};
}

std::optional<contracts::Retry> retry(const LedgerRefusal& refusal) {
    return refusal.reason ? contracts::retry(*refusal.reason) : std::nullopt;
}

std::string describe(const LedgerRefusal& refusal) {
    const std::string number = " (" + std::to_string(refusal.number) + ")";
    if (refusal.reason) {
        return refusal.name + number + ": " + std::string(contracts::explain(*refusal.reason));
    }
    return "for a reason that this version does not know: " + refusal.name + number;
}

base::Error rejected(const LedgerRefusal& refusal, const std::string& what, const std::string& fix) {
    const std::string own = advice(refusal);
    return {base::ErrorKind::kRejected, "the ledger refused " + what + ": " + describe(refusal),
            own.empty() ? fix : own};
}

}  // namespace assay::node
