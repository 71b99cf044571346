// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "contracts/program/spec_check.hpp"
#include "contracts/rules/apply.hpp"
#include "contracts/rules/identity/endpoint.hpp"
#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

namespace {

Checked check_lists(const RoundReveal& tx) {
    const bool fits = tx.trace.boundaries.size() <= kMaxSegments + 1 &&
                      tx.trace.fingerprints.size() <= kMaxInnerSteps &&
                      tx.start.siblings.size() <= program::kFirstStateSiblings;
    return fits ? Checked{} : failed(Reason::kListTooLong);
}

Checked check_lists(const RoundServe& tx) {
    return tx.starts.size() <= kMaxSegments ? Checked{} : failed(Reason::kListTooLong);
}

Checked check_lists(const AuditOpen& tx) {
    std::size_t roots = 0;
    for (const SlotClaim& claim : tx.claims) roots += claim.roots.size();
    const bool fits = tx.claims.size() <= program::kMaxSlots && roots <= kMaxClaims;
    return fits ? Checked{} : failed(Reason::kListTooLong);
}

Checked check_lists(const MergeOpen& tx) {
    const bool fits =
        tx.claim.slots.size() <= program::kMaxSlots / 8 + 1 && tx.claim.clips.size() <= program::kMaxSlots;
    return fits ? Checked{} : failed(Reason::kListTooLong);
}

Checked check_lists(const DisputePost& tx) {
    return tx.hashes.size() <= dispute::kMaxMoveHashes ? Checked{} : failed(Reason::kListTooLong);
}

Checked check_lists(const DisputeProve& tx) {
    return tx.witness.size() <= dispute::kMaxWitnessBytes ? Checked{} : failed(Reason::kListTooLong);
}

template <class Payload>
Checked check_lists(const Payload&) {
    return {};
}

template <class Payload>
Checked check_values(const Payload& tx) {
    if constexpr (requires { tx.endpoint; }) {
        if (!is_endpoint(tx.endpoint)) return failed(Reason::kBadEndpoint);
    }
    if constexpr (requires { tx.amount; }) {
        if (tx.amount.is_zero()) return failed(Reason::kZeroAmount);
    }
    if constexpr (requires { tx.caps; }) {
        if (tx.caps.day == 0) return failed(Reason::kBadCaps);
    }
    if constexpr (requires { tx.blocks; }) {
        if (tx.blocks == 0) return failed(Reason::kZeroAmount);
    }
    if constexpr (std::is_same_v<Payload, AskReveal>) {
        // Records of asks tell by the salt whether there was one: no salt is zero.
        if (tx.salt.is_zero()) return failed(Reason::kMalformed);
    }
    if constexpr (requires { tx.kind.network; }) {
        if (!is_class(tx.kind)) return failed(Reason::kBadClass);
    }
    if constexpr (requires { tx.lots; }) {
        if (tx.lots == 0) return failed(Reason::kWrongLots);
    }
    if constexpr (std::is_same_v<Payload, LeaseTake>) {
        if (tx.lots > kMaxLotsTaken) return failed(Reason::kWrongLots);
    }
    if constexpr (std::is_same_v<Payload, LotOpen>) {
        if (tx.epochs == 0 || tx.epochs > kMaxStanding) return failed(Reason::kMalformed);
    }
    if constexpr (requires { tx.claim; }) {
        if (!tx.claim.is_well_formed()) return failed(Reason::kMalformed);
    }
    if constexpr (requires { tx.spec; }) {
        if (!program::check_spec(tx.spec)) return failed(Reason::kBadSpec);
    }
    return {};
}

}  // namespace

Result<DecodedTx, Reason> check_static(std::string_view chain_id, ByteView signed_tx_bytes) {
    if (signed_tx_bytes.size() > kMaxTransactionBytes) return failed(Reason::kTooLarge);
    auto transaction = base::decode<SignedTransaction>(signed_tx_bytes);
    if (!transaction) return failed(Reason::kMalformed);
    auto body = decode_body(transaction->body);
    if (!body) return failed(body.error());
    ASSAY_TRY(std::visit([](const auto& tx) { return check_lists(tx); }, body->payload));
    // Over the bytes as received, not over a re-encoding.
    if (!base::verify(body->sender, transaction->signature, kTxDomain, chain_id, transaction->body)) {
        return failed(Reason::kBadSignature);
    }
    ASSAY_TRY(std::visit([](const auto& tx) { return check_values(tx); }, body->payload));
    return DecodedTx{transaction_id(transaction->body), std::move(body).value()};
}

}  // namespace assay::contracts
