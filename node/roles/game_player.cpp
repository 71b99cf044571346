// SPDX-License-Identifier: Apache-2.0
#include "node/roles/game_player.hpp"

#include <algorithm>

#include "contracts/dispute/player.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "node/dispute/move_words.hpp"
#include "node/roles/following_role.hpp"
#include "node/roles/open_rounds.hpp"
#include "node/roles/voucher_calls.hpp"

namespace assay::node {

namespace frames = worker;
using contracts::Game;
using contracts::GamePhase;
using contracts::Payload;
using dispute::UnitKind;
using dispute::WayStage;

/// A game of this node.
struct GamePlayer::Play {
    Play(base::Hash256 job_, program::JobSpec spec_, dispute::UnitClaim unit_)
        : job(job_), spec(std::move(spec_)), unit(std::move(unit_)), facts(spec, unit) {}

    const base::Hash256 job;
    const program::JobSpec spec;
    const dispute::UnitClaim unit;
    dispute::UnitFacts facts;
    Game game;
    std::unique_ptr<WorkerMemory> memory;  ///< null until its files are here
    std::optional<Payload> move;           ///< of this turn, once it is known
    std::optional<WorkerAsk> ask;          ///< at work
    base::Bytes answered;                  ///< key of what was answered last
    bool satisfied = false;                ///< and answered as far as needed
    bool stuck = false;                    ///< the worker cannot do it: the clock decides
    bool begun_again = false;              ///< a state that its worker had computed has changed on the disk
    bool from_served = false;              ///< it computes from a start that the slot's miner served
    bool served_unfit = false;             ///< its worker could not read that start
    std::optional<Pin> pin;                ///< of what it needs, once that is gathered
    std::set<BlobId> blobs;                ///< that it needs
    std::map<OwnState, BlobId> computed;   ///< by its worker, in the store
};

/// Whether the game is played from the base state of its round: an update and a merge are made from it, and
/// a slot is run from it where no start was served.
bool GamePlayer::reads_base(const Play& play) {
    switch (play.unit.kind) {
        case UnitKind::kClip: return false;
        case UnitKind::kMerge:
        case UnitKind::kUpdate: return true;
        case UnitKind::kSegment:
        case UnitKind::kCarried: break;
    }
    return !play.from_served;
}

std::string dispute_name(const base::Hash256& job, std::uint32_t number) {
    return "dispute " + std::to_string(number) + " of job " + job.brief();
}

GamePlayer::GamePlayer(const Seams& seams, BlobFiles& files, Requests& requests, JobBench& bench,
                       const base::PublicKey& me, PlayerTold told)
    : seams_(seams), files_(files), requests_(requests), bench_(bench), me_(me), told_(std::move(told)) {}

GamePlayer::~GamePlayer() = default;

void GamePlayer::say(const Play& play, const std::string& text) const {
    seams_.log.info(dispute_name(play.job, play.game.number) + " about " + describe_unit(play.unit) + ": " +
                    text);
}

bool GamePlayer::is_my_turn(const Game& game) const {
    if (game.phase != GamePhase::kRunning) return false;
    return (game.way.claimant_moves() ? game.claimant : game.challenger) == me_;
}

void GamePlayer::follow(const contracts::StateView& state, std::uint64_t height) {
    if (looked_at_ != height) {
        looked_at_ = height;
        look(state);
    }
    for (const auto& [name, play] : plays_) {
        if (play->move && is_my_turn(play->game)) {
            told_.offer(
                dispute_name(play->job, play->game.number) + ", move " + std::to_string(play->game.moves),
                *play->move);
        }
    }
    for (const auto& [name, call] : calls_) told_.offer(name, call);
}

void GamePlayer::look(const contracts::StateView& state) {
    calls_.clear();
    for (const base::Hash256& job : contracts::list_active_jobs(state)) {
        for (const Game& game : contracts::list_games_about_open_claims(state, job))
            look_at(state, job, game);
    }
    std::erase_if(plays_, [&](const auto& entry) {
        const auto game = contracts::read_game(state, entry.first.first, entry.first.second);
        if (game && game->is_open()) return false;
        if (game) entry.second->game = *game;
        if (game) end_play(state, *entry.second);
        // Only the play whose request is at work has one.
        if (asked_ && entry.second->ask) seams_.worker.cancel(*asked_);
        return true;
    });
    needed_.clear();
    borrowed_.clear();
    for (const auto& [name, play] : plays_) {
        std::set<BlobId>& blobs = play->pin == Pin::kEvictable ? borrowed_ : needed_;
        blobs.insert(play->blobs.begin(), play->blobs.end());
        for (const auto& [which, blob] : play->computed) blobs.insert(blob);
    }
    add_arrays(files_, borrowed_);
}

void GamePlayer::look_at(const contracts::StateView& state, const base::Hash256& job, const Game& game) {
    if (game.claimant != me_ && game.challenger != me_) return;
    if (!game.is_open()) {
        if (game.challenger == me_) call_vouchers(state, job, game);
        return;
    }
    auto& play = plays_[{job, game.number}];
    const auto now = contracts::read_game(state, job, game.number);
    if (!play) {
        const auto terms = contracts::read_job_terms(state, job);
        const auto pieces = contracts::read_game_pieces(state, job, game.number);
        if (!terms || !pieces || !now) return static_cast<void>(plays_.erase({job, game.number}));
        play = std::make_unique<Play>(job, terms->spec, pieces->unit);
        play->game = *now;
        say(*play, game.claimant == me_ ? "I defend what I claimed" : "I challenge it");
    }
    if (now->moves != play->game.moves) play->move.reset();
    play->game = *now;
}

void GamePlayer::end_play(const contracts::StateView& state, const Play& play) {
    const bool lost = play.game.claimant_lost == (play.game.claimant == me_);
    std::string text = "it has ended, " + std::string(to_text(play.game.end));
    if (play.game.end == contracts::GameEnd::kClosed || play.game.end == contracts::GameEnd::kVoid) {
        say(play, text + ": nobody lost it");
        return;
    }
    if (play.game.end == contracts::GameEnd::kJudged)
        text += " (" + std::string(to_text(play.game.finding.reason)) + ")";
    say(play,
        text + (lost ? ": I have lost " : ": I have won; the loser pays ") + base::to_text(play.game.lost));
    (void)state;
}

void GamePlayer::call_vouchers(const contracts::StateView& state, const base::Hash256& job,
                               const Game& over) {
    if (over.called || !contracts::read_claim(state, over.claim_id(job))) return;
    const bool won = over.killed_claim();
    // One that it lost itself is no reason to defend its word about that unit again.
    if (!won && over.end != contracts::GameEnd::kClosed) return;
    const auto killer = won ? std::optional(over) : contracts::game_that_killed(state, over.claim_id(job));
    if (!killer) return;
    const DueCalls due = calls_due(state, job, *killer, {over.unit, over.part}, me_, looked_at_.value_or(0));
    for (const contracts::DisputeCall& call : due.calls) calls_[name_of(call)] = call;
}

std::vector<GamePlayer::Play*> GamePlayer::waiting_plays() {
    std::vector<Play*> waiting;
    for (const auto& [name, play] : plays_) {
        if (is_my_turn(play->game) && !play->move && !play->stuck) waiting.push_back(play.get());
    }
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const Play* one, const Play* other) { return one->game.due < other->game.due; });
    return waiting;
}

bool GamePlayer::is_urgent(const Play& play) const {
    const std::uint64_t since = play.game.turn_since;
    const std::uint64_t waited = std::max(looked_at_.value_or(0), since) - since;
    const std::uint64_t half = (play.game.due - std::min(play.game.due, since)) / 2;
    return waited >= (owes_role_ ? half + half / 2 : half);
}

// The role submits between the two calls of a plan, so that fewer requests at the next plan's first call mean
// that some have ended.
void GamePlayer::look_at_role(bool first, bool busy) {
    const std::size_t now = told_.at_work ? told_.at_work() : (busy ? 1U : 0U);
    if (left_at_work_) {
        if (now <= *left_at_work_) left_at_work_.reset();
    } else if (first && now < role_at_work_) {
        owes_role_ = false;
    }
    role_at_work_ = now;
}

void GamePlayer::compute(const contracts::StateView& state, bool first, bool busy) {
    const Turn turn{.due = first != yields_, .busy = busy};
    // The role has had its turn once it took the worker, or has no work for it.
    if (!first && !asked_ && !bench_.is_opening()) yields_ = false;
    look_at_role(first, busy);
    if (asked_) return;
    // A move that lacks files, or needs no worker any more, leaves it to the next.
    for (Play* const play : waiting_plays()) {
        if (!advance(state, *play, turn)) continue;
        yields_ = true;
        return;
    }
}

bool GamePlayer::may_take(const Play& play, const Turn& turn) {
    const bool urgent = is_urgent(play);
    if (!turn.due && !urgent) return false;
    const bool is_open = bench_.has_open(play.job);
    if (!turn.busy && (is_open || role_at_work_ == 0)) return true;
    if (!urgent || !told_.give_way || left_at_work_) return false;
    told_.give_way(play.job, dispute_name(play.job, play.game.number));
    left_at_work_ = is_open && role_at_work_ > 0 ? role_at_work_ - 1 : 0;
    owes_role_ = true;
    return false;
}

bool GamePlayer::has_files(const contracts::StateView& state, const contracts::Job& job, Play& play,
                           const Turn& turn) {
    if (play.memory) return true;
    auto files = gather(state, job, play);
    if (!files || !add_base(state, job, play, turn, *files)) return false;
    play.memory = std::make_unique<WorkerMemory>(play.facts, std::move(*files));
    return true;
}

bool GamePlayer::advance(const contracts::StateView& state, Play& play, const Turn& turn) {
    const auto job = contracts::read_job(state, play.job);
    if (bench_.refuses(play.job)) {
        give_up(play, "this node refuses its job");
        return false;
    }
    if (!job || !has_files(state, *job, play, turn)) return false;
    play.memory->begin();
    auto move = next_move(play);
    if (play.memory->lacks_run()) {
        play.served_unfit = true;
        begin_again(play);
        say(play, "what its miner served does not lead there; I compute it from the round's base");
        return advance(state, play, turn);
    }
    if (!play.memory->lacking()) {
        play.move = std::move(move);
        return false;
    }
    if (play.answered == play.memory->lacking()->key) {
        give_up(play, "its worker does not answer what it is asked");
        return false;
    }
    if (!may_take(play, turn) || !bench_.opened(state, *job, play.pin.value_or(Pin::kPinned))) return false;
    ask(state, play);
    return true;
}

Pin GamePlayer::pin_of(const contracts::StateView& state, const contracts::Job& job) const {
    const bool is_own = takes_part(job, me_) || !open_rounds(state, job, me_).empty();
    return is_own || !told_.has_room || told_.has_room(job) ? Pin::kPinned : Pin::kEvictable;
}

std::optional<PlayerFiles> GamePlayer::gather(const contracts::StateView& state, const contracts::Job& job,
                                              Play& play) {
    const auto round = contracts::read_round(state, job.id, play.game.round);
    if (!round) return std::nullopt;
    PlayerFiles files;
    if (told_.served && !play.served_unfit) files.served = told_.served(job, play.unit);
    play.from_served = files.served.has_value();
    files.can_run = !play.from_served;
    if (!play.pin) play.pin = pin_of(state, job);
    play.blobs.insert({job.spec.data.train, job.spec.data.held_out, round->base_blob});
    bool all = !reads_base(play) || bench_.gather_earlier(state, job, round->base_blob, *play.pin);
    if (play.unit.kind == UnitKind::kMerge || play.unit.kind == UnitKind::kClip)
        return add_updates(state, job, play, files) && all ? std::optional(std::move(files)) : std::nullopt;
    if (files.can_run) all = add_carried(state, job, play, files) && all;
    if (!all) return std::nullopt;
    files.keep = [this, &play](OwnState which, const StateFiles& state_files) {
        return keep_state(play, which, state_files);
    };
    const bool is_own = play.game.claimant == me_ && !play.game.called;
    if (is_own && told_.drills) files.drills = told_.drills(play.game.round);
    return files;
}

bool GamePlayer::add_base(const contracts::StateView& state, const contracts::Job& job, Play& play,
                          const Turn& turn, PlayerFiles& files) {
    if (!reads_base(play)) return true;
    const auto round = contracts::read_round(state, job.id, play.game.round);
    if (!round) return false;
    // Otherwise the job is opened for it, or its first state is made.
    const auto stored = bench_.stored_base(job, round->base_blob);
    const bool is_known = bench_.has_open(job.id) && stored && files_.has(*stored);
    if (!is_known && !may_take(play, turn)) return false;
    const auto base = bench_.earlier_base(state, job, round->base_blob, *play.pin);
    // Whoever plays from another base than the round's loses a game that it is right about.
    if (!base || bench_.drop_changed_base(job, round->base_blob)) return false;
    files.base = *base;
    play.blobs.insert(bench_.stored_base(job, round->base_blob).value_or(BlobId{}));
    return true;
}

bool GamePlayer::add_carried(const contracts::StateView& state, const contracts::Job& job, Play& play,
                             PlayerFiles& files) {
    const auto carried = contracts::carried_in(state, job.id, play.game.round, play.unit.slot);
    if (carried.nothing()) return true;
    contracts::Job then = job;
    then.round = play.game.round;
    play.blobs.insert(carried.blob);
    StateTerms terms = slot_terms(job.spec, program::strategy_of(job.spec).carried_arrays, Traffic::kCarried);
    terms.pin = *play.pin;
    const auto held =
        bench_.wants().want_state(carried.blob, holders_of_carried(state, then, play.unit.slot, me_), terms);
    if (!held) return false;
    files.carried_root = carried.root;
    files.carried = *held;
    return true;
}

StateFiles GamePlayer::keep_state(Play& play, OwnState which, const StateFiles& files) {
    if (files.empty()) return files;
    const auto put = [&] {
        return bench_.wants().put_state(files, "a state of " + dispute_name(play.job, play.game.number),
                                        Serving::kWithheld);
    };
    auto blob = put();
    // A file that was here is not written again: what has changed must go first.
    if (blob && drop_changed(*blob)) blob = put();
    StateFiles opened = blob ? open_whole(files_, *blob) : StateFiles{};
    if (opened.size() != files.size()) return files;
    play.computed[which] = *blob;
    if (play.pin != Pin::kEvictable) {
        needed_.insert(*blob);
        return opened;
    }
    // An open file stays readable when its blob makes room for others.
    std::set<BlobId> blobs{*blob};
    add_arrays(files_, blobs);
    for (const BlobId& one : blobs) (void)files_.set_pin(one, Pin::kEvictable);
    borrowed_.merge(blobs);
    return opened;
}

bool GamePlayer::drop_changed(const BlobId& state) {
    std::set<BlobId> blobs{state};
    add_arrays(files_, blobs);
    bool any = false;
    for (const BlobId& blob : blobs) {
        if (files_.is_intact(blob)) continue;
        files_.drop(blob);
        any = true;
    }
    return any;
}

bool GamePlayer::add_updates(const contracts::StateView& state, const contracts::Job& job, Play& play,
                             PlayerFiles& files) {
    const auto round = contracts::read_round(state, job.id, play.game.round);
    bool all = true;
    for (const std::uint32_t slot : round->merged_slots) {
        if (play.unit.kind == UnitKind::kClip && slot != play.unit.slot) continue;
        const auto reveal = contracts::read_reveal(state, job.id, play.game.round, slot);
        const auto record = contracts::read_slot(state, job.id, play.game.round, slot);
        if (!reveal || !record) return false;
        FetchTerms terms = update_terms(job.spec);
        terms.pin = *play.pin;
        const auto file =
            bench_.wants().want(reveal->update_blob, holders_of_stored(state, job, *record, me_), terms);
        play.blobs.insert(reveal->update_blob);
        files.slots.push_back(slot);
        if (file) files.updates.push_back(*file);
        all = all && file.has_value();
    }
    return all;
}

Payload GamePlayer::concede(const Play& play, const std::string& why) {
    say(play, "I concede: " + why);
    return contracts::DisputeConcede{.job = play.job, .game = play.game.number};
}

std::optional<Payload> GamePlayer::next_move(Play& play) {
    WorkerMemory& own = *play.memory;
    const dispute::Way& way = play.game.way;
    const bool claims = play.game.claimant == me_;
    const bool fits = own.starts_as_claimed();
    if (own.lacking()) return std::nullopt;
    if (!fits) return concede(play, "what I compute does not lead to where the unit starts");
    if (!claims) {
        const auto pick = dispute::next_pick(way, play.facts, own);
        if (own.lacking()) return std::nullopt;
        if (!pick) return concede(play, "I find nothing to reject");
        say(play, "I reject " + describe_pick(way, play.facts, *pick));
        return contracts::DisputePick{.job = play.job, .game = play.game.number, .pick = *pick};
    }
    if (way.stage == WayStage::kWitness) {
        auto witness = own.witness(way);
        if (own.lacking()) return std::nullopt;
        if (witness.empty()) return concede(play, "I cannot open what I claimed");
        say(play, "I open " + dispute::describe_way(way, play.facts) + " in " +
                      std::to_string(witness.size()) + " bytes");
        return contracts::DisputeProve{
            .job = play.job, .game = play.game.number, .witness = std::move(witness)};
    }
    auto hashes = dispute::next_post(way, own);
    if (own.lacking()) return std::nullopt;
    if (!dispute::may_post(way, play.facts, hashes))
        return concede(play, "what I compute is not what I claimed");
    say(play, "I post " + describe_post(way, play.facts));
    return contracts::DisputePost{.job = play.job, .game = play.game.number, .hashes = std::move(hashes)};
}

void GamePlayer::ask(const contracts::StateView& state, Play& play) {
    (void)state;
    play.ask = play.memory->lacking();
    play.satisfied = false;
    const Name name{play.job, play.game.number};
    asked_ = requests_.on_worker([this, name](const WorkerAnswered& answer) { on_answer(name, answer); });
    seams_.worker.submit(*asked_, play.ask->request, play.ask->bulk);
}

void GamePlayer::on_answer(const Name& name, const WorkerAnswered& answer) {
    const RequestId request = asked_.value_or(0);
    if (answer.last) asked_.reset();
    const auto found = plays_.find(name);
    if (found == plays_.end() || !found->second->ask) return;  // the game ended meanwhile
    Play& play = *found->second;
    if (!play.satisfied && play.memory->take(*play.ask, answer.message, answer.bulk)) {
        play.satisfied = true;
        if (!answer.last) seams_.worker.cancel(request);
    }
    if (!answer.last) return;
    const base::Bytes key = play.ask->key;
    play.ask.reset();
    const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
    if (refusal != nullptr && !play.satisfied) return on_refusal(play, *refusal);
    play.answered = key;
}

void GamePlayer::on_refusal(Play& play, const frames::Refusal& refusal) {
    const Remedy remedy = bench_.after_refusal(play.job, refusal);
    if (remedy == Remedy::kAgain) return say(play, refusal.text + "; I ask my worker again");
    if (remedy == Remedy::kResult) {
        play.move = concede(play, refusal.text);
        return;
    }
    // A state that it computed before lies on the disk, and may have changed there.
    if (!play.computed.empty() && !std::exchange(play.begun_again, true)) {
        for (const auto& [which, blob] : play.computed) (void)drop_changed(blob);
        begin_again(play);
        return say(play, refusal.text + "; I compute it again");
    }
    // What a miner serves may be any bytes: only its root is proven when it is opened.
    const bool of_bytes = frames::cause_of(refusal.reason) == frames::RefusalCause::kBytes;
    if (of_bytes && play.from_served && !std::exchange(play.served_unfit, true)) {
        begin_again(play);
        return say(play, refusal.text + "; I compute it from the round's base");
    }
    give_up(play, with_fix(refusal));
}

void GamePlayer::begin_again(Play& play) {
    play.computed.clear();
    play.memory.reset();
    play.answered.clear();  // it is asked from the beginning
}

void GamePlayer::give_up(Play& play, const std::string& why) {
    play.stuck = true;
    seams_.log.error(dispute_name(play.job, play.game.number) + " cannot be played here: " + why);
}

}  // namespace assay::node
