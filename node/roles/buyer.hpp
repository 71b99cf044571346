// SPDX-License-Identifier: Apache-2.0
// Gives a process BuyerRole, which serves a job that its owner bought: it serves the data, opens the beacon
// links, and fetches and serves every base state. Also composes what the owner signs to buy a job.
#pragma once

#include <optional>
#include <set>

#include "node/roles/challenger.hpp"
#include "node/roles/following_role.hpp"
#include "node/roles/game_player.hpp"
#include "node/roles/job_bench.hpp"
#include "node/roles/lot_choice.hpp"
#include "node/roles/seal_notes.hpp"

namespace assay::node {

struct BuyerOptions {
    /// A job of this node key, in a block up to RoleParts::start_height. The role ends (kVerification) when
    /// the blocks up to there do not hold it.
    base::Hash256 job;
    /// Share of the job's settled slots that it computes again, to challenge false claims; 0 to 1. More than
    /// 0 needs a worker, and free stake of this node key for bonds.
    double challenge = 0;
    /// For a job that leases its machines: the most that it bids for a work unit, at most the job's cap.
    /// Nothing: the cap. The best bid is what a work unit is worth to the buyer, since a winner pays the
    /// least with which it would have won.
    std::optional<base::Amount> bid = std::nullopt;
};

/// The payload that buys a job of this spec, which `node` serves at `endpoint`. The owner of the node key
/// signs it. REQUIRES that the spec names its `initial_root`.
contracts::JobSubmit submission(const program::JobSpec& spec, const base::SecretKey& node,
                                const std::string& endpoint);

/// The same, paid by the account of a sponsor whose team the owner of the node key is a member of; `own` when
/// there is no sponsor.
contracts::Payload submission_for(const std::optional<base::PublicKey>& sponsor, contracts::JobSubmit own);

/// The job of this spec and node key, running or ended. A buyer that runs the command again goes on with that
/// job instead of buying twice, and the same beacon chain is never used for two jobs.
std::optional<base::Hash256> bought_job(const contracts::StateView& state, const base::PublicKey& node,
                                        const program::JobSpec& spec);

class BuyerRole final : public FollowingRole {
public:
    BuyerRole(const RoleParts& parts, BuyerOptions options);

    /// The job as the ledger last had it. Nothing until the ledger is followed, and when the job has ended
    /// and this home's history does not give it.
    [[nodiscard]] std::optional<contracts::Job> record() const {
        return follows() ? contracts::read_job(state(), options_.job) : std::nullopt;
    }

private:
    void plan() override;
    void observe(const contracts::Event& event) override;
    void refused(const RefusedOffer& offer) override;
    void serve(const contracts::Job& job);
    /// What it does in the market between jobs, for a job that leases its machines.
    void trade(const contracts::Job& job);
    void seal_bid(const contracts::Job& job);
    void open_bid(const contracts::Job& job);
    /// Whether the rules will take its bid's deposit out of the escrow; logs it once when they will not.
    bool covers_bid_deposit(const contracts::Job& job);
    /// Reads the bid that its owner has set in place of the flag, at each block and by the clock.
    void look_at_bid_order();
    [[nodiscard]] base::Amount bid_price(const contracts::JobTerms& job) const;
    /// Logs the text unless it was the last one logged.
    void say_of_market(const std::string& text);
    /// Once a round: a warning when the escrow does not last to the end of the job.
    void watch_escrow(const contracts::Job& job);

    /// Unpins the bases of settled rounds with no open claim, and the data once the job has ended. They are
    /// served until their room is needed.
    void unpin_closed(const contracts::Job& job);

    BuyerOptions options_;
    /// Its challenges, and the games about them.
    void challenge();

    JobBench bench_;
    GamePlayer games_;
    Challenger challenger_;
    std::optional<base::Hash256> secret_;
    std::optional<std::uint32_t> watched_;  ///< the last round for which the escrow was looked at
    LotChoice choice_;
    std::optional<base::Amount> bid_order_;
    bool bid_unread_ = false;  ///< the note of the order could not be read
    std::optional<std::pair<std::uint64_t, std::uint64_t>> order_seen_;  ///< height, and when
    std::string said_of_market_;                                         ///< the last warning about its bids
    std::uint64_t unpinned_at_ = 0;                                      ///< height
    std::set<std::uint32_t> let_go_;  ///< rounds whose bases have lost their pins
};

}  // namespace assay::node
