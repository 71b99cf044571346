// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/rules/env.hpp"

#include <algorithm>
#include <limits>

#include "contracts/rules/conservation.hpp"
#include "contracts/rules/evidence.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/states.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

const std::vector<std::string> kNames = {"buyer", "other", "sequencer", "m1", "m2", "m3",
                                         "m4",    "m5",    "v1",        "v2", "v3", "v4"};

std::unique_ptr<Person> make_person(const std::string& name) {
    return std::make_unique<Person>(Person{name, base::SecretKey::from_seed(bytes_of("owner " + name).view()),
                                           base::SecretKey::from_seed(bytes_of("node " + name).view()),
                                           bytes_of("secret " + name)});
}

}  // namespace

std::set<Reason>& reasons_met() {
    static std::set<Reason> met;
    return met;
}

Hash256 bytes_of(const std::string& text) { return base::hash("test/bytes", base::as_bytes(text)); }

Amount amount(std::uint64_t units) { return Amount::of(units).value(); }

Params short_windows() {
    Params params;
    params.ask_commit_window = 4;
    params.ask_reveal_window = 4;
    params.commit_window = 10;
    params.beacon_window = 5;
    params.serve_window = 5;
    params.audit_seal_window = 10;
    params.audit_open_window = 5;
    params.reveal_window = 5;
    params.storage_window = 10;
    params.merge_seal_window = 10;
    params.merge_open_window = 5;
    params.claim_window = 30;
    params.dispute_move_window = 6;
    params.unbonding_delay = 20;
    params.probation_rounds = 3;
    params.panel_owners_least = 2;
    return params;
}

MarketParams short_epochs() {
    MarketParams params;
    params.epoch = 20;
    params.seal_window = 5;
    params.open_window = 5;
    params.bid_deposit = amount(1'000);
    params.least_base_price = amount(16);
    params.history_epochs = 3;
    return params;
}

JobSpec small_job() {
    JobSpec spec;
    spec.name = "small";
    spec.slots = 2;
    spec.rounds = 3;
    spec.seed = 7;
    spec.model = {program::Family::kGpt2, 2, 64, 2, 128, 256};
    spec.train.inner_steps = 4;
    spec.train.batch = 16;
    spec.train.learning_rate = 1e-3F;
    spec.data.manifest = bytes_of("manifest");
    spec.data.train_tokens = 100'000;
    spec.data.held_out_tokens = 10'000;
    spec.market.max_price = amount(1'000);
    spec.market.budget = amount(10'000'000);
    spec.market.deadline_blocks = 1'000;
    spec.security.audit_threshold = UINT64_MAX / 2;
    spec.security.segment_steps = 2;
    spec.initial_root = base_named("base 0");
    return spec;
}

Env::Env(Params params, std::string chain) : params_(params), block_{std::move(chain), 1} {
    GenesisConfig config;
    config.chain_id = block_.chain_id;
    config.params = params;
    config.market = short_epochs();
    for (const std::string& name : kNames) {
        people_[name] = make_person(name);
        config.balances.emplace_back(people_[name]->owner_key(), amount(100 * kPlenty));
    }
    std::sort(config.balances.begin(), config.balances.end());
    config.validators = {{person("sequencer").owner_key(), person("sequencer").node_key()}};
    REQUIRE(genesis(state_, config).ok());
    configuration_ = config;
    check(state_);
}

Env::Env(MemoryState state, std::uint64_t height, std::string chain)
    : state_(std::move(state)), params_(short_windows()), block_{std::move(chain), height} {
    for (const std::string& name : kNames) people_[name] = make_person(name);
}

Person& Env::person(const std::string& name) {
    auto& person = people_[name];
    if (!person) person = make_person(name);
    return *person;
}

Person& Env::by_node(const PublicKey& node) {
    for (auto& [name, person] : people_) {
        if (person->node_key() == node) return *person;
    }
    FAIL("nobody has this node key");
    std::abort();
}

void Env::check_whole() {
    const auto invariants = check_invariants(state_);
    if (!invariants) FAIL(invariants.error().what);
}

void Env::check(const MemoryState& before) {
    check_whole();
    Overlay changes(before);
    for (const auto& [key, value] : before.all())
        if (!state_.all().contains(key)) changes.erase(key);
    for (const auto& [key, value] : state_.all())
        if (const auto old = before.all().find(key); old == before.all().end() || old->second != value)
            changes.put(key, value);
    const auto changed = check_invariants(before, changes);
    if (!changed) FAIL(changed.error().what);
}

void Env::note(const Events& events) {
    for (const Event& event : events) {
        events_.push_back(event);
        reasons_met().insert(event.reason);
    }
}

Bytes Env::sign(const Person& who, const Payload& payload) const {
    const bool as_owner = signer_of(type_of(payload)) == Signer::kOwner;
    const base::SecretKey& key = as_owner ? who.owner : who.node;
    const std::uint64_t nonce = next_nonce(state_, key.public_key());
    return sign_transaction({key.public_key(), nonce, std::max(block_.height, block_.height + 50), payload},
                            key, block_.chain_id);
}

ApplyOutcome Env::hand_in(const Bytes& bytes) {
    const MemoryState before = state_;
    ApplyOutcome outcome = apply_transaction(state_, block_, bytes);
    if (outcome.applied) {
        note(outcome.events);
        sent_[block_.height].push_back(bytes);
    } else {
        reasons_met().insert(outcome.reason);
        CHECK(consequence(outcome.reason) == Consequence::kRefused);
        if (state_.all() != before.all()) FAIL("a refused transaction changed the state");
    }
    check(before);
    return outcome;
}

ApplyOutcome Env::attempt(Person& who, const Payload& payload) { return hand_in(sign(who, payload)); }

ApplyOutcome Env::send(Person& who, const Payload& payload) {
    ApplyOutcome outcome = attempt(who, payload);
    INFO(who.name << " " << to_text(type_of(payload)) << ": " << to_text(outcome.reason));
    REQUIRE(outcome.applied);
    return outcome;
}

void Env::refuse(Reason reason, Person& who, const Payload& payload) {
    const ApplyOutcome outcome = attempt(who, payload);
    INFO(who.name << " " << to_text(type_of(payload)) << ": " << to_text(outcome.reason));
    REQUIRE_FALSE(outcome.applied);
    REQUIRE(to_text(outcome.reason) == to_text(reason));
}

void Env::change_params(const Params& params) {
    REQUIRE(check_params(params) == std::nullopt);
    set_current_params(state_, params);
    check_whole();
}

void Env::enrich(const std::string& name, std::uint64_t units) {
    const PublicKey& owner = person(name).owner_key();
    Account account = read_account(state_, owner);
    account.balance = account.balance.plus(amount(units)).value();
    store(state_, account_key(owner), account);
    Supply supply = read_supply(state_);
    supply.balances = supply.balances.plus(amount(units)).value();
    supply.minted = supply.minted.plus(amount(units)).value();
    store(state_, supply_key(), supply);
    check_whole();
}

void Env::step(const std::function<void(Work&)>& change) {
    const MemoryState before = state_;
    Overlay overlay(state_);
    Work work(overlay, block_);
    change(work);
    REQUIRE(check_changes(state_, overlay).ok());
    overlay.write_to(state_);
    note(work.events);
    check(before);
}

void Env::next_block() {
    const MemoryState before = state_;
    ++block_.height;
    note(begin_block(state_, block_));
    check(before);
}

std::vector<Deadline> list_due(const StateView& state, std::uint64_t height) {
    std::vector<Deadline> due;
    for (const auto& [key, value] : state.scan(table_prefix(Table::kDeadline)))
        if (const auto deadline = deadline_of(key); deadline && deadline->height <= height)
            due.push_back(*deadline);
    return due;
}

std::vector<std::vector<Bytes>> Env::blocks() const {
    std::vector<std::vector<Bytes>> all(block_.height);
    for (const auto& [height, transactions] : sent_) all.at(height - 1) = transactions;
    return all;
}

void Env::advance_to(std::uint64_t height) {
    while (block_.height < height) next_block();
}

void Env::let_deadline_pass() {
    Overlay calm(state_);
    for (const Deadline& due : list_due(state_, std::numeric_limits<std::uint64_t>::max()))
        if (due.kind == DueKind::kLeaving) calm.erase(deadline_key(due));
    const auto deadline = next_deadline(calm);
    REQUIRE(deadline.has_value());
    REQUIRE(*deadline > block_.height);
    advance_to(*deadline);
}

Person& Env::miner(const std::string& name, std::uint64_t stake) {
    Person& who = person(name);
    send(who, NodeRegister{who.node_key(), prove_node_key(who.node, who.owner_key(), chain())});
    send(who, MinerRegister{who.node_key(), "127.0.0.1:5000"});
    send(who, StakeDeposit{who.node_key(), amount(stake)});
    return who;
}

Person& Env::verifier(const std::string& name, std::uint64_t stake) {
    Person& who = person(name);
    send(who, NodeRegister{who.node_key(), prove_node_key(who.node, who.owner_key(), chain())});
    send(who, VerifierRegister{who.node_key(), "127.0.0.1:6000"});
    send(who, StakeDeposit{who.node_key(), amount(stake)});
    return who;
}

Hash256 Env::post(const JobSpec& spec, const std::string& buyer) {
    Person& who = person(buyer);
    if (!read_node_key(state_, who.node_key())) {
        send(who, NodeRegister{who.node_key(), prove_node_key(who.node, who.owner_key(), chain())});
    }
    const auto sent =
        send(who, JobSubmit{spec, who.node_key(), "127.0.0.1:7000", chain_tip(who.secret, spec.rounds)});
    return job_id(sent.id);
}

void Env::hold_auction(const Hash256& id, const std::map<std::string, std::uint64_t>& asks,
                       const std::vector<std::string>& verifiers, bool with_sequencer,
                       const std::function<void()>& once_sealed) {
    const std::uint32_t rounds = job(id).spec.rounds;
    for (const std::string& name : verifiers) {
        enlist(name, id);
    }
    if (with_sequencer) {
        deposit_for_links("sequencer", id);
        send(person("sequencer"), ValidatorEnlist{id, chain_tip(person("sequencer").secret, rounds)});
    }
    for (const auto& [name, price] : asks) {
        Person& who = person(name);
        send(who, AskCommit{id, ask_seal(chain(), id, who.node_key(), amount(price), who.secret)});
    }
    once_sealed();
    let_deadline_pass();
    for (const auto& [name, price] : asks)
        send(person(name), AskReveal{id, amount(price), person(name).secret});
    let_deadline_pass();
}

void Env::deposit_for_links(const std::string& name, const Hash256& id) {
    const Job terms = job(id);
    const Amount bond = link_bond(params_of(state_, terms), terms.spec, terms.slot_work).value();
    Person& who = person(name);
    if (read_stake(state_, who.node_key()).free < bond) send(who, StakeDeposit{who.node_key(), bond});
}

VerifierEnlist Env::enlistment(const Person& who, const Hash256& id) const {
    const Job terms = job(id);
    const auto least = enlistment_minimum(params_of(state_, terms), terms.spec, terms.slot_work);
    return {id, chain_tip(who.secret, terms.spec.rounds), least.value()};
}

void Env::enlist(const std::string& name, const Hash256& id, std::optional<std::uint64_t> stake) {
    VerifierEnlist tx = enlistment(person(name), id);
    if (stake) tx.stake = amount(*stake);
    send(person(name), tx);
}

std::vector<Bytes> Env::applied_at(std::uint64_t height) const {
    const auto found = sent_.find(height);
    return found == sent_.end() ? std::vector<Bytes>{} : found->second;
}

WithHistory Env::whole() const {
    return {state_, history_of(state_), [](const std::string& what) { FAIL(what); }};
}

MemoryState Env::with_evidence() const {
    MemoryState whole = state_;
    const auto back = put_back(whole, history_of(state_));
    if (!back) FAIL(back.error());
    for (const Evidence& evidence : list_evidence(MemoryState(whole))) {
        std::optional<Bytes> record;
        for (const Bytes& transaction : applied_at(evidence.place.height)) {
            if (!record) record = recover(whole, evidence, transaction);
        }
        REQUIRE(record.has_value());
        whole.put(evidence.key, *record);
    }
    return whole;
}

Job Env::job(const Hash256& id) const {
    const auto found = read_job(whole(), id);
    REQUIRE(found.has_value());
    return *found;
}

Round Env::round(const Hash256& id) const {
    const auto found = read_round(whole(), id, job(id).round);
    REQUIRE(found.has_value());
    return *found;
}

std::uint64_t Env::balance(const std::string& name) {
    return read_account(state_, person(name).owner_key()).balance.units();
}

std::uint64_t Env::stake(const std::string& name) {
    const Stake stake = read_stake(state_, person(name).node_key());
    return stake.free.units() + stake.bonded.units();
}

}  // namespace assay::contracts::test
