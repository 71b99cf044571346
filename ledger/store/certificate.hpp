// SPDX-License-Identifier: Apache-2.0
// Gives followers, auditors and engines CertificateKind, how a block shows that its chain decided on it. The
// version of a header says which kind its block has; each engine's blocks have one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/store/block.hpp"

namespace assay::ledger {

struct CertificateKind {
    std::uint32_t block_version = 0;
    std::string_view engine;  ///< whose blocks have it (ledger/engine/engines.hpp)
    /// Whether some block of a chain of these validators can be decided on in this way.
    bool (*serves)(const contracts::ValidatorSet& validators) = nullptr;
    /// What is wrong with the block's certificate; nothing: its validators decided on the block.
    std::optional<std::string> (*fault)(const Block& block, std::string_view chain_id,
                                        const contracts::ValidatorSet& validators) = nullptr;
};

/// The kind of blocks of this version; null: this build knows none.
const CertificateKind* certificate_kind(std::uint32_t block_version);

/// Success when a kind of this build serves the set. kUsage otherwise: blocks of such a chain are an engine's
/// that this build does not have, and nothing here can follow or audit them.
Outcome<void> check_served(const contracts::ValidatorSet& validators);

}  // namespace assay::ledger
