// SPDX-License-Identifier: Apache-2.0
// A small language for tests of the rules: people with keys, transactions that must pass or must be refused
// for a reason, heights that go by. Every step checks every invariant of the state.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/job/seals.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/work.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts::test {

/// Someone with an owner key, a node key and a secret from which beacon chains and salts follow.
struct Person {
    std::string name;
    base::SecretKey owner;
    base::SecretKey node;
    Hash256 secret;

    [[nodiscard]] const PublicKey& owner_key() const { return owner.public_key(); }
    [[nodiscard]] const PublicKey& node_key() const { return node.public_key(); }
};

inline constexpr std::uint64_t kPlenty = 1'000'000'000;

/// Windows of a few heights, so that deadlines are cheap to reach.
Params short_windows();

/// The same of the market between jobs.
MarketParams short_epochs();

/// A job of two slots and three rounds, with two segments of two steps each.
JobSpec small_job();

class Env {
public:
    explicit Env(Params params = short_windows(), std::string chain = "test-chain");
    /// Goes on from a state at `height`, as the ledger holds it between two blocks: nothing is checked yet.
    Env(MemoryState state, std::uint64_t height, std::string chain = "test-chain");

    /// Funded at genesis: anyone named so is known. "sequencer" is the one validator.
    Person& person(const std::string& name);
    [[nodiscard]] const StateView& state() const { return state_; }
    /// The same with the records of ended jobs, for reading.
    [[nodiscard]] WithHistory whole() const;
    /// What was handed over by the blocks so far.
    [[nodiscard]] const History& history() const { return state_.history(); }
    [[nodiscard]] const Params& params() const { return params_; }
    [[nodiscard]] const std::string& chain() const { return block_.chain_id; }
    [[nodiscard]] std::uint64_t height() const { return block_.height; }
    [[nodiscard]] BlockContext& block() { return block_; }

    /// Registers the node key, makes it a miner or verifier, and stakes `stake`.
    Person& miner(const std::string& name, std::uint64_t stake = kPlenty);
    /// Free stake for the job's link bond, unless it is there.
    void deposit_for_links(const std::string& name, const Hash256& id);
    Person& verifier(const std::string& name, std::uint64_t stake = kPlenty);
    /// Posts a job by `buyer` and returns its id.
    Hash256 post(const JobSpec& spec, const std::string& buyer = "buyer");
    /// Enlists, seals and opens the asks (name -> price), and advances to the first round. `once_sealed` is
    /// what happens between the two.
    void hold_auction(
        const Hash256& job, const std::map<std::string, std::uint64_t>& asks,
        const std::vector<std::string>& verifiers, bool with_sequencer = true,
        const std::function<void()>& once_sealed = [] {});

    /// Enlists a verifier that locks `stake`; by default the least that the job asks.
    void enlist(const std::string& name, const Hash256& job, std::optional<std::uint64_t> stake = {});
    [[nodiscard]] VerifierEnlist enlistment(const Person& who, const Hash256& job) const;

    /// Signs with the key that the type asks for and applies; the outcome is checked to be "applied".
    ApplyOutcome send(Person& who, const Payload& payload);
    /// The same, but it must be refused for this reason and leave the state as it was.
    void refuse(Reason reason, Person& who, const Payload& payload);
    /// Applies without expecting anything.
    ApplyOutcome attempt(Person& who, const Payload& payload);
    /// The bytes that send() would hand in.
    [[nodiscard]] Bytes sign(const Person& who, const Payload& payload) const;
    /// Hands in bytes as they are.
    ApplyOutcome hand_in(const Bytes& bytes);

    /// As a vote of the chain would: from here on `params` is the current set.
    void change_params(const Params& params);
    /// Adds freshly minted money to an account: for sums that genesis gives nobody.
    void enrich(const std::string& name, std::uint64_t units);
    /// Changes a record behind the rules' back. The invariants must hold after it.
    template <class Record>
    void edit(const Bytes& key, const std::function<void(Record&)>& change) {
        auto record = base::decode<Record>(state_.get(key).value()).value();
        change(record);
        state_.put(key, base::encode(record));
        check_whole();
    }
    /// Does what the rules do by themselves, as one step of theirs: money and every invariant are checked.
    void step(const std::function<void(Work&)>& change);
    /// Stands at `height`, without the blocks between.
    void jump_to(std::uint64_t height) { block_.height = height; }

    void next_block();
    void advance_to(std::uint64_t height);
    /// Goes to the height at which the next deadline of somebody strikes: that records leave is nobody's.
    void let_deadline_pass();

    /// The state with the records of its ended jobs and what its settled rounds left to the log, as an
    /// auditor has it: every transaction that was applied is the log.
    [[nodiscard]] MemoryState with_evidence() const;
    /// The transactions that were applied at this height, in order.
    [[nodiscard]] std::vector<Bytes> applied_at(std::uint64_t height) const;

    [[nodiscard]] Job job(const Hash256& id) const;
    [[nodiscard]] Round round(const Hash256& id) const;
    [[nodiscard]] std::uint64_t balance(const std::string& name);
    [[nodiscard]] std::uint64_t stake(const std::string& name);  ///< free and bonded
    /// What this chain began with, and the transactions that its blocks hold, the first at height 1.
    [[nodiscard]] const GenesisConfig& configuration() const { return configuration_; }
    [[nodiscard]] std::vector<std::vector<Bytes>> blocks() const;
    /// All events since the beginning.
    [[nodiscard]] const Events& events() const { return events_; }
    /// Who owns a node key; for reading results.
    [[nodiscard]] Person& by_node(const PublicKey& node);

private:
    void note(const Events& events);
    /// Every invariant of the whole state, and the check of what changed since `before`.
    void check_whole();
    void check(const MemoryState& before);

    MemoryState state_;
    Params params_;
    BlockContext block_;
    GenesisConfig configuration_;
    std::map<std::uint64_t, std::vector<Bytes>> sent_;  // by height
    Events events_;
    std::map<std::string, std::unique_ptr<Person>> people_;
};

/// Every reason met so far in this process: a refusal's, or one that an event carried.
std::set<Reason>& reasons_met();

/// Every entry of the index of deadlines up to and with `height`, ascending.
std::vector<Deadline> list_due(const StateView& state, std::uint64_t height);

/// 32 bytes that follow from a text: seeds, salts, roots.
Hash256 bytes_of(const std::string& text);
Amount amount(std::uint64_t units);

}  // namespace assay::contracts::test
