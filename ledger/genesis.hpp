// SPDX-License-Identifier: Apache-2.0
// The genesis file: what a chain is before its first block. File = "AGENES01" ‖ encode(Genesis) ‖ its hash.
#pragma once

#include <string>

#include "contracts/base/codec.hpp"
#include "ledger/disk.hpp"
#include "ledger/machine.hpp"

namespace assay::ledger {

struct Genesis {
    std::uint32_t version = 1;
    std::string chain_id;  ///< 1 to 64 bytes of a-z, 0-9, '-'
    PublicKey sequencer;   ///< the only key whose blocks count (embedded engine)
    Bytes rules;           ///< encoded genesis configuration of the state machine

    [[nodiscard]] Hash256 hash() const { return base::hash("assay/genesis", base::encode(*this)); }

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.version, self.chain_id, self.sequencer, self.rules);
    }
};

/// Strict: wrong magic, damage, another version or a bad chain id give kVerification.
Outcome<Genesis> parse_genesis(ByteView file);
Bytes genesis_file(const Genesis& genesis);

/// Writes durably; refuses (kUsage) to replace a file that holds another genesis.
Outcome<void> write_genesis(Disk& disk, const std::string& path, const Genesis& genesis);
/// kNotFound when there is none.
Outcome<Genesis> read_genesis(Disk& disk, const std::string& path);

}  // namespace assay::ledger
