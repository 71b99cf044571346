// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/apply.hpp"

#include <algorithm>

#include "contracts/rules/conservation.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/dispute/phases.hpp"
#include "contracts/rules/foresee.hpp"
#include "contracts/rules/identity/phases.hpp"
#include "contracts/rules/identity/unbonding.hpp"
#include "contracts/rules/job/leaving.hpp"
#include "contracts/rules/job/phases.hpp"
#include "contracts/rules/market/clock.hpp"
#include "contracts/rules/market/lots.hpp"
#include "contracts/rules/market/phases.hpp"
#include "contracts/rules/migration.hpp"
#include "contracts/rules/round/leased.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/phases.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

namespace {

/// The owner behind the signing key, when the key is of the kind that the type asks for.
Result<PublicKey, Reason> owner_of(const StateView& state, const TxBody& body) {
    const auto node = read_node_key(state, body.sender);
    if (signer_of(type_of(body.payload)) == Signer::kOwner) {
        if (node) return failed(Reason::kNeedsOwnerKey);
        if (!state.get(account_key(body.sender))) return failed(Reason::kUnknownSender);
        return body.sender;
    }
    if (!node) return failed(Reason::kNeedsNodeKey);
    if (node->revoked) return failed(Reason::kKeyRevoked);
    return node->owner;
}

void use_nonce(State& state, const PublicKey& sender) {
    if (auto node = read_node_key(state, sender)) {
        ++node->nonce;
        store(state, node_key(sender), *node);
    } else {
        Account account = read_account(state, sender);
        ++account.nonce;
        store(state, account_key(sender), account);
    }
}

/// What is due, in the order of the index. Once the room for leaving is used up, the jobs that wait to leave
/// are passed over unread, however many: they keep their places in the index, and whatever else was due at
/// earlier heights was carried out in the blocks of those heights.
void carry_out_due(Work& work) {
    const std::uint64_t height = work.block.height;
    LeavingRoom room;
    Bytes from = table_prefix(Table::kDeadline);
    while (const auto deadline = first_due(work.state, from, height)) {
        from = deadline_key(*deadline);
        from.push_back(0);  // the next key that there can be
        switch (deadline->kind) {
            case DueKind::kJob: advance_job(work, deadline->subject); break;
            case DueKind::kWindows: close_windows(work, *deadline); break;
            case DueKind::kGames: time_out_games(work, *deadline); break;
            case DueKind::kMarket:
                for (const Hash256& job : advance_market(work)) {
                    begin_if_leased(work, job);
                    free_lots_of_ended_job(work, job);
                }
                break;
            case DueKind::kLeaving:
                leave(work.state, deadline->subject, height, room);
                if (!room.is_used_up()) break;
                // Of a height, behind what leaves stands the market alone.
                from = std::max(
                    from, deadline_key(
                              {height, deadline->height == height ? DueKind::kMarket : DueKind::kJob, {}}));
                break;
        }
        free_lots_of_ended_job(work, deadline->subject);
    }
}

/// What a transaction means for the market, of whatever subject it is.
void follow_up(Work& work, const Payload& payload) {
    if (const auto* revoked = std::get_if<NodeRevoke>(&payload)) drop_lots_of_revoked(work, revoked->node);
    if (const auto* lease = std::get_if<LeaseTake>(&payload)) begin_if_leased(work, lease->job);
    free_lots_of_ended_job(work, job_of(payload));
}

/// REQUIRES a state of the schema of these rules.
Events begin_on(State& state, const BlockContext& block) {
    Work work(state, block);
    release_unbonded(work);
    carry_out_due(work);
    return std::move(work.events);
}

}  // namespace

Result<void, Reason> check_against(const StateView& state, const BlockContext& block, const DecodedTx& tx) {
    ASSAY_ASSIGN(const PublicKey owner, owner_of(state, tx.body));
    const std::uint64_t nonce = next_nonce(state, tx.body.sender);
    if (tx.body.nonce < nonce) return failed(Reason::kNonceUsed);
    if (tx.body.nonce > nonce) return failed(Reason::kNonceGap);
    if (block.height > tx.body.expiry) return failed(Reason::kExpired);
    const Case c{state, block, tx.body.sender, owner};
    return std::visit([&](const auto& payload) { return check(c, payload); }, tx.body.payload);
}

Events apply(State& state, const BlockContext& block, const DecodedTx& tx) {
    Work work(state, block);
    const auto owner = owner_of(state, tx.body);
    ASSAY_CHECK(owner.ok());
    use_nonce(state, tx.body.sender);
    const Sent sent{tx.id, tx.body.sender, *owner};
    std::visit([&](const auto& payload) { carry_out(work, sent, payload); }, tx.body.payload);
    follow_up(work, tx.body.payload);
    return std::move(work.events);
}

ApplyOutcome apply_transaction(State& state, const BlockContext& block, ByteView signed_tx_bytes) {
    ApplyOutcome outcome;
    const auto refuse = [&](Reason reason) {
        outcome.reason = reason;
        return outcome;
    };
    const auto tx = check_static(block.chain_id, signed_tx_bytes);
    if (!tx) return refuse(tx.error());
    outcome.id = tx->id;
    const auto against = check_against(state, block, *tx);
    if (!against) return refuse(against.error());
    Overlay overlay(state);
    outcome.events = apply(overlay, block, *tx);
    // In production too: a ledger that would make or lose money stops before it writes.
    ASSAY_CHECK(check_changes(state, overlay).ok());
    overlay.write_to(state);
    outcome.applied = true;
    return outcome;
}

Events begin_block(State& state, const BlockContext& block) {
    migrate(state);
    Overlay overlay(state);
    Events told = begin_on(overlay, block);
    ASSAY_CHECK(check_changes(state, overlay).ok());
    overlay.write_to(state);
    return told;
}

Events foresee_block(const StateView& state, const BlockContext& block) {
    Overlay overlay(state);
    if (schema_of(state) != kSchemaVersion) return begin_block(overlay, block);
    return begin_on(overlay, block);
}

std::optional<std::uint64_t> next_deadline(const StateView& state) {
    if (schema_of(state) != kSchemaVersion) return 0;  // the migration is due at once
    const auto due = next_due(state);
    const auto release = next_release(state);
    if (!due || !release) return due ? due : release;
    return std::min(*due, *release);
}

}  // namespace assay::contracts
