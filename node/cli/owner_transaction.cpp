// SPDX-License-Identifier: Apache-2.0
#include "node/cli/owner_transaction.hpp"

#include <ostream>

#include "node/cli/state_source.hpp"
#include "node/cli/sure_submission.hpp"
#include "node/processes/connect.hpp"
#include "node/processes/role_process.hpp"
#include "node/roles/receipt_keeper.hpp"
#include "node/runtime/ledger_link.hpp"

namespace assay::node {

namespace {
constexpr std::uint64_t kExpiryHeights = 1000;

base::Outcome<void> keep_receipt(const Context& context, const ledger::Genesis& genesis,
                                 const SubmitReply& reply) {
    ASSAY_ASSIGN(const auto disk, make_disk_port(context.home().jobs()));
    return ReceiptKeeper(*disk, genesis.chain_id, genesis.validators).keep(reply.receipt);
}
}  // namespace

base::Outcome<OwnerTransaction> submit_as_owner(const Context& context, const PassphraseFlags& passphrase,
                                                const std::string& genesis, contracts::Payload payload,
                                                const std::string& what, const std::string& fix) {
    return submit_as_owner(context, OwnerSigner{.passphrase = passphrase, .genesis = genesis},
                           std::move(payload), what, fix);
}

base::Outcome<OwnerTransaction> submit_as_owner(const Context& context, const OwnerSigner& signer,
                                                contracts::Payload payload, const std::string& what,
                                                const std::string& fix) {
    std::optional<std::filesystem::path> given;
    if (!signer.genesis.empty()) given = signer.genesis;
    ASSAY_ASSIGN(const ledger::Genesis ours, genesis_of(context.home(), given));
    const ClientOptions client = context.client();
    ASSAY_ASSIGN(const auto ledger, connect_to_chain(client, ours));
    ASSAY_ASSIGN(const auto status, ledger->status());
    ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
    ASSAY_ASSIGN(const auto source, signer.passphrase.source());
    ASSAY_ASSIGN(const auto words, read_passphrase(source, PromptKind::kOpen));
    forbid_core_dumps();
    const std::filesystem::path file =
        signer.owner_key.empty() ? context.home().owner_key() : std::filesystem::path(signer.owner_key);
    ASSAY_ASSIGN(const auto key, open_key_file(file, words, KeyRole::kOwner));
    const contracts::TxBody body{.sender = key.public_key(),
                                 .nonce = contracts::next_nonce(*state, key.public_key()),
                                 .expiry = status.height + kExpiryHeights,
                                 .payload = std::move(payload)};
    const base::Bytes transaction = contracts::sign_transaction(body, key, ours.chain_id);
    ASSAY_ASSIGN(SubmitReply reply, submit_until_known(client,
                                                       {.transaction = transaction,
                                                        .what = what,
                                                        .fix = "before you send it a second time, " + fix},
                                                       context.submission_patience));
    if (!reply.accepted) {
        context.refused = refusal_in(reply);
        return base::failed(rejected(*context.refused, what, fix));
    }
    // The transaction is done, whatever becomes of the evidence.
    if (const auto kept = keep_receipt(context, ours, reply); !kept)
        context.err << "warning: the receipt is not kept: " << kept.error().what << '\n';
    return OwnerTransaction{.owner = body.sender, .reply = std::move(reply)};
}

}  // namespace assay::node
