// SPDX-License-Identifier: Apache-2.0
// The encoding of a transaction, for senders, nodes and the rules: which payloads exist, and what is signed.
// A transaction is `SignedTransaction{body, signature}`; the signature covers the received body bytes under
// domain "assay/tx/v1" and the chain id, and the body is `type, sender, nonce, expiry, payload`. The payloads
// are in the transactions.hpp of each subject.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "contracts/rules/dispute/transactions.hpp"
#include "contracts/rules/identity/transactions.hpp"
#include "contracts/rules/job/transactions.hpp"
#include "contracts/rules/market/transactions.hpp"
#include "contracts/rules/round/transactions.hpp"
#include "contracts/rules/state/reasons.hpp"

namespace assay::contracts {

using base::Bytes;
using base::ByteView;

inline constexpr std::string_view kTxDomain = "assay/tx/v1";

/// The id of a transaction. The signature is not part of it.
Hash256 transaction_id(ByteView body);

using Payload = std::variant<Transfer, NodeRegister, NodeRevoke, MinerRegister, VerifierRegister,
                             StakeDeposit, StakeWithdraw, EndpointUpdate, JobSubmit, JobCancel, AskCommit,
                             AskReveal, VerifierEnlist, ValidatorEnlist, RoundCommit, BeaconOpen, RoundReveal,
                             AuditSeal, AuditOpen, MergeSeal, MergeOpen, RoundServe, StorageBitmap, JobJoin,
                             DisputeOpen, DisputePost, DisputePick, DisputeProve, DisputeConcede, DisputeCall,
                             JobTopUp, JobExtend, TeamGrant, TeamRevoke, TeamSubmit,

                             LotSeal, LotOpen, LotWithdraw, BidSeal, BidOpen, LeaseTake>;

/// The job that a payload is about; zero when it is about none.
Hash256 job_of(const Payload& payload);
TxType type_of(const Payload& payload);

/// What is signed: `type, sender, nonce, expiry, payload`.
struct TxBody {
    PublicKey sender;
    std::uint64_t nonce = 0;   ///< the sender key's own next nonce (next_nonce())
    std::uint64_t expiry = 0;  ///< the last height at which it may be applied
    Payload payload;
};
Bytes encode_body(const TxBody& body);
Result<TxBody, Reason> decode_body(ByteView bytes);

struct SignedTransaction {
    Bytes body;
    Signature signature;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.body, self.signature);
    }
};

/// The bytes to submit to the ledger: encode(SignedTransaction). REQUIRES that body.sender is
/// key.public_key().
Bytes sign_transaction(const TxBody& body, const base::SecretKey& key, std::string_view chain);
/// The proof that NodeRegister asks for.
Signature prove_node_key(const base::SecretKey& node, const PublicKey& owner, std::string_view chain);

}  // namespace assay::contracts
