// SPDX-License-Identifier: Apache-2.0
// Appends toy blocks to the ledger in argv[1] until it is killed; writes "height hash" on standard output
// after each acknowledgement. kill_test.cpp runs it.
#include <unistd.h>

#include "tests/ledger/support.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

int main(int argc, char** argv) {
    if (argc != 2 || !base::start_crypto()) return 2;
    const ToyMachine machine;
    PosixDisk disk;
    const std::string home = argv[1];
    const base::SecretKey key = test_key();
    if (!write_genesis(disk, Layout(home).genesis, toy_genesis())) return 3;
    const auto provider = leveldb_provider(Layout(home).index);
    const auto chain = Chain::open(disk, *provider, machine, home);
    if (!chain) return 4;
    while (true) {
        const std::uint64_t nonce = (*chain)->height();
        const auto appended = (*chain)->append({toy_transaction(1, nonce, 5)}, EmptyBlock::kSkip, nonce, key);
        if (!appended) return 5;
        const std::string line =
            std::to_string((*chain)->height()) + " " + appended->block->hash.hex() + "\n";
        if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 6;
    }
}
