// SPDX-License-Identifier: Apache-2.0
// A block is a signed header over transactions, their results and the state after them, for engines,
// followers and auditors. There is one header chain per genesis. Frames in the file: block_log.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/bytes.hpp"
#include "contracts/base/codec.hpp"
#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/merkle.hpp"
#include "contracts/base/sign.hpp"
#include "contracts/rules/state/validators.hpp"

namespace assay::ledger {

using base::Bytes;
using base::ByteView;
using base::Hash256;
using base::Outcome;
using base::PublicKey;
using base::Signature;

inline constexpr std::uint32_t kBlockVersion = 1;

struct Header {
    std::uint32_t version = kBlockVersion;
    Hash256 chain;              ///< H("assay/chain", chain id)
    std::uint64_t height = 0;   ///< the first block is 1
    Hash256 parent;             ///< header hash of the block before; the genesis hash for block 1
    Hash256 transactions_root;  ///< Merkle root over merkle_leaf(transaction bytes), in order
    Hash256 results_root;       ///< results_root() below
    Hash256 state_root;         ///< StateTree root after this block
    std::uint64_t time_ms =
        0;  ///< when the proposer made it, Unix epoch; advances by the genesis' block interval at least
    PublicKey proposer;

    [[nodiscard]] Hash256 hash() const { return base::hash("assay/header", base::encode(*this)); }

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.version, self.chain, self.height, self.parent, self.transactions_root, self.results_root,
              self.state_root, self.time_ms, self.proposer);
    }
};

struct Block {
    Header header;
    Signature signature;              ///< the proposer's over the encoded header, domain "assay/block"
    std::vector<Bytes> transactions;  ///< signed transactions as they were submitted

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.header, self.signature, self.transactions);
    }
};

/// The result of one transaction in a block. The results root commits to it.
struct TransactionResult {
    Hash256 id;
    std::uint16_t code = 0;     ///< 0 when applied; otherwise the frozen number of the rule that refused it
    std::string reason;         ///< name of that rule; empty when applied
    std::vector<Bytes> events;  ///< encoded contracts events, in the order they happened

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.id, self.code, self.reason, self.events);
    }
};

/// The results of executing a block; kept in the index, recomputable from the log.
struct BlockResults {
    std::uint64_t height = 0;
    std::vector<Bytes> begin_events;  ///< encoded events of begin_block
    std::vector<TransactionResult> transactions;

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.height, self.begin_events, self.transactions);
    }
};

Hash256 chain_hash(std::string_view chain_id);
Hash256 transactions_root(const std::vector<Bytes>& transactions);

/// Merkle root over leaf 0 = the encoded begin_events and leaf i+1 = the encoded result of transaction i.
Hash256 results_root(const BlockResults& results);

Signature sign_header(const Header& header, std::string_view chain_id, const base::SecretKey& key);

/// Whether this is the signature of the header's proposer over the header.
bool verify_header(const Header& header, const Signature& signature, std::string_view chain_id);

/// Checks what can be checked without state: version, chain, height, parent, transactions root, and the
/// certificate of the kind that the version names (certificate.hpp). The error kVerification names the first
/// fault.
Outcome<void> check_block(const Block& block, std::string_view chain_id, std::uint64_t height,
                          const Hash256& parent, const contracts::ValidatorSet& validators);

/// A validator's signed statement that a transaction is in a durable block. It is evidence for a third party:
/// with the block of that height it proves either inclusion or that the validator equivocated.
struct Receipt {
    Hash256 transaction;
    std::uint64_t height = 0;
    std::uint32_t index = 0;  ///< place in the block
    std::uint16_t code = 0;   ///< TransactionResult::code
    Hash256 header;           ///< header hash of the block
    Signature signature;      ///< the proposer's over the fields above, domain "assay/receipt"

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.transaction, self.height, self.index, self.code, self.header, self.signature);
    }
};

void sign_receipt(Receipt& receipt, std::string_view chain_id, const base::SecretKey& key);
/// Whether one of the validators signed it for this chain.
bool verify_receipt(const Receipt& receipt, std::string_view chain_id,
                    const contracts::ValidatorSet& validators);

}  // namespace assay::ledger
