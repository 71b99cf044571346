// SPDX-License-Identifier: Apache-2.0
// Genesis files: only what genesis_file() writes is read, and it reads back as it was.
#include "ledger/store/genesis.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

std::vector<base::Bytes> seeds() {
    base::PublicKey one, other;
    one.bytes.fill(8);
    other.bytes.fill(9);
    const auto alone = contracts::ValidatorSet::of_one(one);
    std::vector<base::Bytes> files;
    for (const ledger::Genesis& genesis :
         {ledger::Genesis{ledger::kGenesisVersion, "fuzz-chain", alone, base::Bytes(64, 5)},
          ledger::Genesis{
              ledger::kGenesisVersion, "fuzz-chain", {{{one, 1}, {other, 7}}}, base::Bytes(64, 5)}})
        files.push_back(ledger::genesis_file(genesis));
    return files;
}

void run(base::ByteView input) {
    const auto genesis = ledger::parse_genesis(input);
    if (!genesis) return;
    ASSAY_CHECK(ledger::genesis_file(*genesis) == base::to_bytes(input));
}

}  // namespace assay::fuzz
