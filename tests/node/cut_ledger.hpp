// SPDX-License-Identifier: Apache-2.0
// The ledger of a home whose last block can be left off. For tests of what a kept receipt shows.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"

namespace assay::test {

inline void write_bytes(const std::filesystem::path& file, const base::Bytes& bytes) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << base::as_text(bytes);
}

/// A ledger of `kBlocks` blocks, a transfer each.
class CutLedger {
public:
    static constexpr std::uint64_t kBlocks = 4;

    explicit CutLedger(const std::filesystem::path& home) : layout_(home.string()) {
        ledger::PosixDisk disk;
        std::filesystem::create_directories(layout_.directory);
        REQUIRE(ledger::write_genesis(disk, layout_.genesis, small_genesis()));
        const auto provider = ledger::leveldb_provider(layout_.index);
        const auto chain =
            ledger::Chain::open(disk, *provider, ledger::rules_machine(), home.string()).value();
        const base::SecretKey key = key_of("sequencer");
        for (std::uint64_t nonce = 0; nonce < kBlocks; ++nonce) {
            if (nonce + 1 == kBlocks) before_last_ = std::filesystem::file_size(layout_.log);
            const auto made = chain->append({transfer(nonce)}, ledger::EmptyBlock::kSkip, nonce, key);
            REQUIRE(made->block);
            receipt_ = {made->block->results.transactions[0].id,
                        made->block->header.height,
                        0,
                        0,
                        made->block->hash,
                        {}};
        }
        tip_ = chain->tip().hex();
        ledger::sign_receipt(receipt_, kChainId, key);
    }
    [[nodiscard]] const std::string& tip() const { return tip_; }
    /// Of the last block.
    [[nodiscard]] base::Bytes receipt() const { return base::encode(receipt_); }
    /// Leaves off the last block.
    void cut() const { std::filesystem::resize_file(layout_.log, before_last_); }
    [[nodiscard]] const ledger::Layout& layout() const { return layout_; }

private:
    ledger::Layout layout_;
    std::uintmax_t before_last_ = 0;
    ledger::Receipt receipt_;
    std::string tip_;
};

}  // namespace assay::test
