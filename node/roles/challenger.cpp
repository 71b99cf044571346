// SPDX-License-Identifier: Apache-2.0
#include "node/roles/challenger.hpp"

#include <algorithm>
#include <utility>

#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/prices.hpp"
#include "node/roles/beacon_keeper.hpp"
#include "node/roles/following_role.hpp"
#include "node/roles/job_note.hpp"
#include "node/roles/open_rounds.hpp"
#include "node/roles/voucher_calls.hpp"

namespace assay::node {

namespace frames = worker;
using contracts::Claim;
using contracts::ClaimId;
using contracts::ClaimKind;
using contracts::Game;

namespace {

constexpr std::string_view kNotes = "doubt-";

// So many looks have their files fetched at a time, that what one fetches does not make room for another's.
constexpr std::size_t kGatheredAtATime = 4;
/// After that a look whose files do not come keeps nobody else from fetching.
constexpr std::uint64_t kPatienceNs = 20'000'000'000;

std::string note_of(const ClaimId& id) {
    return job_note("doubt", id.job, {id.round, static_cast<std::uint64_t>(id.kind), id.number});
}

std::string claim_name(const ClaimId& id) {
    const std::string what =
        id.kind == ClaimKind::kSlot ? " slot " + std::to_string(id.number) : std::string(" merge");
    return round_name(id.job, id.round) + what;
}

}  // namespace

DisputedUnit merge_difference(const contracts::RoundProgress& stands,
                              const std::vector<std::uint32_t>& clips) {
    const std::vector<std::uint32_t>& claimed = stands.result.clips;
    for (std::size_t i = 0; i < clips.size() && i < claimed.size(); ++i) {
        if (clips[i] != claimed[i]) return {dispute::UnitKind::kClip, stands.merged_slots[i]};
    }
    return {dispute::UnitKind::kMerge, 0};
}

Challenger::Challenger(const Seams& seams, BlobFiles& files, Requests& requests, JobBench& bench,
                       const base::SecretKey& node, double rate, PlayerTold::Offer offer,
                       PlayerTold::HasRoom has_room)
    : seams_(seams),
      files_(files),
      requests_(requests),
      bench_(bench),
      node_(node),
      rate_(rate),
      offer_(std::move(offer)),
      has_room_(std::move(has_room)) {}

void Challenger::set_rate(double rate) {
    if (std::exchange(rate_, rate) != rate) looked_at_.reset();
}

void Challenger::doubt(const Doubt& doubt) {
    const ClaimId id{doubt.job, doubt.round, doubt.kind, doubt.number};
    if (!doubts_.try_emplace({id.job, id.round, id.kind, id.number}, doubt).second) return;
    const auto written = seams_.disk.write(note_of(id), base::encode(doubt));
    // Without the note only a role that starts again forgets it.
    if (!written.ok()) seams_.log.warn("a doubt is not kept over a restart: " + written.error().what);
    looked_at_.reset();
}

void Challenger::take_over_notes() {
    if (std::exchange(notes_taken_over_, true)) return;
    const auto names = seams_.disk.names(kNotes);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>{}) {
        const auto kept = seams_.disk.read(name);
        if (!kept.ok() || !kept->has_value()) continue;
        const auto doubt = base::decode<Doubt>(**kept);
        if (doubt.ok()) doubts_.try_emplace({doubt->job, doubt->round, doubt->kind, doubt->number}, *doubt);
    }
}

bool Challenger::is_drawn(const ClaimId& id) const {
    if (rate_ <= 0 || id.kind != ClaimKind::kSlot) return false;
    base::Bytes name = base::to_bytes(id.job.view());
    for (const std::uint32_t number : {id.round, id.number}) {
        const base::Bytes bytes = base::encode(number);
        name.insert(name.end(), bytes.begin(), bytes.end());
    }
    const base::Hash256 draw = beacon_secret(node_, base::hash("assay/challenge", name).view());
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) number = (number << 8U) | draw.bytes[i];
    return static_cast<double>(number) < rate_ * 0x1p64;
}

void Challenger::follow(const contracts::StateView& state, std::uint64_t height) {
    take_over_notes();
    if (looked_at_ != height || !computed_.empty()) {
        looked_at_ = height;
        look(state, height);
    }
    for (const auto& [name, move] : moves_) offer_(name, move);
}

void Challenger::look(const contracts::StateView& state, std::uint64_t height) {
    std::map<ClaimKey, Look> before = std::exchange(looks_, {});
    for (const base::Hash256& job : contracts::list_active_jobs(state)) {
        for (const ClaimId& id : contracts::list_accused(state, job)) look_at(state, id, height);
        for (const ClaimId& id : drawn(state, job)) look_at(state, id, height);
    }
    for (const auto& [key, doubt] : doubts_)
        look_at(state, {doubt.job, doubt.round, doubt.kind, doubt.number}, height);
    std::erase_if(drawn_, [&](const auto& entry) { return contracts::has_ended(state, entry.first); });
    for (auto& [key, look] : looks_) {
        const auto known = before.find(key);
        if (known == before.end()) continue;
        look.done = look.done || known->second.done;
        look.gathers_since_ns = known->second.gathers_since_ns;
        look.pin = known->second.pin;
        if (known->second.unit) look.unit = known->second.unit;
    }
    compare(state);
    moves_.clear();
    for (const auto& [key, look] : looks_) {
        if (!look.unit || !is_due(state, look)) continue;
        if (look.died_in) {
            call_vouchers(state, look, height);
        } else if (has_stake(state, look)) {
            moves_["challenge of " + claim_name(look.id)] = contracts::DisputeOpen{.job = look.id.job,
                                                                                   .round = look.id.round,
                                                                                   .kind = look.id.kind,
                                                                                   .number = look.id.number,
                                                                                   .unit = look.unit->unit,
                                                                                   .part = look.unit->part};
        }
    }
    std::erase_if(doubts_, [&](const auto& entry) {
        const auto& [job, round, kind, number] = entry.first;
        const ClaimId id{job, round, kind, number};
        const auto claim = contracts::read_claim(state, id);
        const auto now = contracts::read_round_progress(state, job, round);
        // Before its round is settled it may still come.
        const bool over = contracts::has_ended(state, job) ||
                          (!claim && now && now->phase == contracts::RoundPhase::kSettled);
        if (over) (void)seams_.disk.remove(note_of(id));
        return over;
    });
}

std::vector<ClaimId> Challenger::drawn(const contracts::StateView& state, const base::Hash256& job) {
    if (rate_ <= 0) return {};
    const auto first = contracts::first_open_round(state, job);
    const auto progress = contracts::read_job_progress(state, job);
    if (!first || !progress) return {};
    Drawn& known = drawn_[job];
    known.next = std::max(known.next, *first);
    for (; known.next <= progress->round; ++known.next) {
        const auto round = contracts::read_round_progress(state, job, known.next);
        if (!round || round->phase != contracts::RoundPhase::kSettled) break;
        for (const auto& [id, claim] : contracts::list_claims(state, job, known.next))
            if (is_drawn(id)) known.claims.push_back(id);
    }
    std::erase_if(known.claims, [&](const ClaimId& id) { return !contracts::read_claim(state, id); });
    return known.claims;
}

void Challenger::look_at(const contracts::StateView& state, const ClaimId& id, std::uint64_t height) {
    const auto open = contracts::read_claim(state, id);
    if (!open) return;
    const Claim& claim = *open;
    const ClaimKey key{id.job, id.round, id.kind, id.number};
    const auto doubted = doubts_.find(key);
    const bool accuses = contracts::unused_accusation(claim, node_.public_key()).has_value();
    if (doubted == doubts_.end() && !accuses && !is_drawn(id)) return;
    const auto end = contracts::end_of_window(state, id, claim);
    const auto me = contracts::read_node_key(state, node_.public_key());
    // A challenge comes into the next block at the earliest.
    if (id.kind == ClaimKind::kSlot && !contracts::read_reveal(state, id.job, id.round, id.number)) return;
    if (!end || !me || (me->owner == claim.owner && !accuses)) return;
    Look& look = looks_[key];
    look.id = id;
    look.accuses = accuses;
    // Whoever accuses has to open its game, and has less time for it.
    look.until = accuses ? claim.accuse_by - 1 : *end;
    // The time that others' accusations add to a claim is theirs alone.
    const auto round = contracts::read_round_progress(state, id.job, id.round);
    const auto job = contracts::read_job(state, id.job);
    if (!accuses && round && job)
        look.until = std::min(look.until, round->settled_at + contracts::params_of(state, *job).claim_window);
    // Whoever vouched for it can be called, also if its claimant lost to a friend before anybody else looked.
    const auto killer = claim.dead ? contracts::game_that_killed(state, id) : std::nullopt;
    if (killer) {
        look.died_in = killer->number;
        look.until = contracts::end_of_calls(state, id.job, *killer) - 1;
    }
    if (height >= look.until) return static_cast<void>(looks_.erase(key));
    // What it merged itself the ledger knows, also where the role has started again since.
    const auto own = contracts::read_merge_posting(state, id.job, id.round, node_.public_key());
    if (accuses && id.kind == ClaimKind::kMerge && round && own) {
        look.done = true;
        look.unit = merge_difference(*round, own->claim.clips);
        return;
    }
    if (doubted == doubts_.end() || !doubted->second.unit) return;
    look.done = true;
    look.unit = DisputedUnit{*doubted->second.unit, doubted->second.part};
}

// An accuser that opens no game loses. Somebody else's game is no reason to wait, since it can be lost on
// purpose. If a claim died in a game of this node, or while this node had one about it, its GamePlayer calls.
bool Challenger::is_due(const contracts::StateView& state, const Look& look) const {
    if (look.accuses) return true;
    for (const Game& game : contracts::list_games_about(state, look.id))
        if (!game.called && game.challenger == node_.public_key()) return false;
    return true;
}

bool Challenger::has_stake(const contracts::StateView& state, const Look& look) {
    if (look.accuses) return true;
    const auto job = contracts::read_job(state, look.id.job);
    const auto claim = contracts::read_claim(state, look.id);
    if (!job || !claim) return false;
    const auto bond =
        contracts::challenge_bond(contracts::params_of(state, *job), *job,
                                  contracts::price_of_round(state, *job, look.id.round), *claim);
    if (bond && contracts::read_stake(state, node_.public_key()).free >= *bond) return true;
    if (bond) warn_of_stake(look, "challenge it", *bond);
    return false;
}

void Challenger::call_vouchers(const contracts::StateView& state, const Look& look, std::uint64_t height) {
    const auto killer = contracts::read_game(state, look.id.job, *look.died_in);
    if (!killer) return;
    const DueCalls due = calls_due(state, look.id.job, *killer, *look.unit, node_.public_key(), height);
    for (const contracts::DisputeCall& call : due.calls) moves_[name_of(call)] = call;
    if (due.lacking) warn_of_stake(look, "call who vouched for it", *due.lacking);
}

void Challenger::warn_of_stake(const Look& look, const std::string& what, base::Amount bond) {
    if (!poor_.insert({look.id.job, look.id.round, look.id.kind, look.id.number}).second) return;
    seams_.log.warn(claim_name(look.id) + " is false, and the free stake of this node does not reach to " +
                    what + " (" + base::to_text(bond) + "); add to it with: assay stake add");
}

std::vector<Challenger::Look*> Challenger::waiting_looks() {
    std::vector<Look*> waiting;
    for (auto& [key, look] : looks_) {
        if (look.done || computed_.contains(key)) continue;
        if (bench_.refuses(look.id.job)) {
            look.done = true;
            seams_.log.warn(claim_name(look.id) + " is not computed again: this node refuses its job");
            continue;
        }
        waiting.push_back(&look);
    }
    // Whoever opens no game about what it accused loses as if it had lost one.
    std::stable_sort(waiting.begin(), waiting.end(), [](const Look* one, const Look* other) {
        return std::pair(!one->accuses, one->until) < std::pair(!other->accuses, other->until);
    });
    return waiting;
}

void Challenger::compute(const contracts::StateView& state) {
    if (asked_) return;
    const std::uint64_t now = seams_.clock.mono_ns();
    std::size_t gathering = 0;
    for (Look* const look : waiting_looks()) {
        if (!look->gathers_since_ns) look->gathers_since_ns = now;
        if (train(state, *look)) return;
        if (now - *look->gathers_since_ns < kPatienceNs && ++gathering == kGatheredAtATime) return;
    }
}

bool Challenger::is_own(const contracts::StateView& state, const contracts::Job& job) const {
    const base::PublicKey& me = node_.public_key();
    return takes_part(job, me) || !open_rounds(state, job, me).empty();
}

void Challenger::add_borrowed(const contracts::StateView& state, std::set<BlobId>& blobs) {
    std::set<BlobId> borrowed;
    for (const auto& [key, look] : looks_) {
        if (!look.gathers_since_ns || (look.done && !look.unit)) continue;
        const auto job = contracts::read_job(state, look.id.job);
        const auto round = contracts::read_round(state, look.id.job, look.id.round);
        if (!job || !round || is_own(state, *job)) continue;
        borrowed.insert({job->spec.data.train, job->spec.data.held_out, round->base_blob});
        const auto carried = contracts::carried_in(state, look.id.job, look.id.round, look.id.number);
        if (!carried.nothing()) borrowed.insert(carried.blob);
    }
    add_arrays(files_, borrowed);
    blobs.merge(borrowed);
}

void Challenger::give_way() {
    if (asked_) seams_.worker.cancel(*asked_);
}

bool Challenger::train(const contracts::StateView& state, Look& look) {
    const ClaimId id = look.id;
    const auto job = contracts::read_job(state, id.job);
    const auto round = contracts::read_round(state, id.job, id.round);
    if (!job || !round) return false;
    if (!look.pin) {
        const bool pins = is_own(state, *job) || !has_room_ || has_room_(*job);
        look.pin = pins ? Pin::kPinned : Pin::kEvictable;
    }
    const Pin pin = *look.pin;
    // All of it is here before its job is opened: two jobs would take the worker from each other for ever.
    bool here = bench_.gather_earlier(state, *job, round->base_blob, pin);
    std::vector<SharedDescriptor> bulk;
    const auto carried = contracts::carried_in(state, id.job, id.round, id.number);
    if (!carried.nothing()) {
        contracts::Job then = *job;
        then.round = id.round;
        StateTerms terms =
            slot_terms(job->spec, program::strategy_of(job->spec).carried_arrays, Traffic::kCarried);
        terms.pin = pin;
        const auto held = bench_.wants().want_state(
            carried.blob, holders_of_carried(state, then, id.number, node_.public_key()), terms);
        here = here && held;
        if (held) bulk = *held;
    }
    if (!here) return false;
    const auto base = bench_.earlier_base(state, *job, round->base_blob, pin);
    // Whoever accuses somebody from another base than the round's loses its bond.
    if (!base || bench_.drop_changed_base(*job, round->base_blob)) return false;
    bulk.insert(bulk.begin(), *base);
    const ClaimKey key{id.job, id.round, id.kind, id.number};
    asked_ = requests_.on_worker([this, key](const WorkerAnswered& answer) {
        if (!answer.last) return;
        asked_.reset();
        on_answer(key, answer);
    });
    seams_.log.info(claim_name(id) + " is settled; I compute it again");
    seams_.worker.submit(*asked_,
                         frames::Train{.round = id.round,
                                       .slot = id.number,
                                       .resume = std::nullopt,
                                       .drills = {},
                                       .carried_in = carried.root},
                         std::move(bulk));
    return true;
}

void Challenger::on_answer(const ClaimKey& key, const WorkerAnswered& answer) {
    if (const auto* trained = std::get_if<frames::Trained>(&answer.message)) {
        computed_[key] = trained->trace;
        return;
    }
    const auto& job = std::get<base::Hash256>(key);
    const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
    if (refusal != nullptr && bench_.after_refusal(job, *refusal) == Remedy::kAgain) return;
    seams_.log.warn(not_done("a settled slot of job " + job.brief() + " is not computed again", answer).what);
    const auto found = looks_.find(key);
    if (found != looks_.end()) found->second.done = true;
}

void Challenger::compare(const contracts::StateView& state) {
    for (const auto& [key, own] : computed_) {
        const auto found = looks_.find(key);
        if (found == looks_.end()) continue;
        Look& look = found->second;
        look.done = true;
        const auto reveal = contracts::read_reveal(state, look.id.job, look.id.round, look.id.number);
        const auto job = contracts::read_job(state, look.id.job);
        if (!reveal || !job) continue;
        look.unit = first_difference(reveal->trace, own, job->spec);
        if (!look.unit) {
            seams_.log.info(claim_name(look.id) + " is what it claims to be");
            continue;
        }
        const std::string part =
            look.unit->unit == dispute::UnitKind::kSegment ? " " + std::to_string(look.unit->part) : "";
        seams_.log.warn(claim_name(look.id) + " is false: its " +
                        std::string(dispute::to_text(look.unit->unit)) + part +
                        " is not what its start gives");
    }
    computed_.clear();
}

}  // namespace assay::node
