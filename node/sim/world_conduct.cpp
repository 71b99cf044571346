// SPDX-License-Identifier: Apache-2.0
// What the parties of a world do that their roles would not, as far as no worker does it.
#include <algorithm>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/history.hpp"
#include "node/roles/beacon_keeper.hpp"
#include "node/sim/world.hpp"

namespace assay::node::sim {

namespace {

constexpr base::Amount kFlash = base::units(3'000'000 * base::kUnitsPerToken);

}  // namespace

bool World::is_among_friends(const contracts::SlotRound& slot) const {
    const auto is_friend = [&](const base::PublicKey& node) {
        return std::any_of(parties_.begin(), parties_.end(), [&](const auto& party) {
            return party->node.public_key() == node && party->behaviour.verdicts == Verdicts::kColludes;
        });
    };
    return !slot.verifiers.empty() && std::all_of(slot.verifiers.begin(), slot.verifiers.end(), is_friend);
}

FalseUnits World::cheat_of(SlotTurn place) const {
    const auto slot = contracts::read_slot(state(), running_, place.round, place.slot);
    if (!slot || !is_among_friends(*slot)) return FalseUnits::kNone;
    for (const auto& party : parties_)
        if (party->node.public_key() == slot->miner) return party->behaviour.false_units;
    return FalseUnits::kNone;
}

void World::move_flash_stake() {
    const auto job = contracts::read_job_progress(state(), running_);
    const auto round = job ? contracts::read_round_progress(state(), running_, job->round) : std::nullopt;
    const bool links_are_due = round && round->phase == contracts::RoundPhase::kBeacon;
    for (const auto& party : parties_) {
        if (!party->behaviour.flash_stake || flashed_.contains(party->name) == links_are_due) continue;
        const base::PublicKey node = party->node.public_key();
        if (links_are_due) {
            flashed_.insert(party->name);
            sign(party->owner, contracts::StakeDeposit{node, kFlash});
        } else {
            flashed_.erase(party->name);
            if (contracts::read_stake(state(), node).free >= kStake) ++flash_deposits_;
            sign(party->owner, contracts::StakeWithdraw{node, kFlash});
        }
    }
}

void World::quarrel() {
    for (const auto& party : parties_) {
        const Conduct& conduct = party->behaviour;
        if (conduct.quarrel == Quarrel::kNone) continue;
        std::set<base::PublicKey> targets;
        for (const auto& other : parties_) {
            const bool against_accomplices =
                conduct.quarrel == Quarrel::kThrows || conduct.quarrel == Quarrel::kStalls;
            const bool cheats = other->behaviour.false_units != FalseUnits::kNone ||
                                other->behaviour.quarrel == Quarrel::kConcedes;
            const bool vouches = against_accomplices && other->behaviour.verdicts == Verdicts::kColludes;
            if (vouches || (other->kind == WorkRole::kMiner && cheats == against_accomplices))
                targets.insert(other->node.public_key());
        }
        const QuarrelPlan plan{.quarrel = conduct.quarrel, .challenges_each = conduct.challenges_each};
        auto move =
            next_quarrel(state(), running_, chain_->height(), party->node.public_key(), plan, targets);
        if (move) sign(party->node, std::move(*move));
    }
}

Coalition World::coalition_of(const Player& looker) const {
    Coalition coalition{.wins_gain = looker.behaviour.counts_gain};
    for (const auto& party : parties_) {
        const base::PublicKey node = party->node.public_key();
        if (party->behaviour.verdicts == Verdicts::kColludes) coalition.verifiers.insert(node);
        if (party->kind == WorkRole::kMiner && party->behaviour.false_units != FalseUnits::kNone)
            coalition.miners[node] = party->behaviour.false_units;
    }
    return coalition;
}

void World::look_last() {
    for (const auto& party : parties_)
        if (party->behaviour.last_look != LastLook::kNone) look_last(*party);
}

void World::look_last(const Player& looker) {
    const base::PublicKey node = looker.node.public_key();
    const auto job = contracts::read_job(state(), running_);
    if (!job) return;
    std::optional<contracts::Payload> link;
    keep_beacon(state(), *job, node, beacon_secret(looker.node, job->id.view()),
                [&](const auto&, contracts::Payload payload) { link = std::move(payload); });
    if (!link) return;
    const auto round = contracts::read_round(state(), job->id, job->round);
    const bool is_last = std::all_of(round->links.begin(), round->links.end(), [&](const auto& other) {
        return other.node == node || other.opened || other.withheld;
    });
    const contracts::BlockContext block{genesis_.chain_id, chain_->height() + 1};
    if (!is_last) {
        // Whoever is absent voids the try anyway, and has everything drawn again for nothing.
        if (block.height >= round->phase_deadline) sign(looker.node, std::move(*link));
        return;
    }
    contracts::Overlay opened(state());
    const contracts::TxBody body{.sender = node,
                                 .nonce = contracts::next_nonce(state(), node),
                                 .expiry = block.height,
                                 .payload = *link};
    const Bytes sent = contracts::sign_transaction(body, looker.node, genesis_.chain_id);
    ASSAY_CHECK(contracts::apply_transaction(opened, block, sent).applied);
    DrawLook look =
        look_at_draw(state(), opened, *job, node, coalition_of(looker), looker.behaviour.last_look);
    const bool withheld = look.withheld;
    const bool seen =
        !looks_.empty() && looks_.back().round == look.round && looks_.back().index == look.index;
    if (!seen) looks_.push_back(std::move(look));
    if (!withheld) sign(looker.node, std::move(*link));
}

bool World::leaves_out(const Player& party, const contracts::Payload& payload) {
    if (party.name != setup_.drops_moves_of) return false;
    const contracts::TxType type = contracts::type_of(payload);
    const bool move = type == contracts::TxType::kDisputePost || type == contracts::TxType::kDisputePick ||
                      type == contracts::TxType::kDisputeProve || type == contracts::TxType::kDisputeOpen;
    return move && ++moves_seen_ % 2 == 1;
}

bool World::holds_back(const Player& party, const contracts::Payload& payload) const {
    if (party.behaviour.never_sends.contains(contracts::type_of(payload))) return true;
    const auto* ask = std::get_if<contracts::AskCommit>(&payload);
    if (ask == nullptr || !party.behaviour.bids_in_half) return false;
    return (base::Hasher("assay/sim/bids").add_u64(setup_.seed).add(ask->job).finish().bytes[0] & 1U) != 0;
}

void World::note_said(const Player& party, const contracts::AuditOpen& open) {
    const auto job = contracts::read_job(state(), open.job);
    if (!job || !party.behaviour.shares_work) return;
    const base::PublicKey node = party.node.public_key();
    const auto slots = contracts::assigned_slots(state(), open.job, open.round, open.stage, node);
    for (const contracts::AssignedSlot& slot : slots) {
        for (const contracts::SlotClaim& claim : open.claims) {
            if (claim.slot != slot.slot) continue;
            SaidOfSlot said{.served_start = slot.needs_start && slot.served, .replayed = claim.replayed};
            for (const std::uint32_t unit : contracts::claimed_units(slot.units, claim.replayed))
                said.work += contracts::unit_work(job->spec, job->slot_work, unit);
            said_[{node, open.round, slot.slot}] = said;
        }
    }
}

std::optional<Bytes> World::with_least_lock(const Player& party, const contracts::TxBody& body) const {
    const auto* enlists = std::get_if<contracts::VerifierEnlist>(&body.payload);
    if (enlists == nullptr || !party.behaviour.locks_least) return std::nullopt;
    const auto job = contracts::read_job(state(), enlists->job);
    if (!job) return std::nullopt;
    const auto least =
        contracts::enlistment_minimum(contracts::params_of(state(), *job), job->spec, job->slot_work);
    if (!least) return std::nullopt;
    contracts::TxBody lower = body;
    std::get<contracts::VerifierEnlist>(lower.payload).stake = *least;
    return contracts::sign_transaction(lower, party.node, genesis_.chain_id);
}

}  // namespace assay::node::sim
