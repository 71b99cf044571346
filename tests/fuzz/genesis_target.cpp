// SPDX-License-Identifier: Apache-2.0
// Genesis files: only what genesis_file() writes is read, and it reads back as it was.
#include "ledger/genesis.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

std::vector<base::Bytes> seeds() {
    ledger::Genesis genesis{1, "fuzz-chain", {}, base::Bytes(64, 5)};
    genesis.sequencer.bytes.fill(9);
    return {ledger::genesis_file(genesis)};
}

void run(base::ByteView input) {
    const auto genesis = ledger::parse_genesis(input);
    if (!genesis) return;
    ASSAY_CHECK(ledger::genesis_file(*genesis) == base::to_bytes(input));
}

}  // namespace assay::fuzz
