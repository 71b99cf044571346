// SPDX-License-Identifier: Apache-2.0
// Gives roles GamePlayer, which plays every game of this node. As claimant it posts what its worker computes;
// as challenger it picks the first post that differs from its own computation. All that it needs is in the
// ledger's state, so a role that restarts goes on with the game.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/dispute/transactions.hpp"
#include "contracts/rules/transactions.hpp"
#include "node/dispute/worker_memory.hpp"
#include "node/roles/job_bench.hpp"

namespace assay::node {

/// What a role gives its player.
struct PlayerTold {
    using Offer = std::function<void(const std::string& name, contracts::Payload payload)>;
    Offer offer;
    /// Faults that it planted in its own slots of a round; null: none.
    std::function<std::vector<worker::Drill>(std::uint32_t round)> drills = nullptr;
    /// Returns the nearest start at or before the claimed unit that the role was served and still has. Null:
    /// the role is never served any.
    std::function<std::optional<ServedState>(const contracts::Job& job, const dispute::UnitClaim& unit)>
        served = nullptr;
    /// Ends what the role has its worker do, as far as a question about `job` waits for it; it asks again
    /// later. Null: it has nothing done that takes longer than a move may wait.
    std::function<void(const base::Hash256& job, const std::string& why)> give_way = nullptr;
    /// Whether any device is at work for the role. Another job is opened on all of them, behind that. Null:
    /// `busy` says it.
    std::function<bool()> at_work = nullptr;
};

class GamePlayer {
public:
    /// All references must outlive it.
    GamePlayer(const Seams& seams, BlobFiles& files, Requests& requests, JobBench& bench,
               const base::PublicKey& me, PlayerTold told);
    ~GamePlayer();
    GamePlayer(const GamePlayer&) = delete;
    GamePlayer& operator=(const GamePlayer&) = delete;

    /// Called after every event: looks at the games, and offers the moves that are ready.
    void follow(const contracts::StateView& state, std::uint64_t height);

    /// Asks the worker for what the next move lacks. Every plan calls it before the role's own work (`first`)
    /// and again after it, so that games and role take turns with the worker. `busy`: the worker has a
    /// request of the role, which has to give way once a move has waited for half of its time: for three
    /// quarters where the role has finished nothing since it gave way last.
    void compute(const contracts::StateView& state, bool first, bool busy);
    /// Whether a request of a game is at work in the worker.
    [[nodiscard]] bool computing() const { return asked_.has_value(); }

    /// Adds the blobs that running games need.
    void keep(std::set<BlobId>& needed) const { needed.insert(needed_.begin(), needed_.end()); }

private:
    struct Play;
    using Name = std::pair<base::Hash256, std::uint32_t>;

    void look(const contracts::StateView& state);
    void look_at(const contracts::StateView& state, const base::Hash256& job, const contracts::Game& game);
    /// After a game of ours is over: calls those who vouched for its unit, if the claim died in this game or
    /// another.
    void call_vouchers(const contracts::StateView& state, const base::Hash256& job,
                       const contracts::Game& over);
    void end_play(const contracts::StateView& state, const Play& play);
    [[nodiscard]] bool is_my_turn(const contracts::Game& game) const;
    /// The play that has waited longest for a move of ours; null: none does.
    Play* next_play();
    /// Whether the role has to give way to the move.
    [[nodiscard]] bool is_urgent(const Play& play) const;
    /// True when the worker was asked for something. `busy`: it cannot be; the role gives way to what it
    /// would be asked.
    bool advance(const contracts::StateView& state, Play& play, bool busy);
    /// Whether all that the game is played from is here.
    bool has_files(const contracts::StateView& state, const contracts::Job& job, Play& play);
    std::optional<PlayerFiles> files_for(const contracts::StateView& state, const contracts::Job& job,
                                         Play& play);
    /// Puts a state that the worker computed into the store, where its pages are the disk's: as many games
    /// may be open as there are bonds, and each needs such states. Returns its files; those that it was given
    /// where the store does not take it.
    StateFiles keep_state(Play& play, OwnState which, const StateFiles& files);
    /// Drops those files of a state that have changed on the disk. True: there were some.
    bool drop_changed(const BlobId& state);
    /// JobBench::drop_changed_base() for the game's round.
    bool drops_changed_base(const contracts::StateView& state, const contracts::Job& job, const Play& play);
    bool add_updates(const contracts::StateView& state, const contracts::Job& job, Play& play,
                     PlayerFiles& files);
    std::optional<contracts::Payload> next_move(Play& play);
    contracts::Payload concede(const Play& play, const std::string& why);
    void ask(const contracts::StateView& state, Play& play);
    void on_answer(const Name& name, const WorkerAnswered& answer);
    void on_refusal(Play& play, const worker::Refusal& refusal);
    /// Forgets what its worker answered. The files are gathered again.
    static void begin_again(Play& play);
    /// Makes no more moves: the game's clock decides.
    void give_up(Play& play, const std::string& why);
    void say(const Play& play, const std::string& text) const;

    Seams seams_;
    BlobFiles& files_;
    Requests& requests_;
    JobBench& bench_;
    const base::PublicKey me_;
    PlayerTold told_;
    std::map<Name, std::unique_ptr<Play>> plays_;
    std::map<std::string, contracts::Payload> calls_;
    std::set<BlobId> needed_;
    std::optional<std::uint64_t> looked_at_;  ///< height
    std::optional<RequestId> asked_;          ///< at work in the worker
    bool yields_ = false;                     ///< the role's own work goes first in this plan
    bool gives_way_ = false;                  ///< the role's request was ended for a move
    bool role_was_busy_ = false;              ///< with another request, when last looked at
    bool owes_role_ = false;                  ///< the role gave way, and has finished nothing since
};

/// "dispute 3 of job 1a2b3c4d".
std::string dispute_name(const base::Hash256& job, std::uint32_t number);

}  // namespace assay::node
