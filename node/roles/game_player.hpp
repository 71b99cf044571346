// SPDX-License-Identifier: Apache-2.0
// Gives roles GamePlayer, which plays every game of this node: as claimant it posts what its worker computes,
// as challenger it points at the first that is not its own. All that it needs is in the ledger's state: a
// role that starts again goes on where the game stands.
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

/// What a player is told by its role.
struct PlayerTold {
    using Offer = std::function<void(const std::string& name, contracts::Payload payload)>;
    Offer offer;
    /// Faults that it had planted in a round of a slot of its own; null: none.
    std::function<std::vector<worker::Drill>(std::uint32_t round)> drills = nullptr;
    /// The files of the state that the unit starts from as it is claimed, where the role was served them;
    /// empty: it has none, and the slot is run from the round's base. Null: it never has.
    std::function<StateFiles(const contracts::Job& job, const dispute::UnitClaim& unit)> start = nullptr;
};

class GamePlayer {
public:
    /// All that is given must outlive it.
    GamePlayer(const Seams& seams, BlobFiles& files, Requests& requests, JobBench& bench,
               const base::PublicKey& me, PlayerTold told);
    ~GamePlayer();
    GamePlayer(const GamePlayer&) = delete;
    GamePlayer& operator=(const GamePlayer&) = delete;

    /// After every event: looks at the games, and offers the moves that are known.
    void follow(const contracts::StateView& state, std::uint64_t height);

    /// Asks the worker for what the next move lacks. Called in every plan before the role's own work and
    /// after it, which of the two says `first`: they take turns with the worker. `busy`: a request of the
    /// role is at work in it.
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
    /// After a game of ours is over: calls those who vouched for its unit, where the claim died in it or in
    /// another one.
    void call_vouchers(const contracts::StateView& state, const base::Hash256& job,
                       const contracts::Game& over);
    void end_play(const contracts::StateView& state, const Play& play);
    [[nodiscard]] bool is_my_turn(const contracts::Game& game) const;
    /// The play that has waited longest for a move of ours; null: none does.
    Play* next_play();
    /// True when the worker was asked for something.
    bool advance(const contracts::StateView& state, Play& play);
    std::optional<PlayerFiles> files_for(const contracts::StateView& state, const contracts::Job& job,
                                         Play& play);
    bool add_updates(const contracts::StateView& state, const contracts::Job& job, Play& play,
                     PlayerFiles& files);
    std::optional<contracts::Payload> next_move(Play& play);
    contracts::Payload concede(const Play& play, const std::string& why);
    void ask(const contracts::StateView& state, Play& play);
    void on_answer(const Name& name, const WorkerAnswered& answer);
    void on_refusal(Play& play, const worker::Refusal& refusal);
    /// The clock decides.
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
    bool yields_ = false;                     ///< the role's own work goes first now
};

/// "dispute 3 of job 1a2b3c4d".
std::string dispute_name(const base::Hash256& job, std::uint32_t number);

}  // namespace assay::node
