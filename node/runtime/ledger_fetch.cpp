// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/ledger_fetch.hpp"

#include <string>

#include "node/runtime/blocks_ahead.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

std::string name_of_block(std::uint64_t height) { return "block " + std::to_string(height); }

base::Outcome<ledger::Block> decoded(const Bytes& bytes, std::uint64_t height) {
    auto block = base::decode<ledger::Block>(bytes);
    if (block) return *std::move(block);
    return fail(ErrorKind::kVerification, name_of_block(height) + ": its bytes are not a block: " +
                                              std::string(base::to_text(block.error())));
}

}  // namespace

base::Outcome<void> check_same_past(LedgerService& node, const ledger::Chain& chain, std::uint64_t height) {
    const std::uint64_t here = chain.height();
    if (height < here) {
        return fail(ErrorKind::kVerification,
                    "the node has " + std::to_string(height) + " blocks, and this home has " +
                        std::to_string(here) + ", all signed and checked",
                    "ask the ledger's operator what became of the others; this home shows that they were");
    }
    if (here == 0) return {};
    ASSAY_ASSIGN(const Bytes bytes, node.block(here));
    ASSAY_ASSIGN(const ledger::Block block, decoded(bytes, here));
    if (block.header.hash() == chain.tip()) return {};
    const ledger::Genesis& genesis = chain.genesis();
    const bool is_signed =
        check_block(block, genesis.chain_id, here, block.header.parent, genesis.validators).ok();
    return fail(ErrorKind::kVerification,
                "the node's " + name_of_block(here) + " is " + block.header.hash().hex() +
                    ", this home's is " + chain.tip().hex(),
                is_signed
                    ? "both are signed for this chain: keep this home as evidence of two histories, and "
                      "ask the ledger's operator"
                    : "use another --node: nobody signed this node's block");
}

base::Outcome<void> fetch_ledger(LedgerService& node, ledger::Chain& chain, std::uint64_t last,
                                 const std::function<void(std::uint64_t height)>& progress) {
    BlocksAhead blocks(node, chain.height() + 1, last);
    while (chain.height() < last) {
        const auto bytes = blocks.next();
        if (!bytes) {
            const base::Error& why = bytes.error();
            return fail(why.kind, name_of_block(chain.height() + 1) + ": " + why.what, why.fix);
        }
        ASSAY_ASSIGN(const ledger::Block block, decoded(*bytes, chain.height() + 1));
        ASSAY_TRY(chain.adopt(block));
        progress(chain.height());
    }
    return {};
}

}  // namespace assay::node
