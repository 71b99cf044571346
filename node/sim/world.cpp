// SPDX-License-Identifier: Apache-2.0
#include "node/sim/world.hpp"

#include <algorithm>

#include "contracts/program/blob_sizes.hpp"
#include "contracts/rules/apply.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/history.hpp"
#include "ledger/application/rules_machine.hpp"
#include "node/roles/buyer.hpp"
#include "node/roles/miner.hpp"
#include "node/roles/verifier.hpp"

namespace assay::node::sim {

namespace {

constexpr const char* kChain = "simulation";
constexpr const char* kHome = "home";
constexpr std::uint64_t kTurnNs = 2'000'000'000;
constexpr std::uint64_t kTicks = 8;  ///< turns between two: a role's pauses end by blocks as well
constexpr int kTurnsMax = 4'000;     ///< of one job
constexpr int kAnswersMax = 50'000;  ///< between two blocks
constexpr std::uint64_t kExpiry = std::uint64_t{1} << 40;
constexpr base::Amount kPurse = base::units(20'000'000 * base::kUnitsPerToken);
constexpr base::Amount kLock = base::units(1'000 * base::kUnitsPerToken);
constexpr base::Amount kAsk = base::units(20'000);
constexpr base::Amount kMaxPrice = base::units(40'000);
constexpr base::Amount kBudget = base::units(100'000 * base::kUnitsPerToken);

/// Windows that close while a simulated party sends its messages one by one, a block each.
contracts::Params params_of_world(const WorldSetup& setup) {
    contracts::Params params;
    const std::uint64_t messages = std::uint64_t{2} * setup.slots;
    params.ask_commit_window = params.ask_reveal_window = 4;
    params.commit_window = params.serve_window = params.reveal_window = 4 + setup.slots;
    params.audit_seal_window = params.storage_window = params.merge_seal_window = 12;
    params.beacon_window = params.audit_open_window = params.merge_open_window = 8;
    params.claim_window = std::max(3 * params.audit_seal_window, 4 + messages);
    params.dispute_move_window = 40;
    if (!setup.probation) params.probation_rounds = 0;
    return params;
}

program::JobSpec small_spec(const WorldSetup& setup) {
    program::JobSpec spec;
    spec.name = "simulated";
    spec.slots = setup.slots;
    spec.rounds = setup.rounds;
    spec.model = {program::Family::kGpt2, 1, 16, 1, 64, 64};
    spec.train.inner_steps = 16;
    spec.train.batch = 256;
    spec.train.warmup_steps = 4;
    spec.train.learning_rate = 1e-3F;
    spec.security.segment_steps = 4;
    spec.security.audit_threshold = setup.segment_rate;
    spec.security.finalise_threshold = setup.finalise_rate;
    spec.market = {kMaxPrice, kBudget, 100'000};
    spec.data.train_tokens = spec.data.held_out_tokens = 4'096;
    return spec;
}

base::Amount given(base::Amount own, base::Amount common) { return own.is_zero() ? common : own; }

FileRef text_file(const char* text) { return SharedFiles::of(base::to_bytes(base::as_bytes(text))); }

}  // namespace

World::World(WorldSetup setup) : setup_(std::move(setup)) {}

base::Outcome<std::unique_ptr<World>> World::open(WorldSetup setup) {
    std::unique_ptr<World> world(new World(std::move(setup)));
    ASSAY_TRY(world->begin());
    return world;
}

base::Outcome<void> World::begin() {
    sequencer_.emplace(key_of(setup_.seed, "sequencer"));
    contracts::GenesisConfig config;
    config.chain_id = kChain;
    config.params = params_of_world(setup_);
    for (const PartySetup& one : setup_.parties)
        if (one.owner.empty())
            config.balances.emplace_back(key_of(setup_.seed, one.name).public_key(), kPurse);
    std::sort(config.balances.begin(), config.balances.end());
    config.validators = {{key_of(setup_.seed, "sequencer's owner").public_key(), sequencer_->public_key()}};
    genesis_ = {
        .chain_id = kChain, .validators = contracts::validators_of(config), .rules = base::encode(config)};
    ASSAY_TRY(ledger::write_genesis(disk_, ledger::Layout(kHome).genesis, genesis_));
    ASSAY_ASSIGN(chain_, ledger::Chain::open(disk_, index_, ledger::rules_machine(), kHome));
    state_.emplace(chain_->state(), [this](base::ByteView key) {
        auto found = chain_->application().history(key);
        return found.ok() ? std::move(found).value() : std::nullopt;
    });
    for (const PartySetup& one : setup_.parties) {
        parties_.push_back(std::make_unique<Player>(
            one.name, one.owner.empty() ? one.name : one.owner, one.role, one.behaviour, setup_.seed, clock_,
            genesis_, [this](SlotTurn place) { return cheat_of(place); }, shared_));
        by_name_[one.name] = parties_.back().get();
    }
    for (const auto& party : parties_) ASSAY_TRY(register_party(*party));
    for (const auto& party : parties_) {
        if (party->kind == WorkRole::kBuyer || !party->behaviour.has_role) continue;
        party->parts.start_height = chain_->height();
        if (party->kind == WorkRole::kMiner) {
            party->role = std::make_unique<MinerRole>(party->parts,
                                                      MinerOptions{.ask = given(party->behaviour.ask, kAsk),
                                                                   .drills = {},
                                                                   .conducts = party->behaviour.role,
                                                                   .lock_slot = kStake,
                                                                   .lock_job = kStake});
        } else {
            party->role = std::make_unique<VerifierRole>(
                party->parts, VerifierOptions{.lock = given(party->behaviour.lock, kLock),
                                              .finding_text = {},
                                              .enlists = party->behaviour.enlists,
                                              .challenge = party->behaviour.challenge,
                                              .conducts = party->behaviour.role,
                                              .accomplice = node_key_of(party->behaviour.accomplice)});
        }
        start_role(*party);
    }
    return {};
}

std::optional<base::PublicKey> World::node_key_of(const std::string& name) const {
    if (name.empty()) return std::nullopt;
    return party(name).node.public_key();
}

void World::sign(const base::SecretKey& owner, contracts::Payload payload) {
    const contracts::TxBody body{.sender = owner.public_key(),
                                 .nonce = contracts::next_nonce(state(), owner.public_key()),
                                 .expiry = kExpiry,
                                 .payload = std::move(payload)};
    owners_.push_back(contracts::sign_transaction(body, owner, kChain));
}

base::Outcome<void> World::register_party(const Player& party) {
    const OnboardingWants wants{
        .role = party.kind,
        .owner = party.owner.public_key(),
        .node = party.node.public_key(),
        .node_proof = contracts::prove_node_key(party.node, party.owner.public_key(), kChain),
        .endpoint = party.parts.endpoint,
        .stake = party.kind == WorkRole::kBuyer ? base::Amount{} : given(party.behaviour.stake, kStake)};
    const auto offer = [&](const auto&, contracts::Payload payload) {
        sign(party.owner, std::move(payload));
    };
    for (int step = 0; step < 16; ++step) {
        if (onboard(state(), wants, offer) && owners_.empty()) return {};
        ASSAY_TRY(make_block());
        if (!owners_refused_.empty()) break;
    }
    return base::fail(base::ErrorKind::kFailure, "the ledger does not register " + party.name);
}

void World::start_role(Player& party) {
    party.role->step(Started{});
    for (std::uint64_t at = party.seen + 1; at <= chain_->height(); ++at) {
        const auto block = chain_->block(at);
        if (block.ok()) party.role->step(BlockSeen{at, base::encode(*block)});
    }
    party.seen = chain_->height();
}

program::JobSpec World::next_spec() {
    program::JobSpec spec = small_spec(setup_);
    spec.seed = ++sold_;
    if (data_.empty()) {
        data_ = {SharedFiles::of(
                     Bytes(program::token_file_size(spec.data.train_tokens, spec.model.vocabulary), 0)),
                 text_file("tokenizer"), text_file("manifest")};
    }
    spec.data.train = spec.data.held_out = data_[0]->id;
    spec.data.tokenizer = data_[1]->id;
    spec.data.manifest = data_[2]->id;
    const HashChain chain(spec);
    spec.initial_root = chain.base_root(chain.initial());
    const auto pay = contracts::slot_pay(kMaxPrice, program::work_units(spec));
    ASSAY_CHECK(pay.has_value());
    spec.security.gain_bound = *pay->times(setup_.gain_percent, 100, base::Rounding::kDown);
    return spec;
}

base::Outcome<bool> World::submit_job(Player& party, const program::JobSpec& spec, JobOutcome& outcome) {
    Player* const buyer = &party;
    for (const FileRef& file : data_) buyer->blobs.put_file(file);
    // The role of the job before ends here, with the store that the next one goes on from.
    buyer->role.reset();
    buyer->ended = false;
    buyer->mempool.offered.clear();
    buyer->network.wanted.clear();
    sign(buyer->owner, submission(spec, buyer->node, buyer->parts.endpoint));
    ASSAY_TRY(make_block());
    if (!owners_refused_.empty()) {
        outcome.refused = true;
        outcome.why = static_cast<contracts::Reason>(owners_refused_.front());
        return false;
    }
    const auto bought = bought_job(state(), buyer->node.public_key(), spec);
    if (!bought) return base::fail(base::ErrorKind::kFailure, "the job is not on the ledger");
    outcome.id = running_ = *bought;
    buyer->parts.start_height = chain_->height();
    buyer->role = std::make_unique<BuyerRole>(buyer->parts, BuyerOptions{.job = *bought});
    start_role(*buyer);
    return true;
}

base::Outcome<JobOutcome> World::run_job() {
    std::vector<Player*> buyers;
    for (const auto& party : parties_)
        if (party->kind == WorkRole::kBuyer) buyers.push_back(party.get());
    if (buyers.empty()) return base::fail(base::ErrorKind::kFailure, "nobody buys");
    if (!setup_.launders || buyers.size() < 2 || sold_ % 2 == 1) return sell(*buyers.front());
    std::vector<FalseUnits> before;
    for (const auto& party : parties_)
        before.push_back(std::exchange(party->behaviour.false_units, FalseUnits::kNone));
    auto outcome = sell(*buyers.back());
    for (std::size_t i = 0; i < parties_.size(); ++i) parties_[i]->behaviour.false_units = before[i];
    if (outcome.ok()) outcome->laundering = true;
    return outcome;
}

std::uint64_t World::wealth(const Player& party) const {
    const contracts::Stake stake = contracts::read_stake(state(), party.node.public_key());
    return contracts::read_account(state(), party.owner.public_key()).balance.units() + stake.free.units() +
           stake.bonded.units();
}

base::Outcome<JobOutcome> World::sell(Player& buyer) {
    JobOutcome outcome;
    said_.clear();
    ASSAY_ASSIGN(const bool taken, submit_job(buyer, next_spec(), outcome));
    if (!taken) return outcome;
    ASSAY_TRY(settle());
    for (int turns = 0; !contracts::has_ended(state(), outcome.id); ++turns) {
        if (turns > kTurnsMax) return base::fail(base::ErrorKind::kFailure, "a job does not end");
        ASSAY_TRY(turn());
    }
    // In the blocks after its end the job's records leave the state, and the buyer hears of it.
    for (int i = 0; i < 2; ++i) ASSAY_TRY(turn());
    const auto job = contracts::read_job(state(), outcome.id);
    if (!job) return base::fail(base::ErrorKind::kFailure, "an ended job is not in the history");
    outcome.why = job->end_reason;
    outcome.model = job->base_root;
    outcome.games = contracts::list_games(state(), job->id);
    outcome.said = std::move(said_);
    outcome.looks = std::exchange(looks_, {});
    outcome.flash_deposits = std::exchange(flash_deposits_, 0);
    outcome.gain_bound = job->spec.security.gain_bound;
    outcome.slot_pay =
        static_cast<double>(job->spec.market.max_price.units()) * static_cast<double>(job->slot_work);
    for (std::uint32_t number = 0; number < job->round; ++number) {
        const auto round = contracts::read_round_progress(state(), outcome.id, number);
        if (round && round->phase == contracts::RoundPhase::kSettled) {
            ++outcome.rounds;
            outcome.settled_at.push_back(round->settled_at);
        }
        for (const contracts::SlotRound& slot : contracts::list_slots(state(), outcome.id, number))
            if (is_among_friends(slot)) outcome.among_friends.insert({number, slot.slot});
        for (auto& line : contracts::list_settlement(state(), outcome.id, number))
            outcome.lines.push_back(std::move(line));
    }
    for (const auto& party : parties_) party->blobs.evict();
    ASSAY_TRY(nobody_ended());
    return outcome;
}

base::Outcome<void> World::nobody_ended() const {
    for (const auto& party : parties_) {
        if (!party->error) continue;
        return base::fail(base::ErrorKind::kFailure, party->name + " ended: " + party->error->what);
    }
    return {};
}

base::Outcome<void> World::turn() {
    clock_.now += kTurnNs;
    for (const auto& party : parties_)
        if (chain_->height() % kTicks == 0 && party->runs()) party->role->step(TimerFired{});
    ASSAY_TRY(settle());
    move_flash_stake();
    quarrel();
    look_last();
    ASSAY_TRY(make_block());
    return settle();
}

base::Outcome<void> World::settle() {
    int answers = 0;
    for (bool busy = true; busy;) {
        busy = false;
        for (const auto& party : parties_) {
            while (answer(*party)) {
                busy = true;
                if (++answers > kAnswersMax) {
                    return base::fail(base::ErrorKind::kFailure,
                                      party->name + " asks for the same again and again");
                }
            }
        }
    }
    return {};
}

bool World::answer(Player& party) {
    if (!party.runs()) return false;
    std::vector<RoleEvent> events;
    while (!party.network.wanted.empty()) fetch(party, events);
    while (auto frame = party.worker.take()) events.emplace_back(std::move(*frame));
    if (!events.empty()) party.role->step_all(events);
    return !events.empty();
}

void World::fetch(Player& party, std::vector<RoleEvent>& events) {
    const WantedBlobs::Wanted wanted = party.network.wanted.front();
    party.network.wanted.pop_front();
    FetchEnd end = base::failed(FetchFailure({base::ErrorKind::kNotFound, "nobody serves it", {}}));
    for (const Endpoint& holder : wanted.holders) {
        const auto found = by_name_.find(holder.substr(0, holder.find(':')));
        if (found == by_name_.end()) continue;
        const Conduct& theirs = found->second->behaviour;
        if (!theirs.serves || theirs.withholds.contains(wanted.terms.traffic)) continue;
        if (theirs.serves_miners_alone && party.kind != WorkRole::kMiner) continue;
        const FileRef file = found->second->blobs.served(wanted.id);
        if (file == nullptr) continue;
        if (wanted.terms.size && *wanted.terms.size != file->bytes.size()) continue;
        if (wanted.terms.most && *wanted.terms.most < file->bytes.size()) continue;
        party.blobs.put_file(file, Serving::kServed, wanted.terms.pin);
        end = FetchEnd();
        break;
    }
    events.emplace_back(BlobAsked{wanted.request});
    events.emplace_back(BlobFetched{wanted.request, wanted.id, end});
}

World::Outbox World::take_offers(std::vector<Bytes>& transactions) {
    Outbox sent;
    for (const auto& party : parties_) {
        for (auto& [request, bytes] : std::exchange(party->mempool.offered, {})) {
            auto decoded = contracts::check_static(kChain, bytes);
            if (!decoded.ok()) continue;
            if (auto lower = with_least_lock(*party, decoded->body)) {
                bytes = std::move(*lower);
                decoded = contracts::check_static(kChain, bytes);
                ASSAY_CHECK(decoded.ok());
            }
            const contracts::Payload& payload = decoded->body.payload;
            if (const auto* open = std::get_if<contracts::AuditOpen>(&payload)) note_said(*party, *open);
            const Offered offered{party.get(), request, decoded->id};
            if (holds_back(*party, payload)) {
                sent.held_back.push_back(offered);
            } else if (leaves_out(*party, payload)) {
                sent.left_out.push_back(offered);
            } else {
                sent.in_block.push_back(offered);
                transactions.push_back(std::move(bytes));
            }
        }
    }
    return sent;
}

World::Heard World::answers_to(const Outbox& sent, const std::map<base::Hash256, std::uint16_t>& refused,
                               const ledger::Committed& block) const {
    Heard events;
    std::map<base::Hash256, ledger::Receipt> receipts;
    for (std::uint32_t i = 0; i < block.results.transactions.size(); ++i) {
        const ledger::TransactionResult& result = block.results.transactions[i];
        receipts[result.id] = {result.id, block.header.height, i, result.code, block.hash, {}};
    }
    for (const Offered& one : sent.in_block) {
        const auto found = refused.find(one.id);
        SubmitReply reply;
        reply.accepted = found == refused.end();
        reply.reason = reply.accepted ? 0 : found->second;
        reply.reason_text = reply.accepted ? "" : "refused";
        reply.height = reply.accepted ? block.header.height : 0;
        if (reply.accepted) {
            ledger::Receipt& receipt = receipts.at(one.id);
            ledger::sign_receipt(receipt, kChain, *sequencer_);
            reply.receipt = base::encode(receipt);
        }
        events[one.party].emplace_back(SubmitDone{one.request, reply});
    }
    // To its role, a message that the cheat holds back is one that will never be taken.
    for (const Offered& one : sent.held_back) {
        SubmitReply reply;
        reply.reason = static_cast<std::uint32_t>(contracts::Reason::kMalformed);
        reply.reason_text = "held back";
        events[one.party].emplace_back(SubmitDone{one.request, reply});
    }
    // Nobody answers whoever is left out.
    for (const Offered& one : sent.left_out) {
        events[one.party].emplace_back(
            SubmitDone{one.request, base::fail(base::ErrorKind::kFailure, "left out of the block")});
    }
    return events;
}

base::Outcome<void> World::make_block() {
    std::vector<Bytes> transactions = std::exchange(owners_, {});
    const std::size_t of_owners = transactions.size();
    const Outbox sent = take_offers(transactions);
    ASSAY_ASSIGN(const ledger::Appended made, chain_->append(transactions, ledger::EmptyBlock::kMake,
                                                             clock_.now / 1'000'000, *sequencer_));
    const std::uint64_t height = chain_->height();
    std::map<base::Hash256, std::uint16_t> refused;
    for (const auto& one : made.refused) refused[one.id] = static_cast<std::uint16_t>(one.code);
    owners_refused_.clear();
    for (std::size_t i = 0; i < of_owners; ++i) {
        const auto decoded = contracts::check_static(kChain, transactions[i]);
        const auto found = decoded.ok() ? refused.find(decoded->id) : refused.end();
        if (!decoded.ok() || found != refused.end())
            owners_refused_.push_back(found != refused.end() ? found->second : 0);
    }
    auto events = answers_to(sent, refused, *made.block);
    ASSAY_ASSIGN(const ledger::Block made_block, chain_->block(height));
    const Bytes block = base::encode(made_block);
    for (const auto& party : parties_) {
        if (!party->runs()) continue;
        auto& heard = events[party.get()];
        heard.emplace_back(BlockSeen{height, block});
        party->role->step_all(heard);
        party->seen = height;
    }
    return {};
}

}  // namespace assay::node::sim
