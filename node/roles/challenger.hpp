// SPDX-License-Identifier: Apache-2.0
// Gives roles Challenger, which computes settled slots again from their rounds' bases and challenges the
// first unit that differs from the claim. It checks a share of the slots on its own account, and every claim
// that the role doubts. If the claim has died before that, it calls the unit's vouchers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/transactions.hpp"
#include "node/dispute/slot_difference.hpp"
#include "node/roles/game_player.hpp"

namespace assay::node {

/// A doubted claim, as it is kept on disk. If the unit is known, the slot need not be computed again.
struct Doubt {
    base::Hash256 job;
    std::uint32_t round = 0;
    contracts::ClaimKind kind = contracts::ClaimKind::kSlot;
    std::uint32_t number = 0;
    std::optional<dispute::UnitKind> unit;
    std::uint32_t part = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.kind, self.number, self.unit, self.part);
    }
};

/// The unit in which the merge that stands differs from another merge of the same slots, with these clips and
/// another state: the first clip that differs, else the merge unit.
DisputedUnit merge_difference(const contracts::RoundProgress& stands,
                              const std::vector<std::uint32_t>& clips);

class Challenger {
public:
    /// `rate`: share of the settled slots of others that it computes again, 0 to 1. `node`: its key's secret
    /// chooses the slots, so that no claimant knows which they are. `has_room`: PlayerTold::has_room. All
    /// references must outlive it.
    Challenger(const Seams& seams, BlobFiles& files, Requests& requests, JobBench& bench,
               const base::SecretKey& node, double rate, PlayerTold::Offer offer,
               PlayerTold::HasRoom has_room = nullptr);

    /// From now on picks this share. With 0 it lets go of slots that it picked and has not challenged.
    void set_rate(double rate);
    /// Looks at the claim while it can be challenged or its vouchers called, also after a restart.
    void doubt(const Doubt& doubt);

    /// After every event: looks at the open claims that are doubted, drawn, or accused by this node, and
    /// offers the challenges and calls that are due.
    void follow(const contracts::StateView& state, std::uint64_t height);
    /// Asks the worker to compute a slot, the first whose files are here: those whose games this node owes,
    /// then those that can be challenged for the shortest time. REQUIRES that no request of the role is at
    /// work in the worker.
    void compute(const contracts::StateView& state);
    /// Adds the blobs that its looks need of jobs for which this node does not work. They are pinned only
    /// while there is room beside all that its own jobs can take.
    void add_borrowed(const contracts::StateView& state, std::set<BlobId>& blobs);
    [[nodiscard]] bool computing() const { return asked_.has_value(); }
    /// Ends what its worker is at for it; the slot is computed again later.
    void give_way();

private:
    using ClaimKey = std::tuple<base::Hash256, std::uint32_t, contracts::ClaimKind, std::uint32_t>;
    struct Look {
        contracts::ClaimId id;
        std::uint64_t until = 0;               ///< last height at which it can be challenged, or its vouchers
                                               ///< called
        std::optional<std::uint32_t> died_in;  ///< number of the game; nothing: it lives
        bool accuses = false;              ///< this node has accused it and owes a game, which takes no bond
        bool done = false;                 ///< `unit` is the finding
        std::optional<DisputedUnit> unit;  ///< to challenge; nothing: it is as claimed
        std::optional<std::uint64_t> gathers_since_ns;  ///< its files were asked for
        std::optional<Pin> pin;                         ///< of these files
    };

    void take_over_notes();
    void look(const contracts::StateView& state, std::uint64_t height);
    /// Does nothing about a claim that is closed, or that is neither doubted, drawn nor accused by this node.
    void look_at(const contracts::StateView& state, const contracts::ClaimId& id, std::uint64_t height);
    /// Open claims of the job's settled rounds that this node draws to compute again. Reads each round once.
    std::vector<contracts::ClaimId> drawn(const contracts::StateView& state, const base::Hash256& job);
    [[nodiscard]] bool is_drawn(const contracts::ClaimId& id) const;
    [[nodiscard]] bool is_due(const contracts::StateView& state, const Look& look) const;
    [[nodiscard]] bool has_stake(const contracts::StateView& state, const Look& look);
    void call_vouchers(const contracts::StateView& state, const Look& look, std::uint64_t height);
    /// Once a claim.
    void warn_of_stake(const Look& look, const std::string& what, base::Amount bond);
    /// The looks that wait to be computed, in the order of compute().
    std::vector<Look*> waiting_looks();
    /// Whether this node works for the job, or has a claim in it.
    [[nodiscard]] bool is_own(const contracts::StateView& state, const contracts::Job& job) const;
    /// False: nothing was asked, since its files are not here or the worker has to open its job.
    bool train(const contracts::StateView& state, Look& look);
    void on_answer(const ClaimKey& key, const WorkerAnswered& answer);
    void compare(const contracts::StateView& state);

    Seams seams_;
    BlobFiles& files_;
    Requests& requests_;
    JobBench& bench_;
    const base::SecretKey& node_;
    double rate_;
    const PlayerTold::Offer offer_;
    const PlayerTold::HasRoom has_room_;
    struct Drawn {
        std::uint32_t next = 0;  ///< the first round that is not drawn from yet
        std::vector<contracts::ClaimId> claims;
    };
    std::map<base::Hash256, Drawn> drawn_;  ///< by job
    std::map<ClaimKey, Look> looks_;
    std::map<ClaimKey, Doubt> doubts_;
    std::map<ClaimKey, program::TraceRecord> computed_;  ///< not compared yet
    std::map<std::string, contracts::Payload> moves_;    ///< challenges and calls that are due
    std::set<ClaimKey> poor_;                            ///< the log has said that stake is missing
    std::optional<std::uint64_t> looked_at_;
    std::optional<RequestId> asked_;
    bool notes_taken_over_ = false;
};

}  // namespace assay::node
