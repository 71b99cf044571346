// SPDX-License-Identifier: Apache-2.0
// The genesis file, for everyone who begins, follows or audits a ledger: what a chain is before its first
// block. File = "AGENES01" ‖ encode(Genesis) ‖ its hash.
#pragma once

#include <string>

#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/rules/state/validators.hpp"
#include "ledger/store/disk.hpp"

namespace assay::ledger {

using base::Hash256;
using base::PublicKey;

/// The version also names the law: hashes, arithmetic and formats. A chain that began under another law
/// cannot be recomputed, so older versions are not read.
inline constexpr std::uint32_t kGenesisVersion = 8;

/// The longest block interval that a genesis can name.
inline constexpr std::uint64_t kMaxBlockIntervalMs = 60'000;

struct Genesis {
    std::uint32_t version = kGenesisVersion;
    std::string chain_id;  ///< 1 to 64 bytes of a-z, 0-9, '-'
    contracts::ValidatorSet validators;
    Bytes rules;  ///< encoded genesis configuration of the state machine
    /// Header times advance by at least so much from block to block (header_time.hpp). With 0 they only do
    /// not go back.
    std::uint64_t block_interval_ms = 0;

    [[nodiscard]] Hash256 hash() const { return base::hash("assay/genesis", base::encode(*this)); }

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.version, self.chain_id, self.validators, self.rules, self.block_interval_ms);
    }
};

/// kUsage unless the id has 1 to 64 of a-z, 0-9 and '-'.
Outcome<void> check_chain_id(const std::string& id);

/// Strict: fails with kVerification for a wrong magic, damage, a later version, a bad chain id, bad
/// validators or a block interval above kMaxBlockIntervalMs, and with kUsage for an undamaged file of an
/// earlier version, which has an earlier law.
Outcome<Genesis> parse_genesis(ByteView file);
Bytes genesis_file(const Genesis& genesis);

/// Writes durably; refuses (kUsage) to replace a file that holds another genesis.
Outcome<void> write_genesis(Disk& disk, const std::string& path, const Genesis& genesis);
/// Fails with kNotFound when there is none.
Outcome<Genesis> read_genesis(Disk& disk, const std::string& path);

}  // namespace assay::ledger
