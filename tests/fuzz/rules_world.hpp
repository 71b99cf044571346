// SPDX-License-Identifier: Apache-2.0
// A ledger of rules alone, moved at random: transactions of every type by a small population of keys,
// sensible ones more often than not, with boundary amounts, lists and bytes; heights that go by or are jumped
// over; a change of the current parameters and a window for a claim now and then. After every move the
// invariants hold, and a refused transaction has changed nothing. What a party says follows from its key, so
// that seals can be opened.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::fuzz {

/// The next choice, below `count`.
using Choose = std::function<std::uint64_t(std::uint64_t count)>;

/// What was reached, over all worlds of a run.
struct Reached {
    std::array<std::uint64_t, std::size_t(base::EnumRange<contracts::TxType>::last) + 1>
        applied{};  ///< by number of the transaction's type
    std::set<contracts::Reason> refusals;
    std::set<contracts::Reason> verdicts;
    std::set<contracts::Reason> ends;
    std::uint64_t merges = 0;
    std::uint64_t redraws = 0;
    std::uint64_t confirmers = 0;
    std::uint64_t windows = 0;   ///< of settled claims, met while open
    std::uint64_t replays = 0;   ///< opened audits of slots that had to be replayed
    std::uint64_t left_out = 0;  ///< slots of opened audits that the seal left out
    std::uint64_t unstored = 0;
    std::uint64_t withheld_links = 0;  ///< whose link bond was lost
    std::uint64_t lost_games = 0;      ///< by claimants
    std::uint64_t won_games = 0;
    std::uint64_t accusations = 0;          ///< that opened a game
    std::uint64_t dropped_accusations = 0;  ///< that did not in time
    std::uint64_t cleared_slots = 0;        ///< of which the last accuser lost
    std::uint64_t merge_games = 0;          ///< lost by who claimed a merge
    std::uint64_t merge_calls = 0;          ///< of who attested it
    std::uint64_t bonded_calls = 0;         ///< of somebody who did not win, or about another unit
    std::uint64_t merge_accusations = 0;    ///< by who merged otherwise
    // Of a slot that a confirmer was drawn for, by what it did.
    std::uint64_t true_confirmations = 0;  ///< opened what the miner claims
    std::uint64_t false_confirmations = 0;
    std::uint64_t closed_confirmations = 0;  ///< sealed and not opened
    std::uint64_t unsealed_confirmations = 0;
    std::uint64_t odd_clips = 0;       ///< opened merges with a clip that is neither 1.0 nor the smallest
    std::uint64_t refused_clips = 0;   ///< the same of merges that were refused
    std::uint64_t clip_games = 0;      ///< opened about a clip
    std::uint64_t witnesses = 0;       ///< that a referee judged
    std::uint64_t long_witnesses = 0;  ///< of these, within a kilobyte of the limit or beyond it
    std::uint64_t leased_starts = 0;   ///< of jobs that lease: their first round
    std::uint64_t preempted = 0;       ///< met waiting behind a round
    std::uint64_t resumed = 0;         ///< that went on behind such a wait
    // Of the market between jobs.
    std::uint64_t leases = 0;   ///< by a clearing
    std::uint64_t instant = 0;  ///< at once, or of somebody who waited
    std::uint64_t outbid = 0;
    std::uint64_t lost_seals = 0;
    std::uint64_t notices = 0;  ///< of fewer lots
    std::uint64_t moves = 0;

    /// A number of the above, by its name; whether a run that reached none of it has failed.
    struct Count {
        std::string_view name;
        std::uint64_t value = 0;
        bool needed = true;
    };
    /// All of them but `moves` and those of transactions.
    [[nodiscard]] std::vector<Count> counts() const;
};

class RulesWorld {
public:
    RulesWorld(Choose choose, Reached& reached);
    /// One move: a transaction, or heights.
    void move();

private:
    struct Person {
        base::SecretKey owner;
        base::SecretKey node;
        base::Hash256 secret;
    };
    using Payload = contracts::Payload;

    bool chance(std::uint64_t in) { return choose_(in) == 0; }
    Person& someone() { return people_[choose_(people_.size())]; }
    Person* by_node(const base::PublicKey& node);
    contracts::Amount some_amount();
    base::Hash256 some_hash();
    contracts::Params some_params();
    contracts::MarketParams some_market();
    contracts::JobSpec some_spec();
    base::Hash256 some_job();

    void begin();
    void pass_heights();
    /// To the height after a deadline.
    void pass_to(std::uint64_t height);
    /// What the job waits for; by the party that it waits for.
    void help(const contracts::Job& job);
    void help_bidding(const contracts::Job& job);
    void note_windows(const contracts::Job& job);
    void leave(const contracts::Job& job);
    /// Somebody challenges a claim, or one of a game's players moves; false: there is no settled claim.
    bool dispute(const contracts::Job& job);
    bool dispute_merge(const contracts::Job& job, const std::vector<contracts::Game>& games);
    Person& challenger_of(const contracts::ClaimId& id);
    bool end_of_settled(const contracts::ClaimId& id);
    void play(const contracts::Job& job, const contracts::Game& game);
    base::Bytes some_witness();
    void call(const contracts::Job& job, const contracts::Game& killer, Person& winner);
    void help_refill(const contracts::Job& job);
    void help_waiting(const contracts::Job& job);
    void enlist(const contracts::Job& job);
    void help_round(const contracts::Job& job, const contracts::Round& round);
    void anything();
    /// What the market waits for; by somebody that it may wait for.
    void trade();
    void seal_or_open_lot(Person& who);
    void lease(const contracts::Job& job);
    void seal_or_open_bid(const contracts::Job& job);
    contracts::LotClass class_of_lots(const base::PublicKey& node) const;
    void note_market(const contracts::Event& event);

    void ask(const contracts::Job& job, Person& who);
    void commit(const contracts::Job& job, const contracts::SlotRound& slot);
    void serve(const contracts::Job& job, const contracts::SlotRound& slot);
    void reveal(const contracts::Job& job, const contracts::SlotRound& slot);
    void hold(const contracts::Job& job, const base::PublicKey& verifier);
    void link(const contracts::Job& job, const base::PublicKey& node);
    /// A verifier of the job: more often than not one whose seal, or opening, is awaited in this stage.
    base::PublicKey auditor(const contracts::Job& job, contracts::Stage stage, bool opens);
    void seal_audit(const contracts::Job& job, contracts::Stage stage, const base::PublicKey& verifier);
    static void leave_out(const contracts::Job& job, const base::PublicKey& verifier,
                          std::vector<contracts::SlotClaim>& claims);
    void open_audit(const contracts::Job& job, contracts::Stage stage, const base::PublicKey& verifier);
    void merge(const contracts::Job& job, const base::PublicKey& verifier, bool open);

    contracts::TraceRecord trace_of(const contracts::Job& job, std::uint32_t slot,
                                    const base::PublicKey& miner);
    std::vector<contracts::SlotClaim> claims_of(const contracts::Job& job, contracts::Stage stage,
                                                const base::PublicKey& verifier);
    /// A hash that follows from a word, a job, a key and a number.
    static base::Hash256 derived(const std::string& tag, const base::Hash256& first,
                                 const base::PublicKey& key, std::uint64_t number = 0);
    std::vector<std::uint32_t> clips_of(const contracts::Job& job, const base::PublicKey& who,
                                        std::size_t slots);
    contracts::MergeClaim merge_of(const contracts::Job& job, const base::PublicKey& verifier);

    void send(Person& who, Payload payload);
    void hand_in(const base::Bytes& bytes, contracts::TxType type);
    void count_replays(const contracts::Event& event);
    /// Of a merge that somebody tried to open.
    void note_clips(const contracts::MergeClaim& claim, bool taken);
    void count_confirmations(const contracts::Event& event);
    void note(const contracts::Events& events);
    void note_opened_game(const contracts::Game& game);
    void note_lost_game(const base::Hash256& job, const contracts::Game& game);
    void check();

    Choose choose_;
    Reached& reached_;
    /// A world of which rounds get far: messages come before deadlines, what is drawn is served and replayed.
    bool diligent_ = false;
    /// A world of which many jobs lease. It takes no choice: the others go as they would without it.
    bool leases_ = false;
    std::vector<Person> people_;
    contracts::MemoryState state_;
    contracts::BlockContext block_;
    std::vector<base::Hash256> jobs_;
};

}  // namespace assay::fuzz
