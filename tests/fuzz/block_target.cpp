// SPDX-License-Identifier: Apache-2.0
// Blocks: what decodes encodes to the same bytes, and only the signed original passes check_block.
#include "ledger/store/block.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

namespace {

base::SecretKey key() { return base::SecretKey::from_seed(base::Bytes(32, 3)); }

base::Bytes good_block() {
    ledger::Block block;
    block.transactions = {base::Bytes(40, 1), base::Bytes{}, base::Bytes(100, 2)};
    block.header.chain = ledger::chain_hash("fuzz");
    block.header.height = 1;
    block.header.transactions_root = ledger::transactions_root(block.transactions);
    block.header.proposer = key().public_key();
    block.signature = ledger::sign_header(block.header, "fuzz", key());
    return base::encode(block);
}

}  // namespace

std::vector<base::Bytes> seeds() { return {good_block()}; }

void run(base::ByteView input) {
    static const base::Bytes good = good_block();
    static const auto validators = contracts::ValidatorSet::of_one(key().public_key());
    const auto block = base::decode<ledger::Block>(input);
    if (!block) return;
    ASSAY_CHECK(base::encode(*block) == base::to_bytes(input));
    const auto checked = ledger::check_block(*block, "fuzz", 1, {}, validators);
    ASSAY_CHECK(checked.ok() == (base::to_bytes(input) == good));
}

}  // namespace assay::fuzz
