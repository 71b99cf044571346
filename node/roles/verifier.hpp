// SPDX-License-Identifier: Apache-2.0
// Gives a process VerifierRole, which enlists for jobs, opens its beacon links, recomputes the units it is
// drawn for and posts the roots it computed, and computes merges.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "node/roles/following_role.hpp"
#include "node/roles/job_bench.hpp"

namespace assay::node {

/// A fault found, with the sentence that names it. Kept beside the role's state, for people: the ledger
/// decides by roots alone.
struct Finding {
    base::Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t unit = 0;
    base::PublicKey miner;
    std::string difference;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("job", job);
        visit("round", round);
        visit("slot", slot);
        visit("unit", unit);
        visit("miner", miner);
        visit("difference", difference);
    }
};

struct VerifierOptions {
    /// Locked for each job, or Params::verifier_bond where that is more. A job that asks for more than this
    /// is left alone: its buyer chose its gain bound and its audit rate.
    base::Amount lock = base::units(20 * base::kUnitsPerToken);
    /// What the file of a finding says, in the form that the process gives records. Null: findings are
    /// logged and not kept.
    std::function<std::string(const Finding&)> finding_text;
};

/// A verifier's sealed words, on disk before the seal is sent: without them it could not open it.
struct SealedAudit {
    std::vector<contracts::UnitClaim> claims;
    base::Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.claims, self.salt);
    }
};
struct SealedMerge {
    contracts::MergeClaim claim;
    base::Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.claim, self.salt);
    }
};

class VerifierRole final : public FollowingRole {
public:
    VerifierRole(const RoleParts& parts, VerifierOptions options);

private:
    /// Which audit: job, round, stage.
    using AuditKey = std::tuple<base::Hash256, std::uint32_t, contracts::Stage>;
    /// One audit under way. Audits of several jobs stand side by side; the worker takes one unit at a time.
    struct Audit {
        std::vector<contracts::AssignedUnit> units;
        std::vector<contracts::UnitClaim> claims;  ///< of the first units, in order
        /// Recomputed end of the last unit, when it matched: the next unit's start, without a transfer.
        std::optional<StateFiles> end_state;
        bool given_up = false;      ///< it cannot be done here: this round's audit is left out
        bool starts_asked = false;  ///< every unit's start was asked for once
        /// Of the next unit, proven; it waits for the miner's own end, which tells more about it.
        std::optional<worker::Replayed> difference;
        std::uint64_t name_until = 0;  ///< height at which it waits no longer

        [[nodiscard]] bool complete() const { return claims.size() == units.size(); }
        [[nodiscard]] const contracts::AssignedUnit& next() const { return units[claims.size()]; }
        void claim(const base::Hash256& root);
        void claim_unavailable();
    };
    using MergeKey = std::pair<base::Hash256, std::uint32_t>;  ///< job, round
    /// One merge under way. The ledger names what each accepted update's root is; where the bytes come from
    /// does not matter: from the slot's verifiers, who recomputed it, from its miner, or from training the
    /// slot again, which gives them where the whole slot was worked honestly, and is done once nobody gave
    /// them or a quarter of the window is over: a holder that gives slowly keeps no merge from ending.
    /// Without them there is no merge to claim: the verifier seals none, and goes on asking until the phase
    /// is over.
    struct MergeWork {
        std::map<std::uint32_t, SharedDescriptor> updates;  ///< by slot, root checked
        std::set<std::uint32_t> recompute;                  ///< slots whose served bytes were wrong or absent
        std::set<std::uint32_t> elsewhere;       ///< slots whose update training here does not give
        std::set<std::uint32_t> false_files;     ///< slots whose named blob is not the accepted update
        std::optional<SharedDescriptor> base;    ///< merged
        base::Hash256 root;                      ///< of it
        std::optional<std::uint32_t> loss_bits;  ///< of `base` over the held-out text
        std::optional<contracts::MergeClaim> claim;
        bool given_up = false;  ///< it cannot be done here: this round's merge is left out
    };

    void plan() override;
    void plan_bidding(const contracts::Job& job);
    /// What to lock for the job; nothing when the stake or the limit does not reach.
    std::optional<base::Amount> lock_for(const contracts::Job& job);
    /// Whether enlisting needs no trust in the buyer: all that the work needs is here already. Otherwise what
    /// is missing is fetched.
    bool checked_before_enlisting(const contracts::Job& job);
    /// What follows when the worker did not do `what`: it is asked again later, or the piece of work is given
    /// up, which is silence. Silence in an audit or a merge costs this round's attendance; a word that was
    /// not computed could cost somebody a bond. Only a machine that is not sound ends the role.
    void on_not_done(const base::Hash256& job, const std::string& what, const WorkerAnswered& answer,
                     bool& given_up);
    void plan_round(const contracts::Job& job);

    void plan_audit(const contracts::Job& job, contracts::Stage stage);
    void audit_next(const contracts::Job& job, const AuditKey& key, const SharedDescriptor& base);
    void replay(const contracts::Job& job, const AuditKey& key, const SharedDescriptor& base,
                const StateFiles& claimed_end);
    void on_replayed(const AuditKey& key, const WorkerAnswered& answer);
    /// The unit `update`: nothing is recomputed, and the file that the reveal names must be the claimed
    /// update.
    void check_held(const AuditKey& key, const SharedDescriptor& file);
    void on_held(const AuditKey& key, const SharedDescriptor& file, const WorkerAnswered& answer);
    void on_match(Audit& audit, const contracts::Job& job, const WorkerAnswered& answer,
                  const base::Hash256& root);
    /// Bytes of a party that a unit starts from, or ends with: a state, or some arrays of one, or an update.
    struct UnitFiles {
        BlobId blob;
        std::span<const program::StateArray> arrays;  ///< of the state; empty: an update
        Traffic traffic = Traffic::kAudit;
        base::PublicKey owed_by = {};
    };
    static std::optional<UnitFiles> start_of(const contracts::Reveal& reveal, std::uint32_t unit,
                                             const program::JobSpec& spec,
                                             const contracts::CarriedIn& carried,
                                             const base::PublicKey& miner);
    static UnitFiles end_of(const contracts::Reveal& reveal, std::uint32_t unit, const program::JobSpec& spec,
                            const base::PublicKey& miner);
    std::optional<StateFiles> want(const UnitFiles& files, const std::vector<Endpoint>& holders,
                                   const program::JobSpec& spec);
    std::vector<BlobId> known_files(const UnitFiles& files, const program::JobSpec& spec);
    /// Whether bytes that the miner owes may be called unavailable: it was asked, and time was given.
    [[nodiscard]] bool waited_enough(const contracts::Job& job, const std::vector<BlobId>& blobs,
                                     const base::PublicKey& miner) const;
    /// The start was not the one that the trace says: the miner's doing, unless our own disk changed it
    /// since.
    void on_unavailable(const contracts::Job& job, Audit& audit);
    [[nodiscard]] contracts::CarriedIn carried_in(const contracts::Job& job, std::uint32_t slot) const;
    /// Where the state that a unit of the slot starts from can be had.
    [[nodiscard]] std::vector<Endpoint> holders_of_start(const contracts::Job& job,
                                                         const contracts::SlotRound& slot,
                                                         std::uint32_t unit) const;
    void ask_for_starts(const contracts::Job& job, Audit& audit);
    void name_difference(const contracts::Job& job, const AuditKey& key, const SharedDescriptor& base);
    void claim_difference(const contracts::Job& job, Audit& audit, const worker::Replayed& replayed);
    void on_difference(const contracts::Job& job, const AuditKey& key, const worker::Replayed& replayed);
    void open_audit(const contracts::Job& job, contracts::Stage stage);
    void record_finding(const Finding& finding);
    void forget_old_rounds(const contracts::Job& job);
    void forget_ended_jobs();

    void plan_merge(const contracts::Job& job, const contracts::Round& round, contracts::Stage stage);
    void merge_next(const contracts::Job& job, const SharedDescriptor& base);
    /// Once every seal of the audit is in: what was recomputed here is served to those who merge or go on
    /// from it. Before, whoever asks for it would learn what this verifier is about to say.
    void serve_recomputed(const contracts::Job& job, const contracts::Round& round);
    /// Where the update of a slot can be had: its verifiers, then its miner.
    [[nodiscard]] std::vector<Endpoint> holders_of_update(const contracts::SlotRound& slot) const;
    /// Starts what brings the slot's update here; true when something had to be started or waited for.
    bool missing_update(const contracts::Job& job, std::uint32_t slot, const SharedDescriptor& base);
    /// Whether an update that is not here is trained again: nobody gave it, or a quarter of the window is
    /// over.
    [[nodiscard]] bool trains_again(const contracts::Job& job, const BlobId& update) const;
    void check_update(const MergeKey& key, std::uint32_t slot, const base::Hash256& root,
                      const SharedDescriptor& file);
    /// Roots of the update that training a slot again must give, and of what the slot goes on with.
    struct Retraining {
        base::Hash256 update;
        base::Hash256 carried_in;
    };
    void train_again(const MergeKey& key, std::uint32_t slot, const Retraining& roots,
                     std::vector<SharedDescriptor> start);
    void evaluate(const contracts::Job& job, const SharedDescriptor& merged);
    /// Stores the merged state and claims it; nothing while the store does not take it.
    void claim_merge(const contracts::Job& job, MergeWork& work);
    /// Claims that the merged state is not finite.
    static contracts::MergeClaim diverged_merge() { return {}; }
    void open_merge(const contracts::Job& job, contracts::Stage stage);

    template <class Record>
    std::optional<Record> kept(const std::string& file);
    template <class Record>
    bool keep(const std::string& file, const Record& record);

    VerifierOptions options_;
    JobBench bench_;
    std::map<AuditKey, Audit> audits_;
    std::map<MergeKey, MergeWork> merges_;
    /// Blobs of running rounds that the ledger does not name yet.
    void keep_own(std::set<BlobId>& needed);

    struct Recomputed {
        StateFiles files;              ///< of a state, or the update's one
        std::optional<BlobId> served;  ///< as this blob, once it is in the store
    };
    /// What was recomputed in audits and found right: job, round, slot.
    using RecomputedFiles = std::map<std::tuple<base::Hash256, std::uint32_t, std::uint32_t>, Recomputed>;
    RecomputedFiles right_updates_;
    /// The states at the last boundary, in jobs that carry; the files are let go once they are served.
    RecomputedFiles right_ends_;
    std::set<base::Hash256> left_alone_;  ///< jobs that ask for more than we lock, said once each
    bool computing_ = false;              ///< a request of ours is at work in the worker
};

/// The note that holds a sealed merge.
std::string merge_file(const base::Hash256& job, std::uint32_t round, contracts::Stage stage);

}  // namespace assay::node
