// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/move_dropper.hpp"

#include "contracts/rules/transactions.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

base::SecretKey dropper_key(std::uint8_t number) {
    base::Hash256 seed;
    seed.bytes[0] = number;
    return base::SecretKey::from_seed(seed.view());
}

base::Bytes signed_by(const base::SecretKey& key, contracts::Payload payload) {
    return contracts::sign_transaction(
        {.sender = key.public_key(), .expiry = 9, .payload = std::move(payload)}, key, "devnet-test");
}

}  // namespace

TEST_CASE("every other move of one party in disputes is left out, and nothing else") {
    const auto party = dropper_key(1);
    const auto other = dropper_key(2);
    const contracts::Payload move = contracts::DisputePick{.job = {}, .game = 3, .pick = {}};
    MoveDropper dropper(party.public_key());
    CHECK_FALSE(dropper.leaves_out(signed_by(other, move)));
    CHECK_FALSE(dropper.leaves_out(signed_by(party, contracts::EndpointUpdate{.endpoint = "host:1"})));
    for (int i = 0; i < 3; ++i) {
        const auto left_out = dropper.leaves_out(signed_by(party, move));
        REQUIRE(left_out);
        CHECK(left_out->find("dispute_pick") != std::string::npos);
        CHECK_FALSE(dropper.leaves_out(signed_by(party, move)));
    }
    for (const auto& bytes : {base::Bytes{}, base::Bytes(40, 7)}) CHECK_FALSE(dropper.leaves_out(bytes));
    CHECK_FALSE(MoveDropper(std::nullopt).leaves_out(signed_by(party, move)));
}

}  // namespace assay::node
