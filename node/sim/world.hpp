// SPDX-License-Identifier: Apache-2.0
// Gives the simulator World, a market in one thread: real rules, a real chain and real roles, with simulated
// time, network, disk and workers. Everything in it follows from the setup: no clock, no hidden randomness.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/engine/chain.hpp"
#include "node/roles/onboarding.hpp"
#include "node/sim/behaviour.hpp"
#include "node/sim/last_look.hpp"
#include "node/sim/memory_ledger.hpp"
#include "node/sim/party.hpp"
#include "node/sim/shared_work.hpp"

namespace assay::node::sim {

struct PartySetup {
    std::string name;
    WorkRole role = WorkRole::kMiner;
    Conduct behaviour;
    std::string owner = {};  ///< the party with which it shares an owner; empty: its own owner
};

struct WorldSetup {
    std::uint64_t seed = 0;
    std::vector<PartySetup> parties;  ///< the first buyer among them buys every job
    std::uint32_t slots = 16;
    std::uint32_t rounds = 1;                 ///< of each job
    std::uint64_t segment_rate = UINT64_MAX;  ///< thresholds of the draw
    std::uint64_t finalise_rate = UINT64_MAX;
    /// The buyer's bound on a cheat's gain outside, in percent of a slot's pay at the job's cap.
    std::uint64_t gain_percent = 0;
    bool probation = false;  ///< miners begin as newcomers, whose units are all audited
    /// Every other job is bought by the second buyer, and worked honestly by everybody.
    bool launders = false;
    /// A party whose every other move in games the sequencer leaves out; empty: nobody's.
    std::string drops_moves_of;
};

/// What a verifier with Conduct::shares_work opened about a slot.
struct SaidOfSlot {
    bool served_start = false;  ///< one of its runs does not begin at the base, and the miner opened the
                                ///< starts
    bool replayed = false;
    std::uint64_t work = 0;  ///< work units of the units for which it opened roots
};
/// By verifier, round and slot.
using SaidOfSlots = std::map<std::tuple<base::PublicKey, std::uint32_t, std::uint32_t>, SaidOfSlot>;

/// How one job ended.
struct JobOutcome {
    base::Hash256 id;
    bool refused = false;  ///< the ledger did not take the submission
    contracts::Reason why = contracts::Reason::kNone;
    std::uint32_t rounds = 0;  ///< settled
    double slot_pay = 0;       ///< base units for a slot's round at the job's cap; 0 when refused
    std::vector<contracts::SettlementLine> lines;
    base::Amount gain_bound;  ///< as the job names it
    /// Round and slot of each slot for which only colluding verifiers were drawn.
    std::set<std::pair<std::uint32_t, std::uint32_t>> among_friends;
    SaidOfSlots said;
    base::Hash256 model;  ///< root of the last base state
    std::vector<contracts::Game> games;
    std::vector<std::uint64_t> settled_at;  ///< heights of the rounds that were settled
    /// Deposits of flash stake that were there while links were opened.
    std::uint32_t flash_deposits = 0;
    std::vector<DrawLook> looks;  ///< of members that opened a link last
    bool laundering = false;      ///< a job of the second buyer
};

class World {
public:
    /// kFailure when the rules refuse the setup.
    static base::Outcome<std::unique_ptr<World>> open(WorldSetup setup);

    /// Sells one job of one round. Errors: a role ended, or nothing moves any more.
    base::Outcome<JobOutcome> run_job();

    [[nodiscard]] const Player& party(const std::string& name) const { return *by_name_.at(name); }
    [[nodiscard]] const std::vector<std::unique_ptr<Player>>& parties() const { return parties_; }
    /// Balance and stake of the party's owner and node.
    [[nodiscard]] std::uint64_t wealth(const Player& party) const;
    [[nodiscard]] std::uint64_t height() const { return chain_->height(); }

private:
    /// Default deposit, for parties whose conduct names no other.
    static constexpr base::Amount kStake = base::units(10'000'000 * base::kUnitsPerToken);

    explicit World(WorldSetup setup);
    base::Outcome<void> begin();
    base::Outcome<void> register_party(const Player& party);
    /// Node key of a party; nothing when the name is empty.
    [[nodiscard]] std::optional<base::PublicKey> node_key_of(const std::string& name) const;
    base::Outcome<bool> submit_job(Player& buyer, const program::JobSpec& spec, JobOutcome& outcome);
    base::Outcome<JobOutcome> sell(Player& buyer);
    [[nodiscard]] program::JobSpec next_spec();
    void start_role(Player& party);
    base::Outcome<void> turn();
    base::Outcome<void> settle();
    bool answer(Player& party);
    void fetch(Player& party, std::vector<RoleEvent>& events);
    /// A transaction that a party wants in the next block.
    struct Offered {
        Player* party = nullptr;
        RequestId request = 0;
        base::Hash256 id;
    };
    struct Outbox {
        std::vector<Offered> in_block;
        std::vector<Offered> held_back;  ///< by the sender's conduct
        std::vector<Offered> left_out;   ///< by the sequencer
    };
    using Heard = std::map<Player*, std::vector<RoleEvent>>;
    Outbox take_offers(std::vector<Bytes>& transactions);
    /// Answers to the parties about what they sent.
    [[nodiscard]] Heard answers_to(const Outbox& sent, const std::map<base::Hash256, std::uint16_t>& refused,
                                   const ledger::Committed& block) const;
    base::Outcome<void> make_block();
    /// Whether its conduct keeps a party from sending this.
    [[nodiscard]] bool holds_back(const Player& party, const contracts::Payload& payload) const;
    void note_said(const Player& party, const contracts::AuditOpen& open);
    void move_flash_stake();
    void quarrel();
    void look_last();
    void look_last(const Player& looker);
    [[nodiscard]] Coalition coalition_of(const Player& looker) const;
    /// Whether the sequencer leaves this one out.
    [[nodiscard]] bool leaves_out(const Player& party, const contracts::Payload& payload);
    void sign(const base::SecretKey& owner, contracts::Payload payload);
    // world_conduct.cpp
    /// Whether a slot has verifiers, and all that were drawn for it collude.
    [[nodiscard]] bool is_among_friends(const contracts::SlotRound& slot) const;
    /// The false units that a colluding verifier vouches for. The draw is public before anybody computes, and
    /// next to an honest verifier it would lose what it locked, so it then computes honestly.
    [[nodiscard]] FalseUnits cheat_of(SlotTurn place) const;
    /// The enlistment of a party that locks the least; nothing when it sends what its role made.
    [[nodiscard]] std::optional<Bytes> with_least_lock(const Player& party,
                                                       const contracts::TxBody& body) const;
    [[nodiscard]] base::Outcome<void> nobody_ended() const;
    [[nodiscard]] const contracts::StateView& state() const { return *state_; }

    WorldSetup setup_;
    ledger::Genesis genesis_;
    MemoryLedgerDisk disk_;
    MemoryIndex index_;
    std::optional<base::SecretKey> sequencer_;
    std::unique_ptr<ledger::Chain> chain_;
    std::optional<contracts::WithHistory> state_;
    SimClock clock_;
    SharedWork shared_;          ///< of the parties' workers
    std::vector<FileRef> data_;  ///< of every job: tokens, tokenizer, manifest
    std::vector<std::unique_ptr<Player>> parties_;
    std::map<std::string, Player*> by_name_;
    std::vector<Bytes> owners_;  ///< signed by owners, for the next block
    std::vector<std::uint16_t> owners_refused_;
    std::uint64_t sold_ = 0;
    base::Hash256 running_;
    SaidOfSlots said_;               ///< in the running job
    std::set<std::string> flashed_;  ///< parties whose flash stake is deposited
    std::uint32_t flash_deposits_ = 0;
    std::vector<DrawLook> looks_;   ///< in the running job
    std::uint64_t moves_seen_ = 0;  ///< of WorldSetup::drops_moves_of
};

}  // namespace assay::node::sim
