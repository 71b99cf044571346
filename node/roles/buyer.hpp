// SPDX-License-Identifier: Apache-2.0
// Gives a process BuyerRole, which serves a job that its owner bought: the data, the beacon links, and every
// base state, which it brings home. What the owner signs to buy one is composed here.
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
    /// Of this node key, and in a block up to RoleParts::start_height: the role ends (kVerification) when the
    /// blocks up to there do not hold it.
    base::Hash256 job;
    /// Share of the job's settled slots that it computes again, to challenge what is false; 0 to 1. More than
    /// 0 takes a worker, and free stake of this node key for bonds.
    double challenge = 0;
    /// Of a job that leases its machines: the most that it bids for a work unit, at most the job's cap.
    /// Nothing: the cap. What a work unit is worth to the buyer is the best bid that there is: a winner pays
    /// the least with which it would have won.
    std::optional<base::Amount> bid = std::nullopt;
};

/// What buys a job of this spec, complete with `initial_root`: served by `node` at `endpoint`. For the owner
/// of the node key to sign.
contracts::JobSubmit submission(const program::JobSpec& spec, const base::SecretKey& node,
                                const std::string& endpoint);

/// The same for the account of a sponsor, of whose team the owner of the node key is a member; the owner's
/// own when there is none.
contracts::Payload submission_for(const std::optional<base::PublicKey>& sponsor, contracts::JobSubmit own);

/// The job of this spec and node key, running or ended: who buys again goes on with it instead of buying
/// twice, and the same beacon chain is never used for two jobs.
std::optional<base::Hash256> bought_job(const contracts::StateView& state, const base::PublicKey& node,
                                        const program::JobSpec& spec);

class BuyerRole final : public FollowingRole {
public:
    BuyerRole(const RoleParts& parts, BuyerOptions options);

    /// The job as the ledger last had it; nothing before the ledger is followed so far, and when the job has
    /// ended and this home's history does not give it.
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
    /// Whether the rules will take its bid's deposit out of the escrow; says it once where they will not.
    bool covers_bid_deposit(const contracts::Job& job);
    /// Reads what its owner bids in place of the flag, at each block and by the clock.
    void look_at_bid_order();
    [[nodiscard]] base::Amount bid_price(const contracts::JobTerms& job) const;
    /// In the log, until the text is another one.
    void say_of_market(const std::string& text);
    /// Once a round: a warning when the escrow does not last to the end of the job.
    void watch_escrow(const contracts::Job& job);

    /// Bases of settled rounds, once no claim of theirs is open, and the data once the job has ended, are
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
    bool bid_unread_ = false;  ///< whether there is an order is not known
    std::optional<std::pair<std::uint64_t, std::uint64_t>> order_seen_;  ///< height, and when
    std::string said_of_market_;                                         ///< the last warning about its bids
    std::uint64_t unpinned_at_ = 0;                                      ///< height
    std::set<std::uint32_t> let_go_;  ///< rounds whose bases have lost their pins
};

}  // namespace assay::node
