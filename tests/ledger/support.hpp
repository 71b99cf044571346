// SPDX-License-Identifier: Apache-2.0
// A home directory on the real disk that is gone when the test ends, and chains made in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
#include "tests/ledger/toy_machine.hpp"

namespace assay::ledger::testing {

class TemporaryHome {
public:
    TemporaryHome() {
        std::string pattern = (std::filesystem::temp_directory_path() / "assay-ledger-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    ~TemporaryHome() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryHome(const TemporaryHome&) = delete;
    TemporaryHome& operator=(const TemporaryHome&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

inline Bytes read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, ByteView bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// Makes (or continues) a toy ledger with blocks up to `height`, two transactions each.
inline void make_toy_ledger(const std::string& home, std::uint64_t height) {
    static const ToyMachine machine;
    PosixDisk disk;
    const Layout layout(home);
    const base::SecretKey key = test_key();
    ASSAY_CHECK(write_genesis(disk, layout.genesis, toy_genesis()).ok());
    const auto provider = leveldb_provider(layout.index);
    const auto chain = Chain::open(disk, *provider, machine, home);
    while ((*chain)->height() < height) {
        const std::uint64_t nonce = (*chain)->height();
        const std::vector<Bytes> candidates = {toy_transaction(1, nonce, nonce),
                                               toy_transaction(2, nonce, 5)};
        ASSAY_CHECK((*chain)->append(candidates, EmptyBlock::kSkip, nonce, key).ok());
    }
}

}  // namespace assay::ledger::testing
