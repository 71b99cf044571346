// SPDX-License-Identifier: Apache-2.0
// Gives miner, verifier, buyer and sequencer FollowingRole, their common base. Each follows the ledger and
// plans after every event: it looks at the state and at what it has, and starts whatever is missing. A plan
// that is a function of state and disk needs no special case for a restart.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/roles/follower.hpp"
#include "node/roles/live_blocks.hpp"
#include "node/roles/onboarding.hpp"
#include "node/roles/receipt_keeper.hpp"
#include "node/roles/requests.hpp"
#include "node/roles/store_watch.hpp"
#include "node/roles/tx_sender.hpp"
#include "node/seams/blob_files.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// What every role is given. All references outlive the role.
struct RoleParts {
    Seams seams;
    BlobFiles& files;
    const ledger::Genesis& genesis;
    const base::SecretKey& node_key;
    std::string endpoint;            ///< "host:port" of this process's blob service
    std::uint64_t start_height = 0;  ///< of the ledger when the process started: plans wait until then
    /// Ends the process: with an error, or without one when the role's work is done.
    std::function<void(std::optional<base::Error>)> finish;
    /// Keeps the state that the role has verified, to start from; null: in memory only.
    ledger::KeyValueProvider* state_store = nullptr;
};

/// The failures of its own machine for which a role ends.
enum class OwnFailure : std::uint8_t {
    kNotes,    ///< its notes (DiskPort) cannot be read or written, so it could not open what it seals
    kUnsound,  ///< its device gave two results, computes by another law, or is lost
};
std::string_view to_text(OwnFailure why);

class FollowingRole : public Role {
public:
    explicit FollowingRole(const RoleParts& parts);

    void step(const RoleEvent& event) final { step_all({&event, 1}); }
    void step_all(std::span<const RoleEvent> events) final;

protected:
    /// Looks at state() and starts what is missing. Called after every event, or after several that came
    /// together; must be cheap and idempotent.
    virtual void plan() = 0;
    /// Called with every event of the blocks that this process follows, in order, before plan(). Blocks that
    /// the home had verified earlier are not followed again; a role learns of them from the state.
    virtual void observe(const contracts::Event& event) { (void)event; }
    /// Forgets what an unsound device gave, unless it is sealed on the ledger. This process found the device,
    /// or an earlier one of this home that ended before it could forget. Called between plans, when state()
    /// can be planned from. Returns false when its notes fail; the role then ends.
    virtual bool forget_work_of(const std::string& device) {
        (void)device;
        return true;
    }
    /// Whether this process found that the device computes wrong bits. Later answers of it count for nothing.
    [[nodiscard]] bool is_unsound(const std::string& device) const { return unsound_.contains(device); }
    /// Called when the ledger refuses an offer for a reason for the first time. By default it is logged. An
    /// offer refused for ever is not sent again in any case.
    virtual void refused(const RefusedOffer& offer);

    /// With the records of ended jobs, as far as this home's history gives them. REQUIRES follows().
    [[nodiscard]] const contracts::StateView& state() const { return *state_; }
    [[nodiscard]] bool follows() const { return follower_.has_value(); }
    [[nodiscard]] std::uint64_t height() const { return follower_->height(); }
    [[nodiscard]] const std::string& chain_id() const { return parts_.genesis.chain_id; }
    [[nodiscard]] const base::PublicKey& me() const { return parts_.node_key.public_key(); }
    [[nodiscard]] const RoleParts& parts() const { return parts_; }
    [[nodiscard]] Requests& requests() { return requests_; }
    [[nodiscard]] Log& log() const { return parts_.seams.log; }

    /// Offers a transaction of the node key.
    void offer(const std::string& name, contracts::Payload payload) {
        sender_.offer(name, std::move(payload));
    }

    /// Whether an offer waits to be sent or to appear in a followed block.
    [[nodiscard]] bool is_sending() const { return sender_.is_busy(); }
    /// Whether the owner has registered this node key for `role`. Keeps the endpoint current.
    bool registered(WorkRole role);
    /// Plans every job that has not ended: calls `round` for jobs in their rounds, then `bidding` for the
    /// others, so that no bid takes the worker from work that is due.
    void plan_jobs(const std::function<void(const contracts::Job&)>& bidding,
                   const std::function<void(const contracts::Job&)>& round);

    base::Hash256 random_hash();
    /// Ends the role for a failure of its own machine. It plans and sends nothing from then on. Nothing that
    /// a peer, a job or a worker's answer brings may end a role in another way, so every call names which
    /// OwnFailure it is.
    void fail_with(OwnFailure why, const base::Error& error);

private:
    void start();
    /// Takes an event; false: no plan follows it.
    bool take(const RoleEvent& event);
    void log_store_notes();
    void find_unsound(const std::string& device);
    /// Reads the notes of earlier processes.
    void read_unsound_notes();
    void forget_doubted();
    void follow(const BlockSeen& event);
    [[nodiscard]] RoleTime time() const;
    /// Whether the law of live blocks lets this block be followed now. If not, asks for it again later.
    bool may_follow(std::uint64_t block, std::uint64_t time_ms);
    void tick();
    void keep_receipt(base::ByteView encoded);

    RoleParts parts_;
    ReceiptKeeper receipts_;
    StoreWatch store_watch_;
    std::optional<Follower> follower_;
    LiveBlocks live_;
    std::uint64_t held_ = 0;                       ///< height of the block that is put off; 0: no such block
    std::optional<contracts::WithHistory> state_;  ///< the follower's
    Requests requests_;
    TxSender sender_;
    bool plans_ = false;             ///< state() can be planned from
    bool failed_ = false;            ///< fail_with() was called
    std::set<std::string> unsound_;  ///< devices found unsound by this process
    std::set<std::string> doubted_;  ///< of this and earlier processes: their work is not forgotten yet
};

/// "1a2b3c4d round 2": how logs name a round.
std::string round_name(const base::Hash256& job, std::uint32_t round);

/// Whether the node has work in the job's rounds: it is in the roster and was not dropped, or it is enlisted.
bool takes_part(const contracts::Job& job, const base::PublicKey& node);

/// Blob endpoints that serve the base state or data of a job: the buyer's and the verifiers'.
std::vector<Endpoint> holders_of_base(const contracts::StateView& state, const contracts::Job& job);

/// Blob endpoints that serve what a slot submitted, once its trace is open: those of the verifiers that
/// recomputed it, of the other enlisted ones, then its miner's. The miner comes last because the others have
/// no reason to hold up the merge. Leaves out `me`.
std::vector<Endpoint> holders_of_stored(const contracts::StateView& state, const contracts::Job& job,
                                        const contracts::SlotRound& slot, const base::PublicKey& me);

/// Blob endpoints that serve the state that a slot of the running round goes on with: holders_of_stored() of
/// the round before. Empty when the slot carries nothing. Leaves out `me`.
std::vector<Endpoint> holders_of_carried(const contracts::StateView& state, const contracts::Job& job,
                                         std::uint32_t slot, const base::PublicKey& me);

}  // namespace assay::node
