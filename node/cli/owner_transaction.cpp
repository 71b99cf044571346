// SPDX-License-Identifier: Apache-2.0
#include "node/cli/owner_transaction.hpp"

#include "node/cli/state_source.hpp"

namespace assay::node {

namespace {
constexpr std::uint64_t kExpiryHeights = 1000;
}

base::Outcome<OwnerTransaction> submit_as_owner(const Context& context, const PassphraseFlags& passphrase,
                                                contracts::Payload payload, const std::string& what,
                                                const std::string& fix) {
    ASSAY_ASSIGN(const auto ledger, context.ledger());
    ASSAY_ASSIGN(const auto status, ledger->status());
    ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
    ASSAY_ASSIGN(const auto source, passphrase.source());
    ASSAY_ASSIGN(const auto words, read_passphrase(source, PromptKind::kOpen));
    forbid_core_dumps();
    ASSAY_ASSIGN(const auto key, open_key_file(context.home().owner_key(), words, KeyRole::kOwner));
    const contracts::TxBody body{.sender = key.public_key(),
                                 .nonce = contracts::next_nonce(*state, key.public_key()),
                                 .expiry = status.height + kExpiryHeights,
                                 .payload = std::move(payload)};
    ASSAY_ASSIGN(SubmitReply reply, ledger->submit(contracts::sign_transaction(body, key, status.chain_id)));
    if (!reply.accepted) {
        const std::string prefix = "the ledger refused the transaction: ";
        std::string reason = reply.reason_text;
        if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
        return base::fail(base::ErrorKind::kRejected, "the ledger refused " + what + ": " + reason, fix);
    }
    return OwnerTransaction{.owner = body.sender, .reply = std::move(reply)};
}

}  // namespace assay::node
