// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/block.hpp"

#include <algorithm>

#include "ledger/store/certificate.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

namespace {

constexpr std::string_view kBlockDomain = "assay/block";
constexpr std::string_view kReceiptDomain = "assay/receipt";

// What a receipt's signature covers: its encoding with the signature left zero.
Bytes receipt_message(Receipt receipt) {
    receipt.signature = {};
    return base::encode(receipt);
}

}  // namespace

Hash256 chain_hash(std::string_view chain_id) { return base::hash("assay/chain", base::as_bytes(chain_id)); }

Hash256 transactions_root(const std::vector<Bytes>& transactions) {
    std::vector<Hash256> leaves;
    leaves.reserve(transactions.size());
    for (const Bytes& transaction : transactions) leaves.push_back(base::merkle_leaf(transaction));
    return base::merkle_root(leaves);
}

Hash256 results_root(const BlockResults& results) {
    std::vector<Hash256> leaves;
    leaves.reserve(results.transactions.size() + 1);
    leaves.push_back(base::merkle_leaf(base::encode(results.begin_events)));
    for (const TransactionResult& result : results.transactions)
        leaves.push_back(base::merkle_leaf(base::encode(result)));
    return base::merkle_root(leaves);
}

Signature sign_header(const Header& header, std::string_view chain_id, const base::SecretKey& key) {
    return key.sign(kBlockDomain, chain_id, base::encode(header));
}

bool verify_header(const Header& header, const Signature& signature, std::string_view chain_id) {
    return base::verify(header.proposer, signature, kBlockDomain, chain_id, base::encode(header));
}

Outcome<void> check_block(const Block& block, std::string_view chain_id, std::uint64_t height,
                          const Hash256& parent, const contracts::ValidatorSet& validators) {
    const Header& header = block.header;
    const auto wrong = [&](const std::string& what) {
        return fail(ErrorKind::kVerification, "block " + std::to_string(height) + ": " + what);
    };
    const CertificateKind* kind = certificate_kind(header.version);
    if (kind == nullptr)
        return wrong("version " + std::to_string(header.version) + ", which this build does not know");
    if (header.chain != chain_hash(chain_id)) return wrong("belongs to another chain");
    if (header.height != height) return wrong("its header says height " + std::to_string(header.height));
    if (header.parent != parent) return wrong("does not follow the block before it");
    // What covers the header comes before what costs more the longer a block is: who signs for nobody has
    // nothing hashed for it.
    if (const auto fault = kind->fault(block, chain_id, validators)) return wrong(*fault);
    if (header.transactions_root != transactions_root(block.transactions))
        return wrong("its transactions are not those that its header commits to");
    return {};
}

void sign_receipt(Receipt& receipt, std::string_view chain_id, const base::SecretKey& key) {
    receipt.signature = key.sign(kReceiptDomain, chain_id, receipt_message(receipt));
}

bool verify_receipt(const Receipt& receipt, std::string_view chain_id,
                    const contracts::ValidatorSet& validators) {
    const Bytes message = receipt_message(receipt);
    const auto& all = validators.validators;
    return std::any_of(all.begin(), all.end(), [&](const contracts::Validator& validator) {
        return base::verify(validator.key, receipt.signature, kReceiptDomain, chain_id, message);
    });
}

}  // namespace assay::ledger
