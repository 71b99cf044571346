// SPDX-License-Identifier: Apache-2.0
// Transactions about money, keys, registrations and stake, for who builds, checks or carries out one.
#pragma once

#include <string>
#include <string_view>

#include "contracts/base/amount.hpp"
#include "contracts/base/codec.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/rules/identity/records.hpp"
#include "contracts/rules/state/transaction_type.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;
using base::PublicKey;
using base::Signature;

/// Signed by a node key over its owner's 32 bytes: nobody registers a node key that is not his.
inline constexpr std::string_view kNodeKeyDomain = "assay/node-key/v1";

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

/// owner. The node key signs nothing from now on; the owner can still withdraw its stake.
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

/// owner (the sponsor). From now on `member` may submit jobs that the sender's account pays, within the caps.
/// For an existing member it replaces the caps; what the member took still counts.
struct TeamGrant {
    static constexpr TxType kType = TxType::kTeamGrant;
    PublicKey member;  ///< an owner key; its account is opened if it has none
    TeamCaps caps;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.member, self.caps);
    }
};

/// owner (the sponsor). The member can submit nothing more, and no longer decides about the jobs that it
/// submitted. They go on, and the sponsor can cancel them.
struct TeamRevoke {
    static constexpr TxType kType = TxType::kTeamRevoke;
    PublicKey member;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.member);
    }
};

}  // namespace assay::contracts
