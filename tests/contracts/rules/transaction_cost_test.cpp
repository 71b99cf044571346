// SPDX-License-Identifier: Apache-2.0
// The table of costs, and what a block of them holds.
#include "contracts/rules/state/transaction_cost.hpp"

#include "contracts/rules/state/limits.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

TEST_CASE("a transaction costs its type's units and one for each byte") {
    Env env;
    Person& who = env.person("buyer");
    const Bytes transfer = env.sign(who, Transfer{env.person("other").owner_key(), amount(5)});
    CHECK(cost_of(transfer) == 5'000 + transfer.size());
    const Bytes submission =
        env.sign(who, JobSubmit{small_job(), who.node_key(), "127.0.0.1:7000", chain_tip(who.secret, 3)});
    CHECK(cost_of(submission) == 11'000 + submission.size());
    for (const TypeCost& row : type_costs()) {
        Bytes bytes(6, 0);
        bytes[4] = static_cast<std::uint8_t>(row.type);
        CHECK(cost_of(bytes) == row.units + 6 * row.per_byte);
        CHECK(row.units > 0);
    }
}

TEST_CASE("bytes that are no transaction cost their length") {
    CHECK(cost_of(Bytes{}) == 0);
    CHECK(cost_of(Bytes(5, 0xff)) == 5);
    CHECK(cost_of(Bytes(6, 0)) == 6);
    CHECK(cost_of(Bytes(600, 0xff)) == 600);
    Bytes beyond(6, 0);
    beyond[4] = static_cast<std::uint8_t>(static_cast<int>(type_costs().back().type) + 1);
    CHECK(cost_of(beyond) == 6);
    beyond[4] = 1;
    beyond[5] = 1;  // type 257
    CHECK(cost_of(beyond) == 6);
}

TEST_CASE("every transaction that the rules take fits a block, and a thousand of any type but reveals do") {
    for (const TypeCost& row : type_costs()) {
        CHECK(row.units + row.per_byte * kMaxTransactionBytes <= kBlockCostLimit);
        if (row.type == TxType::kRoundReveal) continue;
        CHECK(row.per_byte == kCostPerByte);
        // The proposer's own bounds: a thousand transactions, four MiB.
        CHECK(1'000 * row.units + kCostPerByte * (4U << 20U) <= kBlockCostLimit);
    }
}

TEST_CASE("a block holds few reveals of the longest traces, and hundreds of short ones") {
    // A leaf of the trace's tree is hashed with its salt and with the node above it.
    const auto cost = [](std::uint64_t boundaries, std::uint64_t steps) {
        Bytes bytes(400 + 32 * boundaries + 8 * steps, 0);
        bytes[4] = static_cast<std::uint8_t>(TxType::kRoundReveal);
        return cost_of(bytes);
    };
    CHECK(20 * cost(kMaxSegments + 1, kMaxInnerSteps) > kBlockCostLimit);
    CHECK(8 * cost(kMaxSegments + 1, kMaxInnerSteps) < kBlockCostLimit);
    CHECK(700 * cost(4, 16) < kBlockCostLimit);
}

}  // namespace assay::contracts::test
