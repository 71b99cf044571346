// SPDX-License-Identifier: Apache-2.0
// CertificateKind defines how a block proves that its chain decided on it, for followers, auditors and
// engines. The version of a header says which kind its block has; all blocks of an engine have one kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/store/block.hpp"

namespace assay::ledger {

struct CertificateKind {
    std::uint32_t block_version = 0;
    std::string_view engine;  ///< the engine whose blocks have it (ledger/engine/engines.hpp)
    /// Whether a chain with these validators can decide on blocks in this way.
    bool (*serves)(const contracts::ValidatorSet& validators) = nullptr;
    /// What is wrong with the block's certificate; nothing when its validators decided on the block.
    std::optional<std::string> (*fault)(const Block& block, std::string_view chain_id,
                                        const contracts::ValidatorSet& validators) = nullptr;
};

/// The kind of blocks of this version; null when this build knows none.
const CertificateKind* certificate_kind(std::uint32_t block_version);

/// Checks that a kind of this build serves the set. Fails with kUsage otherwise: such a chain needs an engine
/// that this build does not have, and this build cannot follow or audit its blocks.
Outcome<void> check_served(const contracts::ValidatorSet& validators);

}  // namespace assay::ledger
