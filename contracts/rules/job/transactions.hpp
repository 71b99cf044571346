// SPDX-License-Identifier: Apache-2.0
// Transactions about a job outside its rounds, for the code that builds, checks or carries them out:
// submission, auction, enlistment, and the endpoints of those who work for it.
#pragma once

#include <string>

#include "contracts/base/amount.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/rules/state/transaction_type.hpp"

namespace assay::contracts {

using base::Amount;
using base::Hash256;
using base::PublicKey;
using program::JobSpec;

/// node. Sets the address of its blob service: as a miner, a verifier or both when `job` is zero, else as the
/// buyer of that job.
struct EndpointUpdate {
    static constexpr TxType kType = TxType::kEndpointUpdate;
    std::string endpoint;
    Hash256 job{};
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.endpoint, self.job);
    }
};

/// owner. Locks the budget in escrow, locks the buyer's link bond as well, and opens the bidding.
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

/// owner (a member of the sponsor's team). Like JobSubmit, but the sponsor pays and is the job's buyer, so
/// refunds go to the sponsor. `node` is a node key of the member.
struct TeamSubmit : JobSubmit {
    static constexpr TxType kType = TxType::kTeamSubmit;
    PublicKey sponsor;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.sponsor, self.spec, self.node, self.endpoint, self.beacon_tip);
    }
};

/// owner (the buyer, or the member that submitted it). The job ends at the end of the running round, or at
/// once during the bidding.
struct JobCancel {
    static constexpr TxType kType = TxType::kJobCancel;
    Hash256 job;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job);
    }
};

/// owner (the buyer, or the member that submitted it, within its caps), until the job's end is decided. Moves
/// `amount` from the buyer's balance to the escrow.
struct JobTopUp {
    static constexpr TxType kType = TxType::kJobTopUp;
    Hash256 job;
    Amount amount;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.amount);
    }
};

/// owner (the buyer, or the member that submitted it), until the job's end is decided. Moves the deadline
/// `blocks` heights later, at most as long after the submission as a job file may name.
struct JobExtend {
    static constexpr TxType kType = TxType::kJobExtend;
    Hash256 job;
    std::uint64_t blocks = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.blocks);
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

/// node (verifier), job phases kAskCommit and kAskReveal, and kWaiting before the first round. Locks `stake`
/// until the job ends: the verifier's weight in every draw, and what its penalties are taken from.
struct VerifierEnlist {
    static constexpr TxType kType = TxType::kVerifierEnlist;
    Hash256 job;
    Hash256 beacon_tip;
    Amount stake;  ///< at least enlistment_minimum() of job/costs.hpp
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.beacon_tip, self.stake);
    }
};

/// node (a validator), job phases kAskCommit and kAskReveal, and kWaiting before the first round.
struct ValidatorEnlist {
    static constexpr TxType kType = TxType::kValidatorEnlist;
    Hash256 job;
    Hash256 beacon_tip;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.beacon_tip);
    }
};

/// node (miner), job phases kRounds and kRefill. Takes an open place of the job's roster, at the clearing
/// price. Where every place is somebody's, a member without a bond is dropped for it (vacate_place). The
/// miner is dealt slots from the next round on. It begins with one absence, so that a round without a commit
/// costs it part of its bond at once.
struct JobJoin {
    static constexpr TxType kType = TxType::kJobJoin;
    Hash256 job;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job);
    }
};

}  // namespace assay::contracts
