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
    /// later, and begins nothing while GamePlayer::takes_worker(). Null: it has nothing done that takes
    /// longer than a move may wait.
    std::function<void(const base::Hash256& job, const std::string& why)> give_way = nullptr;
    /// Number of requests that the role has at work in the worker. Another job is opened on all devices,
    /// behind them. Null: one while `busy`.
    std::function<std::size_t()> at_work = nullptr;
    /// Whether the store has room for what a job can make the role keep for which it does not work, beside
    /// all that its own jobs can. Else a game in it is played from blobs that make room for others. Null: it
    /// has.
    using HasRoom = std::function<bool(const contracts::Job& job)>;
    HasRoom has_room = nullptr;
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

    /// Gathers the files of moves that are due, and asks the worker for what one of them lacks, the earliest
    /// that can be computed. Every plan calls it before the role's own work (`first`) and again after it, so
    /// that games and role take turns with the worker. `busy`: all its devices are at work for the role,
    /// which has to give way once a move has waited for half of its time: for three quarters where the role
    /// has finished nothing since it gave way last. Nothing is queued behind what is at work.
    void compute(const contracts::StateView& state, bool first, bool busy);
    /// Whether a request of a game is at work in the worker.
    [[nodiscard]] bool computing() const { return asked_.has_value(); }
    /// Whether the role gives way to a move: what becomes free is not for the role.
    [[nodiscard]] bool takes_worker() const { return left_at_work_.has_value(); }

    /// Adds the blobs that running games need.
    void keep(std::set<BlobId>& needed) const { needed.insert(needed_.begin(), needed_.end()); }
    /// Adds those that the store has no room to keep.
    void add_borrowed(std::set<BlobId>& blobs) const { blobs.insert(borrowed_.begin(), borrowed_.end()); }

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
    /// The plays that wait for a move of ours, the one whose clock ends first at first.
    std::vector<Play*> waiting_plays();
    /// Notes what the role has at work, and whether it has finished something since it gave way.
    void look_at_role(bool first, bool busy);
    /// Whether a move may take the worker in this plan.
    struct Turn {
        bool due = false;   ///< it is not the role's
        bool busy = false;  ///< no device is free
    };
    /// Whether the role has to give way to the move.
    [[nodiscard]] bool is_urgent(const Play& play) const;
    /// Whether the play may open its job and ask now. Where it may not, and is urgent, the role gives way.
    bool may_take(const Play& play, const Turn& turn);
    /// True when the worker was asked for something.
    bool advance(const contracts::StateView& state, Play& play, const Turn& turn);
    static bool reads_base(const Play& play);
    /// Whether all that the game is played from is here.
    bool has_files(const contracts::StateView& state, const contracts::Job& job, Play& play,
                   const Turn& turn);
    /// The files that the game is played from, but for the base. What is missing is being fetched; nothing
    /// is asked of the worker.
    std::optional<PlayerFiles> gather(const contracts::StateView& state, const contracts::Job& job,
                                      Play& play);
    /// Adds the base state to files that are here. `play` takes the worker for that only if it may.
    bool add_base(const contracts::StateView& state, const contracts::Job& job, Play& play, const Turn& turn,
                  PlayerFiles& files);
    /// Whether what the game needs is pinned: a claim or an enlistment of ours has its room, and other games
    /// may not take it.
    [[nodiscard]] Pin pin_of(const contracts::StateView& state, const contracts::Job& job) const;
    [[nodiscard]] bool add_carried(const contracts::StateView& state, const contracts::Job& job, Play& play,
                                   PlayerFiles& files);
    /// Puts a state that the worker computed into the store, where its pages are the disk's: as many games
    /// may be open as there are bonds, and each needs such states. Returns its files; those that it was given
    /// where the store does not take it.
    StateFiles keep_state(Play& play, OwnState which, const StateFiles& files);
    /// Drops those files of a state that have changed on the disk. True: there were some.
    bool drop_changed(const BlobId& state);
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
    std::set<BlobId> borrowed_;               ///< that games need and do not pin
    std::optional<std::uint64_t> looked_at_;  ///< height
    std::optional<RequestId> asked_;          ///< at work in the worker
    bool yields_ = false;                     ///< the role's own work goes first in this plan
    std::size_t role_at_work_ = 0;            ///< requests of the role, when last looked at
    /// While the role gives way: how many of its requests may be left when it is done with that.
    std::optional<std::size_t> left_at_work_;
    bool owes_role_ = false;  ///< the role gave way, and has finished nothing since
};

/// "dispute 3 of job 1a2b3c4d".
std::string dispute_name(const base::Hash256& job, std::uint32_t number);

}  // namespace assay::node
