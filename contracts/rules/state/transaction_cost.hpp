// SPDX-License-Identifier: Apache-2.0
// The cost of executing a transaction, in units, and how many units a block may hold, for the mempool, the
// proposer, and everyone who checks a block. One unit is about one byte read, hashed, kept and sent.
#pragma once

#include <cstdint>
#include <span>

#include "contracts/base/bytes.hpp"
#include "contracts/rules/state/transaction_type.hpp"

namespace assay::contracts {

using base::ByteView;

inline constexpr std::uint64_t kCostPerByte = 1;
/// The most units of all transactions of a block together.
inline constexpr std::uint64_t kBlockCostLimit = 16'000'000;

/// One row of the table: what a transaction of this type costs, and what each of its bytes costs.
struct TypeCost {
    TxType type;
    std::uint64_t units;
    std::uint64_t per_byte = kCostPerByte;
};
/// Every type once, ascending.
std::span<const TypeCost> type_costs();
const TypeCost& cost_of_type(TxType type);

/// The cost of a signed transaction's bytes, from its type and its length only. Bytes of no known type cost
/// what their length costs; the rules refuse them.
std::uint64_t cost_of(ByteView signed_transaction);

}  // namespace assay::contracts
