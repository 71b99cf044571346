// SPDX-License-Identifier: Apache-2.0
#include "node/cli/owner_session.hpp"

#include <algorithm>
#include <ostream>
#include <thread>

#include "node/cli/state_source.hpp"
#include "node/cli/sure_submission.hpp"
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

using SteadyClock = std::chrono::steady_clock;

/// A node's reads, for as long as the session lasts: one that answers slowly, or page after page, cannot draw
/// it out.
class ReadsInTime final : public LedgerService {
public:
    ReadsInTime(std::unique_ptr<LedgerService> node, const SteadyClock::time_point& until,
                std::chrono::seconds limit)
        : node_(std::move(node)), until_(until), limit_(limit) {}

    Outcome<SubmitReply> submit(ByteView transaction) override { return node_->submit(transaction); }
    Outcome<StateValue> get(ByteView key) override {
        ASSAY_TRY(check_time());
        return node_->get(key);
    }
    Outcome<StatePage> scan(const ScanRequest& request) override {
        ASSAY_TRY(check_time());
        return node_->scan(request);
    }
    Outcome<Bytes> block(std::uint64_t height) override { return node_->block(height); }
    Outcome<LedgerStatus> status() override { return node_->status(); }
    Outcome<void> subscribe(std::uint64_t from_height, std::stop_token stop,
                            const BlockHandler& handler) override {
        return node_->subscribe(from_height, std::move(stop), handler);
    }

private:
    [[nodiscard]] Outcome<void> check_time() const {
        if (SteadyClock::now() < until_) return {};
        return fail(
            ErrorKind::kUnreachable,
            "the ledger node did not give what is needed within " + std::to_string(limit_.count()) + " s",
            "use another --node, or try again when it is less busy");
    }

    std::unique_ptr<LedgerService> node_;
    const SteadyClock::time_point& until_;
    const std::chrono::seconds limit_;
};

}  // namespace

OwnerSession::OwnerSession(const Context& context, OwnerSessionOptions options)
    : context_(context), options_(std::move(options)) {}

base::Outcome<std::unique_ptr<OwnerSession>> OwnerSession::connect(const Context& context,
                                                                   OwnerSessionOptions options) {
    std::unique_ptr<OwnerSession> session(new OwnerSession(context, std::move(options)));
    const Home& home = context.home();
    ASSAY_TRY(check_node_key(home));
    ASSAY_ASSIGN(const KeyFileInfo node, inspect_key_file(home.node_key()));
    session->node_ = node.public_key;
    ASSAY_ASSIGN(session->genesis_, genesis_of(home, session->options_.genesis));
    session->client_ = context.client();
    session->client_.deadline = OwnerLimits::kRead;
    ASSAY_ASSIGN(session->ledger_, connect_to_chain(session->client_, session->genesis_));
    session->until_ = SteadyClock::now() + session->options_.limit;
    ASSAY_ASSIGN(auto reader, connect_ledger(session->client_));
    ASSAY_ASSIGN(session->state_, state_of(std::make_unique<ReadsInTime>(std::move(reader), session->until_,
                                                                         session->options_.limit)));
    return session;
}

std::filesystem::path OwnerSession::owner_key_file() const {
    return options_.owner_key ? *options_.owner_key : context_.home().owner_key();
}

base::Outcome<void> OwnerSession::open_keys(const std::string& why, const std::string& command) {
    const std::filesystem::path owner_key = owner_key_file();
    if (!std::filesystem::exists(owner_key)) {
        return fail(ErrorKind::kKey, why + ", and there is no owner key in " + owner_key.string(),
                    "in a home that has both keys, this node's and its owner's, run: " + command);
    }
    const auto asked = SteadyClock::now();
    forbid_core_dumps();
    ASSAY_ASSIGN(const auto source, options_.passphrase.source());
    ASSAY_ASSIGN(const auto words, read_passphrase(source, PromptKind::kOpen));
    ASSAY_ASSIGN(node_key_, open_key_file(context_.home().node_key(), words, KeyRole::kNode));
    ASSAY_ASSIGN(owner_key_, open_key_file(owner_key, words, KeyRole::kOwner));
    node_ = node_key_->public_key();
    until_ += SteadyClock::now() - asked;
    return {};
}

contracts::Signature OwnerSession::node_proof() const {
    return contracts::prove_node_key(*node_key_, owner(), chain_id());
}

base::Outcome<std::uint64_t> OwnerSession::submit(contracts::Payload payload, const std::string& what,
                                                  const std::string& fix,
                                                  const std::function<bool()>& still_missing) {
    contracts::TxBody body{.sender = owner(), .payload = std::move(payload)};
    const Time until = std::min(until_, SteadyClock::now() + OwnerLimits::kSubmission);
    while (true) {
        ASSAY_ASSIGN(const auto status, ledger_->status());
        body.nonce = contracts::next_nonce(*state_, body.sender);
        body.expiry = status.height + kLifeBlocks;
        const base::Bytes transaction = contracts::sign_transaction(body, *owner_key_, chain_id());
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now());
        const SignedAct act{
            .transaction = transaction,
            .what = what,
            .fix = "run the command once more: it signs only what the ledger does not have yet"};
        ASSAY_ASSIGN(const SubmitReply reply, submit_until_known(client_, act, left));
        if (reply.accepted) {
            keep_receipt(reply.receipt);
            return reply.height;
        }
        const LedgerRefusal refusal = refusal_in(reply);
        const bool soon = retry(refusal) == contracts::Retry::kSoon;
        if (!soon || SteadyClock::now() + kPause > until) {
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
