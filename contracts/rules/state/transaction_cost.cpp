// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/transaction_cost.hpp"

#include <algorithm>
#include <array>

#include "contracts/base/check.hpp"
#include "contracts/rules/state/limits.hpp"

namespace assay::contracts {

namespace {

// A signature, an account or a node key, and the record that is changed, with its path in the state's tree.
constexpr std::uint64_t kSimple = 5'000;
// And a job, which is read and written whole, or a record of its own beside it.
constexpr std::uint64_t kJob = 7'000;
// And a round with its slots: what may end a phase, draw, deal or settle.
constexpr std::uint64_t kRound = 9'000;
// And programs of a few layers of a job's kind, which are built to price it, or a trace.
constexpr std::uint64_t kProgram = 11'000;

// A reveal's trace is hashed leaf by leaf: three hashes for each fingerprint of eight bytes.
constexpr std::uint64_t kLeafByte = 12;

// Hashes of a move are folded and stored; a witness is hashed and computed from.
constexpr std::uint64_t kGameByte = 1;

constexpr std::array kTypeCosts = {
    TypeCost{TxType::kTransfer, kSimple},
    TypeCost{TxType::kNodeRegister, kSimple},
    TypeCost{TxType::kNodeRevoke, kSimple},
    TypeCost{TxType::kMinerRegister, kSimple},
    TypeCost{TxType::kVerifierRegister, kSimple},
    TypeCost{TxType::kStakeDeposit, kSimple},
    TypeCost{TxType::kStakeWithdraw, kSimple},
    TypeCost{TxType::kEndpointUpdate, kJob},
    TypeCost{TxType::kJobSubmit, kProgram},
    TypeCost{TxType::kJobCancel, kRound},
    TypeCost{TxType::kAskCommit, kJob},
    TypeCost{TxType::kAskReveal, kJob},
    TypeCost{TxType::kVerifierEnlist, kJob},
    TypeCost{TxType::kValidatorEnlist, kJob},
    TypeCost{TxType::kRoundCommit, kRound},
    TypeCost{TxType::kBeaconOpen, kRound},
    TypeCost{TxType::kRoundReveal, kProgram, kLeafByte},
    TypeCost{TxType::kAuditSeal, kRound},
    TypeCost{TxType::kAuditOpen, kRound},
    TypeCost{TxType::kMergeSeal, kRound},
    TypeCost{TxType::kMergeOpen, kRound},
    TypeCost{TxType::kRoundServe, kProgram},
    TypeCost{TxType::kStorageBitmap, kRound},
    TypeCost{TxType::kJobJoin, kRound},
    TypeCost{TxType::kDisputeOpen, kProgram},
    TypeCost{TxType::kDisputePost, kProgram, kGameByte},
    TypeCost{TxType::kDisputePick, kProgram},
    TypeCost{TxType::kDisputeProve, kProgram, kGameByte},
    TypeCost{TxType::kDisputeConcede, kRound},
    TypeCost{TxType::kDisputeCall, kProgram},
    TypeCost{TxType::kJobTopUp, kJob},
    TypeCost{TxType::kJobExtend, kJob},
    TypeCost{TxType::kTeamGrant, kSimple},
    TypeCost{TxType::kTeamRevoke, kSimple},
    TypeCost{TxType::kTeamSubmit, kProgram},
    TypeCost{TxType::kLotSeal, kSimple},
    TypeCost{TxType::kLotOpen, kJob},
    TypeCost{TxType::kLotWithdraw, kJob},
    TypeCost{TxType::kBidSeal, kJob},
    TypeCost{TxType::kBidOpen, kJob},
    // As many leases as there are slots to settle in a small round (kMaxLotsTaken).
    TypeCost{TxType::kLeaseTake, kRound},
};

// No block takes in more withdrawals than a later one pays out: their queue would outlive whoever fills it.
static_assert(kBlockCostLimit / kSimple <= kMaxReleasesPerBlock);

constexpr bool every_type_once() {
    std::size_t next = 0;
    for (std::uint16_t number = 1; number <= static_cast<std::uint16_t>(base::EnumRange<TxType>::last);
         ++number) {
        if (!base::is_enumerator<TxType>(number)) continue;
        if (next == kTypeCosts.size() || kTypeCosts[next++].type != static_cast<TxType>(number)) return false;
    }
    return next == kTypeCosts.size();
}
static_assert(every_type_once());

/// The transaction's type as a number, where its canonical form has it: behind the body's length. 0: too
/// short.
std::size_t type_number(ByteView signed_transaction) {
    constexpr std::size_t kTypeAt = 4;
    if (signed_transaction.size() < kTypeAt + 2) return 0;
    return signed_transaction[kTypeAt] | std::size_t{signed_transaction[kTypeAt + 1]} << 8U;
}

}  // namespace

std::span<const TypeCost> type_costs() { return kTypeCosts; }

const TypeCost& cost_of_type(TxType type) {
    const auto row = std::lower_bound(kTypeCosts.begin(), kTypeCosts.end(), type,
                                      [](const TypeCost& one, TxType wanted) { return one.type < wanted; });
    ASSAY_CHECK(row != kTypeCosts.end() && row->type == type);
    return *row;
}

std::uint64_t cost_of(ByteView signed_transaction) {
    const auto number = static_cast<std::uint16_t>(type_number(signed_transaction));
    if (!base::is_enumerator<TxType>(number)) return kCostPerByte * signed_transaction.size();
    const TypeCost& row = cost_of_type(static_cast<TxType>(number));
    return row.units + row.per_byte * signed_transaction.size();
}

}  // namespace assay::contracts
