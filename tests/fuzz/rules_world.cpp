// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/rules_world.hpp"

#include <algorithm>
#include <iostream>
#include <limits>

#include "contracts/program/program.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/seals.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/states.hpp"

namespace assay::fuzz {

using namespace contracts;

namespace {

constexpr const char* kChain = "fuzz";
constexpr std::size_t kPeople = 11;  // the sequencer, four miners, four verifiers, two buyers
constexpr std::size_t kFirstVerifier = 5;
constexpr std::size_t kFirstBuyer = 9;

Amount at_most(std::uint64_t units) { return Amount::of(std::min(units, base::kAmountMax)).value(); }

}  // namespace

Hash256 RulesWorld::derived(const std::string& tag, const Hash256& first, const PublicKey& key,
                            std::uint64_t number) {
    base::Hasher hasher("fuzz/derived");
    hasher.add(base::hash("fuzz/tag", base::as_bytes(tag))).add(first).add(key.view()).add_u64(number);
    return hasher.finish();
}

RulesWorld::RulesWorld(Choose choose, Reached& reached)
    : choose_(std::move(choose)), reached_(reached), block_{kChain, 1} {
    for (std::size_t i = 0; i < kPeople; ++i) {
        base::Bytes seed(32, static_cast<std::uint8_t>(i + 1));
        base::Bytes other(32, static_cast<std::uint8_t>(i + 101));
        people_.push_back({base::SecretKey::from_seed(seed), base::SecretKey::from_seed(other),
                           base::hash("fuzz/secret", seed)});
    }
    contracts::test::forget_states();
    begin();
}

void RulesWorld::begin() {
    diligent_ = !chance(3);
    GenesisConfig config;
    config.chain_id = kChain;
    config.params = some_params();
    config.market = some_market();
    leases_ = params_hash(config.params).bytes[0] % 3 == 0;
    for (const Person& person : people_)
        config.balances.emplace_back(person.owner.public_key(), at_most(300'000'000'000'000'000));
    std::sort(config.balances.begin(), config.balances.end());
    config.validators = {{people_[0].owner.public_key(), people_[0].node.public_key()}};
    ASSAY_CHECK(genesis(state_, config).ok());
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
    block_.height = diligent_ ? 1 : std::array<std::uint64_t, 4>{1, 1, 1ULL << 63, kLast - 500}[choose_(4)];
    jobs_ = {some_hash()};
    for (std::size_t i = 1; i < people_.size(); ++i) {
        Person& person = people_[i];
        const PublicKey node = person.node.public_key();
        send(person, NodeRegister{node, prove_node_key(person.node, person.owner.public_key(), kChain)});
        if (i < kFirstVerifier) send(person, MinerRegister{node, "127.0.0.1:5000"});
        if (i >= kFirstVerifier && i < kFirstBuyer) send(person, VerifierRegister{node, "127.0.0.1:6000"});
        send(person, StakeDeposit{node, at_most(chance(4) ? 1'000 : 100'000'000'000'000'000)});
    }
}

RulesWorld::Person* RulesWorld::by_node(const PublicKey& node) {
    for (Person& person : people_) {
        if (person.node.public_key() == node) return &person;
    }
    return nullptr;
}

Amount RulesWorld::some_amount() {
    const std::array<std::uint64_t, 8> known = {
        0, 1, 2, base::kAmountMax, base::kAmountMax - 1, 1'000'000, 1 << 20, 999'999};
    if (chance(2)) return at_most(known[choose_(known.size())]);
    return at_most(1ULL << choose_(62));
}

Hash256 RulesWorld::some_hash() {
    return derived("some", Hash256{}, people_[0].node.public_key(), choose_(256));
}

Params RulesWorld::some_params() {
    Params params;
    for (const ParamRange& range : param_ranges()) {
        const bool window = range.name.ends_with("_window") || range.name == "unbonding_delay";
        const std::array<std::uint64_t, 4> values = {range.minimum, range.minimum + 1, range.minimum + 3,
                                                     range.maximum};
        if (window)
            range.set(params, range.minimum + choose_(chance(4) ? 4 : 40) + (diligent_ ? 40 : 0));
        else if (chance(diligent_ ? 12 : 3))
            range.set(params, std::min(values[choose_(4)], range.maximum));
    }
    // Else hardly any miner can lock a bond, or is ever past its probation.
    if (chance(2)) params.collusion_ppm = Params{}.collusion_ppm;
    if (chance(2)) params.forfeit_buyer_ppm = Params{}.forfeit_buyer_ppm;
    if (diligent_ || chance(2)) params.probation_rounds = 0;
    params.claim_window = 3 * params.audit_seal_window + choose_(20);
    if (params.verifier_penalty > params.verifier_bond) params.verifier_penalty = params.verifier_bond;
    return check_params(params) ? Params{} : params;
}

JobSpec RulesWorld::some_spec() {
    JobSpec spec;
    spec.name = "fuzz";
    spec.slots = static_cast<std::uint32_t>(1 + choose_(3));
    spec.rounds = static_cast<std::uint32_t>(1 + choose_(3));
    spec.model = {program::Family::kGpt2, 1, 4, 1, 4, 8};
    spec.train.inner_steps = static_cast<std::uint32_t>(1 + choose_(5));
    spec.train.batch = 1;
    spec.train.learning_rate = 1e-3F;
    spec.data.train_tokens = 1'000;
    spec.data.held_out_tokens = 1'000;
    spec.market.max_price = chance(8) ? some_amount() : at_most(1 + choose_(2'000));
    spec.market.deadline_blocks = 1 + choose_(400);
    spec.security.audit_threshold =
        std::array<std::uint64_t, 4>{1, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX}[choose_(4)];
    if (chance(4)) {
        spec.inner_state = program::InnerState::kCarried;
    } else if (chance(2)) {
        spec.security.finalise_threshold =
            std::array<std::uint64_t, 4>{1, UINT64_MAX / 3, UINT64_MAX / 2, UINT64_MAX - 1}[choose_(4)];
    }
    // Units that do not begin at the base: they can be served, or replayed and confirmed.
    if (diligent_) {
        spec.train.inner_steps = 5;
        spec.security.audit_threshold = UINT64_MAX / (2 + choose_(2));
    }
    spec.security.segment_steps = static_cast<std::uint32_t>(1 + choose_(spec.train.inner_steps));
    if (diligent_) spec.security.segment_steps = 1;
    if (chance(2)) spec.train.max_update_norm = 1.0F;
    if (leases_ && !chance(3))
        spec.market.terms = {.gang = static_cast<std::uint32_t>(1 + choose_(spec.slots)), .most = spec.slots};
    spec.security.gain_bound = chance(8) ? some_amount() : Amount{};
    spec.initial_root = contracts::test::base_named("initial");
    if (chance(4)) spec.initial_blob = some_hash();
    const auto cost =
        round_cost(read_current_params(state_), spec, spec.market.max_price, program::work_units(spec));
    const std::uint64_t one = cost ? cost->units() : 1'000;
    spec.market.budget = chance(6) ? some_amount() : at_most(one / 4 * (3 + choose_(14)) + 4);
    return spec;
}

Hash256 RulesWorld::some_job() { return jobs_[chance(3) ? choose_(jobs_.size()) : jobs_.size() - 1]; }

void RulesWorld::move() {
    ++reached_.moves;
    const auto active = list_active_jobs(state_);
    const std::uint64_t kind = choose_(16);
    if (leases_ && chance(5)) return trade();
    if (kind == 0) return pass_heights();
    if (kind < 13 && !active.empty()) {
        const auto job = read_job(state_, active[choose_(active.size())]);
        if (job) {
            note_windows(*job);
            // What is settled is disputed, and the running round gets on as well.
            if (chance(3) == diligent_ && dispute(*job)) return;
            return help(*job);
        }
    }
    if (kind < 14 && active.size() < 2) {
        Person& buyer = people_[kFirstBuyer + choose_(2)];
        const JobSpec spec = some_spec();
        const JobSubmit submission{spec, buyer.node.public_key(), "127.0.0.1:7",
                                   chain_tip(buyer.secret, spec.rounds)};
        if (!chance(12)) return send(buyer, submission);
        Person& sponsor = someone();
        const Amount cap = chance(4) ? some_amount() : at_most(base::kAmountMax);
        send(sponsor, TeamGrant{buyer.owner.public_key(), {cap, cap, 1 + choose_(300), cap}});
        send(buyer, TeamSubmit{submission, sponsor.owner.public_key()});
        if (chance(3)) send(sponsor, TeamRevoke{buyer.owner.public_key()});
        return;
    }
    anything();
}

void RulesWorld::pass_heights() {
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
    if (chance(40)) set_current_params(state_, some_params());
    std::uint64_t to = block_.height < kLast ? block_.height + 1 : kLast;
    const auto deadline = next_deadline(state_);
    if (deadline && *deadline > block_.height && chance(diligent_ ? 12 : 2)) to = *deadline;
    if (!diligent_ && chance(8) && to < kLast - 100) to += choose_(100);
    if (to == block_.height) return;
    block_.height = to;
    note(begin_block(state_, block_));
    check();
}

void RulesWorld::pass_to(std::uint64_t height) {
    if (height == std::numeric_limits<std::uint64_t>::max()) return;
    block_.height = std::max(block_.height, height + 1);
    note(begin_block(state_, block_));
    check();
}

void RulesWorld::help(const Job& job) {
    if (job.phase == JobPhase::kRounds) {
        if (open_places(state_, job) > 0) send(people_[1 + choose_(kFirstVerifier - 1)], JobJoin{job.id});
        if (chance(100)) leave(job);
        if (const auto round = read_round(state_, job.id, job.round)) help_round(job, *round);
        return;
    }
    if (job.phase == JobPhase::kRefill) return help_refill(job);
    if (job.phase == JobPhase::kWaiting) return help_waiting(job);
    if (is_over(job.phase)) return pass_heights();  // it waits for windows
    help_bidding(job);
}

/// A member of the roster goes, and its place is open.
void RulesWorld::leave(const Job& job) {
    if (job.roster.empty()) return;
    const PublicKey node = job.roster[choose_(job.roster.size())].node;
    if (Person* who = by_node(node)) send(*who, NodeRevoke{node});
}

void RulesWorld::help_refill(const Job& job) {
    for (std::size_t i = 1; i < kFirstVerifier; ++i) send(people_[i], JobJoin{job.id});
    if (!chance(4)) pass_to(job.phase_deadline);
}

void RulesWorld::ask(const Job& job, Person& who) {
    const PublicKey miner = who.node.public_key();
    const Amount price = at_most(derived("price", job.id, miner).bytes[0] * 8ULL);
    const Hash256 salt = derived("ask", job.id, miner);
    if (job.phase == JobPhase::kAskReveal) return send(who, AskReveal{job.id, price, salt});
    send(who, AskCommit{job.id, ask_seal(kChain, job.id, miner, price, salt)});
}

void RulesWorld::help_bidding(const Job& job) {
    for (std::size_t i = 1; i < kFirstVerifier; ++i) {
        if (!chance(8)) ask(job, people_[i]);
    }
    enlist(job);
    if (!chance(4)) pass_to(job.phase_deadline);
}

void RulesWorld::enlist(const Job& job) {
    for (std::size_t i = kFirstVerifier; i < kFirstBuyer; ++i) {
        Person& verifier = people_[i];
        const auto least = enlistment_minimum(params_of(state_, job), job.spec, job.slot_work);
        if (!chance(8) && least)
            send(verifier, VerifierEnlist{job.id, chain_tip(verifier.secret, job.spec.rounds), *least});
    }
    if (chance(2)) send(people_[0], ValidatorEnlist{job.id, chain_tip(people_[0].secret, job.spec.rounds)});
}

void RulesWorld::help_round(const Job& job, const Round& round) {
    const auto slots = list_slots(state_, job.id, job.round);
    const SlotRound& slot = slots[choose_(slots.size())];
    const auto one_of = [&](const auto& list) { return list[choose_(list.size())]; };
    switch (round.phase) {
        case RoundPhase::kCommit: return commit(job, slot);
        case RoundPhase::kBeacon:
            // Now and then the try's deadline comes while links are missing.
            if (chance(24)) return pass_to(round.phase_deadline);
            if (!round.links.empty()) link(job, one_of(round.links).node);
            return;
        case RoundPhase::kServe: return serve(job, slot);
        case RoundPhase::kReveal: return reveal(job, slot);
        case RoundPhase::kStore: return hold(job, one_of(job.verifiers).node);
        case RoundPhase::kAuditSeal:
            return seal_audit(job, Stage::kPanel, auditor(job, Stage::kPanel, false));
        case RoundPhase::kConfirmSeal:
            return seal_audit(job, Stage::kConfirm, auditor(job, Stage::kConfirm, false));
        case RoundPhase::kRedrawSeal:
            return seal_audit(job, Stage::kRedraw, auditor(job, Stage::kRedraw, false));
        case RoundPhase::kAuditOpen: {
            const Stage stage = chance(2) ? Stage::kConfirm : Stage::kPanel;
            return open_audit(job, stage, auditor(job, stage, true));
        }
        case RoundPhase::kRedrawOpen:
            return open_audit(job, Stage::kRedraw, auditor(job, Stage::kRedraw, true));
        case RoundPhase::kMergeSeal:
        case RoundPhase::kMergeOpen:
            return merge(job, one_of(round.merges).verifier, round.phase == RoundPhase::kMergeOpen);
        case RoundPhase::kSettled: return;
    }
}

void RulesWorld::commit(const Job& job, const SlotRound& slot) {
    Person* who = by_node(slot.miner);
    if (who == nullptr) return pass_heights();
    const TraceRecord trace = trace_of(job, slot.slot, slot.miner);
    CommitStatement statement;
    statement.job = job.id;
    statement.round = job.round;
    statement.slot = slot.slot;
    statement.miner = slot.miner;
    statement.base_root = job.base_root;
    const Hash256 salt = derived("salt", job.id, slot.miner, job.round);
    statement.trace_root = program::trace_root(trace, job.spec, salt);
    statement.salt = commit_salt(salt);
    send(*who, RoundCommit{job.id, job.round, slot.slot, commit_seal(kChain, statement)});
}

void RulesWorld::serve(const Job& job, const SlotRound& slot) {
    Person* who = by_node(slot.miner);
    if (who == nullptr) return pass_heights();
    // Some miners serve no slot, whatever it costs.
    if (derived("serves", job.id, slot.miner).bytes[0] < (diligent_ ? 16 : 110)) return pass_heights();
    const TraceRecord trace = trace_of(job, slot.slot, slot.miner);
    const Hash256 salt = derived("salt", job.id, slot.miner, job.round);
    RoundServe tx;
    tx.job = job.id;
    tx.round = job.round;
    tx.slot = slot.slot;
    tx.trace_root = program::trace_root(trace, job.spec, salt);
    tx.salt = commit_salt(salt);
    auto units = slot.drawn_units;
    if (trace.divergence) {
        tx.diverged_unit = program::RoundPlan(job.spec).unit_of(trace.divergence->step);
        units = with_divergence(units, *tx.diverged_unit);
    }
    for (const program::UnitRun& run : program::runs_of(units)) {
        if (run.from_base()) continue;
        const program::LeafName leaf = program::start_leaf(job.spec, run.first);
        tx.starts.push_back({program::open_leaf(trace, job.spec, salt, leaf.kind, leaf.place),
                             derived("head", job.id, slot.miner, run.first)});
    }
    if (!tx.starts.empty() && chance(12)) tx.starts.pop_back();
    if (!tx.starts.empty() && chance(12)) tx.starts[0].start.proof.siblings.resize(choose_(40));
    if (chance(12)) tx.diverged_unit = static_cast<std::uint32_t>(choose_(8));
    send(*who, std::move(tx));
}

void RulesWorld::hold(const Job& job, const PublicKey& verifier) {
    Person* who = by_node(verifier);
    const auto storable = storable_slots(state_, job.id, job.round, verifier);
    if (who == nullptr || !storable) return pass_heights();
    std::vector<std::uint32_t> held;
    for (const std::uint32_t slot : *storable) {
        // What some updates are nobody gets.
        if (derived("lost", job.id, PublicKey{}, job.round * 256ULL + slot).bytes[0] >= 24)
            held.push_back(slot);
    }
    StorageBitmap tx{job.id, job.round, storage_bits(job.spec.slots, held)};
    if (chance(12)) tx.bits.push_back(static_cast<std::uint8_t>(choose_(256)));
    if (chance(12)) tx.bits.assign(1, static_cast<std::uint8_t>(choose_(256)));
    send(*who, std::move(tx));
}

void RulesWorld::link(const Job& job, const PublicKey& node) {
    Person* who = by_node(node);
    const auto awaited = read_beacon_link(state_, job.id, job.round, node);
    std::uint32_t index = awaited ? awaited->index : 0;
    if (chance(12)) index = static_cast<std::uint32_t>(choose_(chain_length(job.spec.rounds)));
    if (who != nullptr)
        send(*who, BeaconOpen{job.id, job.round, chain_link(who->secret, job.spec.rounds, index), index});
}

void RulesWorld::merge(const Job& job, const PublicKey& verifier, bool open) {
    Person* who = by_node(verifier);
    if (who == nullptr) return;
    const MergeClaim claim = merge_of(job, verifier);
    const Hash256 salt = derived("merge salt", job.id, verifier, job.round);
    if (open) {
        const auto opened = [&] { return reached_.applied[static_cast<std::size_t>(TxType::kMergeOpen)]; };
        const std::uint64_t before = opened();
        send(*who, MergeOpen{job.id, job.round, claim, salt});
        return note_clips(claim, opened() > before);
    }
    send(*who, MergeSeal{job.id, job.round, merge_seal(kChain, job.id, job.round, verifier, claim, salt)});
}

void RulesWorld::anything() {
    Person& who = someone();
    Person& whom = someone();
    const PublicKey node = (chance(4) ? whom : who).node.public_key();
    const Hash256 job = some_job();
    const auto round = static_cast<std::uint32_t>(choose_(4));
    const auto slot = static_cast<std::uint32_t>(choose_(4));
    const Stage stage = kStages.at(choose_(kStages.size()));
    switch (choose_(37)) {
        case 0: return send(who, Transfer{whom.owner.public_key(), some_amount()});
        case 1: return send(who, Transfer{whom.node.public_key(), some_amount()});
        case 2:
            return send(who, NodeRegister{node, prove_node_key(who.node, who.owner.public_key(), kChain)});
        case 3:
            if (chance(4)) send(who, NodeRevoke{node});
            return;
        case 4: return send(who, MinerRegister{node, chance(2) ? "h:1" : std::string(choose_(200), 'x')});
        case 5: return send(who, VerifierRegister{node, "h:65536"});
        case 6: return send(who, VerifierRegister{node, "h:65535"});
        case 7: return send(who, StakeDeposit{node, some_amount()});
        case 8: return send(who, StakeWithdraw{node, some_amount()});
        case 9: return send(who, EndpointUpdate{"h:2"});
        case 10:
            if (chance(3)) send(people_[kFirstBuyer + choose_(2)], JobCancel{job});
            return;
        case 11: return send(who, AskCommit{job, some_hash()});
        case 12: return send(who, AskReveal{job, some_amount(), some_hash()});
        case 13: return send(who, VerifierEnlist{job, some_hash(), Amount{}});
        case 14: return send(people_[0], ValidatorEnlist{job, some_hash()});
        case 15: return send(who, RoundCommit{job, round, slot, some_hash()});
        case 16: return send(who, BeaconOpen{job, round, chance(2) ? some_hash() : Hash256{}});
        case 17: return send(who, RoundReveal{job, round, slot, {}, some_hash(), {}, {}, {}});
        case 18: return send(who, AuditSeal{job, round, stage, some_hash(), {}});
        case 19: return send(who, AuditOpen{job, round, stage, {}, some_hash()});
        case 20: return send(who, MergeSeal{job, round, some_hash()});
        case 21: return send(who, MergeOpen{job, round, {}, some_hash()});
        case 22: return send(who, RoundServe{job, round, slot, some_hash(), some_hash(), {}, {}});
        case 23: return send(who, StorageBitmap{job, round, {static_cast<std::uint8_t>(choose_(256))}});
        case 24: return send(who, JobJoin{job});
        case 25:
            return send(who, DisputeOpen{job, round, ClaimKind::kSlot, slot,
                                         static_cast<dispute::UnitKind>(1 + choose_(5)), slot});
        case 26: return send(who, DisputePost{job, slot, {some_hash()}});
        case 27: return send(who, DisputePick{job, slot, {.index = choose_(3), .end = std::nullopt}});
        case 28: return send(who, DisputeProve{job, slot, base::Bytes(choose_(99), 1)});
        case 29: return send(who, DisputeConcede{job, slot});
        case 30:
            return send(who, DisputeCall{job, slot, static_cast<dispute::UnitKind>(1 + choose_(5)), slot,
                                         who.node.public_key()});
        case 31: return send(people_[kFirstBuyer + choose_(2)], JobTopUp{job, some_amount()});
        case 32: return send(people_[kFirstBuyer + choose_(2)], JobExtend{job, choose_(2'000'000'000)});
        case 33:
            return send(who, TeamGrant{whom.owner.public_key(),
                                       {some_amount(), some_amount(), choose_(500), some_amount()}});
        case 34:
            if (chance(8)) send(who, TeamRevoke{whom.owner.public_key()});
            return;
        case 35: {
            base::Bytes noise(choose_(200), 0);
            for (auto& byte : noise) byte = static_cast<std::uint8_t>(choose_(256));
            return hand_in(noise, TxType::kTransfer);
        }
        default: return pass_heights();
    }
}

/// Signs as the type asks, or not; now and then with bytes of the body changed before the signature.
void RulesWorld::send(Person& who, Payload payload) {
    const TxType type = type_of(payload);
    const bool as_owner = (signer_of(type) == Signer::kOwner) != chance(40);
    const base::SecretKey& key = as_owner ? who.owner : who.node;
    std::uint64_t nonce = next_nonce(state_, key.public_key());
    if (chance(40)) nonce += choose_(3) - 1;
    const std::uint64_t expiry = chance(40) ? block_.height - 1 : std::numeric_limits<std::uint64_t>::max();
    base::Bytes body = encode_body({key.public_key(), nonce, expiry, std::move(payload)});
    if (chance(16)) {
        for (std::uint64_t changes = 1 + choose_(3); changes > 0; --changes) {
            const std::size_t at = choose_(body.size());
            body[at] = chance(2) ? static_cast<std::uint8_t>(choose_(256))
                                 : static_cast<std::uint8_t>(body[at] ^ (1U << choose_(8)));
        }
    }
    SignedTransaction transaction;
    transaction.signature = key.sign(kTxDomain, kChain, body);
    transaction.body = std::move(body);
    if (chance(60)) transaction.signature.bytes[choose_(64)] ^= 1U;
    hand_in(base::encode(transaction), type);
}

void RulesWorld::hand_in(const base::Bytes& bytes, TxType type) {
    const bool compare = chance(8);
    const MemoryState before = compare ? state_ : MemoryState{};
    const ApplyOutcome outcome = apply_transaction(state_, block_, bytes);
    if (outcome.applied) {
        ++reached_.applied[static_cast<std::size_t>(type)];
        if (type == TxType::kJobSubmit) jobs_.push_back(job_id(outcome.id));
        note(outcome.events);
    } else {
        reached_.refusals.insert(outcome.reason);
        ASSAY_CHECK(consequence(outcome.reason) == Consequence::kRefused);
        if (compare) ASSAY_CHECK(before.all() == state_.all());
    }
    if (outcome.applied || chance(16)) check();
}

void RulesWorld::check() {
    const auto whole = check_invariants(state_);
    if (!whole.ok()) std::cerr << whole.error().what << "\n";
    ASSAY_CHECK(whole.ok());
}

}  // namespace assay::fuzz
