// SPDX-License-Identifier: Apache-2.0
// The table of transactions: type, fields, signing key. A transaction is `SignedTransaction{body,
// signature}`; the signature covers the received body bytes under domain "assay/tx/v1" and the chain id, and
// the body is `type, sender, nonce, expiry, payload`. Numbers of types are frozen.
//
//   signer "owner": an account key, pays and decides; "node": a hot key that its owner registered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "contracts/program/trace.hpp"
#include "contracts/rules/reasons.hpp"
#include "contracts/rules/seals.hpp"

namespace assay::contracts {

using base::Amount;
using program::JobSpec;
using program::TraceRecord;

enum class TxType : std::uint16_t {
    kTransfer = 1,
    kNodeRegister = 2,
    kNodeRevoke = 3,
    kMinerRegister = 4,
    kVerifierRegister = 5,
    kStakeDeposit = 6,
    kStakeWithdraw = 7,
    kEndpointUpdate = 8,
    kJobSubmit = 9,
    kJobCancel = 10,
    kAskCommit = 11,
    kAskReveal = 12,
    kVerifierEnlist = 13,
    kSequencerEnlist = 14,
    kRoundCommit = 15,
    kBeaconOpen = 16,
    kRoundReveal = 17,
    kAuditSeal = 18,
    kAuditOpen = 19,
    kMergeSeal = 20,
    kMergeOpen = 21,
};
std::string_view to_text(TxType type);

/// Which kind of key must sign.
enum class Signer : std::uint8_t { kOwner = 1, kNode = 2 };
Signer signer_of(TxType type);

/// owner. Moves `amount` from the sender's balance.
struct Transfer {
    static constexpr TxType kType = TxType::kTransfer;
    PublicKey to;
    Amount amount;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.to, self.amount);
    }
};

/// owner. Makes `node` a hot key of the sender. `proof` is the node key's signature over the owner's 32
/// bytes under kNodeKeyDomain and the chain id. A key is registered once, for ever.
struct NodeRegister {
    static constexpr TxType kType = TxType::kNodeRegister;
    PublicKey node;
    Signature proof;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.proof);
    }
};

/// owner. The node key signs nothing from here on; its stake stays the owner's to withdraw.
struct NodeRevoke {
    static constexpr TxType kType = TxType::kNodeRevoke;
    PublicKey node;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node);
    }
};

/// owner. Makes a registered node key a miner for Params::miner_fee, which prepays its own first audits.
struct MinerRegister {
    static constexpr TxType kType = TxType::kMinerRegister;
    PublicKey node;
    std::string endpoint;  ///< "host:port" of its blob service
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.endpoint);
    }
};

/// owner. Makes a registered node key a verifier for Params::verifier_fee.
struct VerifierRegister {
    static constexpr TxType kType = TxType::kVerifierRegister;
    PublicKey node;
    std::string endpoint;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.endpoint);
    }
};

/// owner. Balance -> free stake of one of the sender's node keys.
struct StakeDeposit {
    static constexpr TxType kType = TxType::kStakeDeposit;
    PublicKey node;
    Amount amount;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.amount);
    }
};

/// owner. Free stake -> balance, after Params::unbonding_delay heights.
struct StakeWithdraw {
    static constexpr TxType kType = TxType::kStakeWithdraw;
    PublicKey node;
    Amount amount;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.node, self.amount);
    }
};

/// node. Where its blob service is from now on: as a miner, a verifier or both when `job` is zero, else as
/// the buyer of that job.
struct EndpointUpdate {
    static constexpr TxType kType = TxType::kEndpointUpdate;
    std::string endpoint;
    Hash256 job{};
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.endpoint, self.job);
    }
};

/// owner. Locks the budget in escrow and opens the bidding.
struct JobSubmit {
    static constexpr TxType kType = TxType::kJobSubmit;
    JobSpec spec;
    PublicKey node;        ///< the buyer's registered node key, which opens its beacon links
    std::string endpoint;  ///< of the buyer's blob service: data, base of round 0
    Hash256 beacon_tip;    ///< chain_tip(secret, spec.rounds)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.spec, self.node, self.endpoint, self.beacon_tip);
    }
};

/// owner (the buyer). The job ends at the next round border; at once while bidding.
struct JobCancel {
    static constexpr TxType kType = TxType::kJobCancel;
    Hash256 job;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job);
    }
};

/// node (miner), job phase kAskCommit. Holds Params::ask_deposit from its free stake.
struct AskCommit {
    static constexpr TxType kType = TxType::kAskCommit;
    Hash256 job;
    Hash256 seal;  ///< ask_seal(...)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.seal);
    }
};

/// node (miner), job phase kAskReveal. Returns the deposit.
struct AskReveal {
    static constexpr TxType kType = TxType::kAskReveal;
    Hash256 job;
    Amount price;  ///< base units per work unit: the least it works for
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.price, self.salt);
    }
};

/// node (verifier), job phases kAskCommit and kAskReveal. Locks `stake` until the job ends: the verifier's
/// weight in every draw, and what its penalties are taken from.
struct VerifierEnlist {
    static constexpr TxType kType = TxType::kVerifierEnlist;
    Hash256 job;
    Hash256 beacon_tip;
    Amount stake;  ///< at least enlistment_minimum() of costs.hpp
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.beacon_tip, self.stake);
    }
};

/// node (the sequencer of genesis), job phases kAskCommit and kAskReveal.
struct SequencerEnlist {
    static constexpr TxType kType = TxType::kSequencerEnlist;
    Hash256 job;
    Hash256 beacon_tip;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.beacon_tip);
    }
};

/// node (the slot's miner), round phase kCommit.
struct RoundCommit {
    static constexpr TxType kType = TxType::kRoundCommit;
    Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    Hash256 seal;  ///< commit_seal(...)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.slot, self.seal);
    }
};

/// node (beacon participant of the job), round phase kBeacon.
struct BeaconOpen {
    static constexpr TxType kType = TxType::kBeaconOpen;
    Hash256 job;
    std::uint32_t round = 0;
    Hash256 link;  ///< chain_link(secret, rounds, round)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.link);
    }
};

/// node (the slot's miner), round phase kReveal. Opens the seal and says where the bytes are.
struct RoundReveal {
    static constexpr TxType kType = TxType::kRoundReveal;
    Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    TraceRecord trace;
    std::vector<Hash256> boundary_blobs;  ///< blob ids of the states at boundaries 1 … segments
    Hash256 update_blob;                  ///< blob id of the update file; zero when diverged
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.slot, self.trace, self.boundary_blobs, self.update_blob, self.salt);
    }
};

/// node (drawn verifier), round phase kAuditSeal (stage kPair) or kThirdSeal (kThird).
struct AuditSeal {
    static constexpr TxType kType = TxType::kAuditSeal;
    Hash256 job;
    std::uint32_t round = 0;
    Stage stage = Stage::kPair;
    Hash256 seal;  ///< audit_seal(...) over all its claims of this stage
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.stage, self.seal);
    }
};

/// node (drawn verifier), round phase kAuditOpen or kThirdOpen. `claims` are exactly the units that
/// assigned_units() names, in that order.
struct AuditOpen {
    static constexpr TxType kType = TxType::kAuditOpen;
    Hash256 job;
    std::uint32_t round = 0;
    Stage stage = Stage::kPair;
    std::vector<UnitClaim> claims;
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.stage, self.claims, self.salt);
    }
};

/// node (verifier drawn for the merge), round phase kMergeSeal (kPair) or kMergeThirdSeal (kThird).
struct MergeSeal {
    static constexpr TxType kType = TxType::kMergeSeal;
    Hash256 job;
    std::uint32_t round = 0;
    Stage stage = Stage::kPair;
    Hash256 seal;  ///< merge_seal(...)
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.stage, self.seal);
    }
};

/// node (verifier drawn for the merge), round phase kMergeOpen or kMergeThirdOpen.
struct MergeOpen {
    static constexpr TxType kType = TxType::kMergeOpen;
    Hash256 job;
    std::uint32_t round = 0;
    Stage stage = Stage::kPair;
    MergeClaim claim;
    Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.stage, self.claim, self.salt);
    }
};

using Payload = std::variant<Transfer, NodeRegister, NodeRevoke, MinerRegister, VerifierRegister,
                             StakeDeposit, StakeWithdraw, EndpointUpdate, JobSubmit, JobCancel, AskCommit,
                             AskReveal, VerifierEnlist, SequencerEnlist, RoundCommit, BeaconOpen, RoundReveal,
                             AuditSeal, AuditOpen, MergeSeal, MergeOpen>;

/// The job a payload is about; zero for those about none.
Hash256 job_of(const Payload& payload);
TxType type_of(const Payload& payload);

/// What is signed: `type, sender, nonce, expiry, payload`.
struct TxBody {
    PublicKey sender;
    std::uint64_t nonce = 0;   ///< the sender key's own next nonce (next_nonce() in tables.hpp)
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

/// The bytes to hand to the ledger: encode(SignedTransaction). body.sender must be key.public_key().
Bytes sign_transaction(const TxBody& body, const base::SecretKey& key, std::string_view chain);
/// The proof that NodeRegister asks for.
Signature prove_node_key(const base::SecretKey& node, const PublicKey& owner, std::string_view chain);

}  // namespace assay::contracts

namespace assay::base {
ASSAY_ENUM_RANGE(contracts::TxType, kTransfer, kMergeOpen);
}  // namespace assay::base
