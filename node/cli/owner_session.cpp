// SPDX-License-Identifier: Apache-2.0
#include "node/cli/owner_session.hpp"

#include <ostream>
#include <thread>

#include "node/cli/state_source.hpp"
#include "node/processes/connect.hpp"
#include "node/processes/role_process.hpp"
#include "node/roles/receipt_keeper.hpp"
#include "node/runtime/ledger_link.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {
constexpr std::uint64_t kLifeBlocks = 1000;
constexpr std::chrono::milliseconds kPause{300};  ///< before what was refused for the moment is sent again
}  // namespace

OwnerSession::OwnerSession(const Context& context, OwnerSessionOptions options)
    : context_(context), options_(std::move(options)), until_(std::chrono::steady_clock::now() + kLimit) {}

base::Outcome<std::unique_ptr<OwnerSession>> OwnerSession::connect(const Context& context,
                                                                   OwnerSessionOptions options) {
    std::unique_ptr<OwnerSession> session(new OwnerSession(context, std::move(options)));
    const Home& home = context.home();
    ASSAY_TRY(check_node_key(home));
    ASSAY_ASSIGN(const KeyFileInfo node, inspect_key_file(home.node_key()));
    session->node_ = node.public_key;
    ASSAY_ASSIGN(session->genesis_, genesis_of(home, session->options_.genesis));
    ClientOptions client;
    client.address = context.settings.node;
    client.tls = session->options_.tls;
    ASSAY_ASSIGN(auto reader, connect_ledger(client));
    // A submission answers only when its block is on disk.
    client.deadline = kLimit;
    ASSAY_ASSIGN(session->ledger_, connect_to_chain(client, session->genesis_));
    ASSAY_ASSIGN(session->state_, state_of(std::move(reader)));
    return session;
}

base::Outcome<void> OwnerSession::open_keys(const std::string& why, const std::string& command) {
    const Home& home = context_.home();
    if (!std::filesystem::exists(home.owner_key())) {
        return fail(ErrorKind::kKey, why + ", and there is no owner key in " + home.owner_key().string(),
                    "where the owner key is, run: " + command);
    }
    forbid_core_dumps();
    ASSAY_ASSIGN(const auto source, options_.passphrase.source());
    ASSAY_ASSIGN(const auto words, read_passphrase(source, PromptKind::kOpen));
    ASSAY_ASSIGN(node_key_, open_key_file(home.node_key(), words, KeyRole::kNode));
    ASSAY_ASSIGN(owner_key_, open_key_file(home.owner_key(), words, KeyRole::kOwner));
    node_ = node_key_->public_key();
    return {};
}

contracts::Signature OwnerSession::node_proof() const {
    return contracts::prove_node_key(*node_key_, owner(), chain_id());
}

base::Outcome<std::uint64_t> OwnerSession::submit(contracts::Payload payload, const std::string& what,
                                                  const std::string& fix,
                                                  const std::function<bool()>& still_missing) {
    contracts::TxBody body{.sender = owner(), .payload = std::move(payload)};
    while (true) {
        ASSAY_ASSIGN(const auto status, ledger_->status());
        body.nonce = contracts::next_nonce(*state_, body.sender);
        body.expiry = status.height + kLifeBlocks;
        ASSAY_ASSIGN(const SubmitReply reply,
                     ledger_->submit(contracts::sign_transaction(body, *owner_key_, chain_id())));
        if (reply.accepted) {
            keep_receipt(reply.receipt);
            return reply.height;
        }
        const LedgerRefusal refusal = refusal_in(reply);
        const bool soon = retry(refusal) == contracts::Retry::kSoon;
        if (!soon || std::chrono::steady_clock::now() + kPause > until_) {
            context_.refused = refusal;
            return base::failed(rejected(refusal, what, fix));
        }
        std::this_thread::sleep_for(kPause);
        if (!still_missing()) return status.height;
    }
}

// The transaction is done, whatever becomes of the evidence.
void OwnerSession::keep_receipt(base::ByteView receipt) const {
    const auto disk = make_disk_port(context_.home().jobs());
    const auto kept = disk ? ReceiptKeeper(**disk, genesis_.chain_id, genesis_.validators).keep(receipt)
                           : base::Outcome<void>(base::failed(disk.error()));
    if (!kept) context_.err << "warning: the receipt is not kept: " << kept.error().what << '\n';
}

}  // namespace assay::node
