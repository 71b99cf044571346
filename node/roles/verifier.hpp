// SPDX-License-Identifier: Apache-2.0
// Gives a process VerifierRole, which enlists for jobs, opens its beacon links, recomputes the units that it
// is drawn for and posts their roots, stores what slots submit, and computes merges.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "node/roles/challenger.hpp"
#include "node/roles/following_role.hpp"
#include "node/roles/game_player.hpp"
#include "node/roles/job_bench.hpp"
#include "node/roles/misconduct.hpp"
#include "node/roles/order_watch.hpp"
#include "node/roles/quarreller.hpp"

namespace assay::node {

/// A fault that the verifier found, with a sentence that names the difference. Kept for people with the
/// role's state; the ledger decides by roots alone.
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
    /// The most that it locks for a job; Params::verifier_bond if that is more. It does not enlist for a job
    /// that asks for more than that, since the buyer chooses the gain bound and the audit rate.
    base::Amount lock = base::units(20 * base::kUnitsPerToken);
    /// The text of a finding's file, in the form that the process gives records. Null: findings are logged
    /// and not kept.
    std::function<std::string(const Finding&)> finding_text;
    /// False: it does not enlist, and only challenges.
    bool enlists = true;
    /// Share of the settled slots of others that it computes again on its own account, to challenge false
    /// claims; 0 to 1. Needs free stake for bonds.
    double challenge = 0;
    Misconducts conducts;  ///< drills of the role; none of an honest one
    /// For Misconduct::kColludingPanel: reads a note of its miner by name (slot_note()); nothing when there
    /// is none.
    std::function<std::optional<base::Bytes>(const std::string& note)> accomplice_note = nullptr;
    /// Node key of the miner that it helps in disputes; nothing: none.
    std::optional<base::PublicKey> accomplice = std::nullopt;
};

/// What a verifier computed of one slot: the parts of claimed_units(), in that order.
struct ComputedSlot {
    std::vector<worker::UnitParts> units;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.units);
    }
};
/// A verifier's sealed roots, on disk before the seal is sent, because it could not open the seal without
/// them. `computed` shows later where an opened trace is false.
struct SealedAudit {
    std::vector<contracts::SlotClaim> claims;
    std::vector<ComputedSlot> computed;  ///< of each claim
    base::Bytes replayed;                ///< as AuditSeal has it
    base::Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.claims, self.computed, self.replayed, self.salt);
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
    /// The slot that is audited now. If its start is not served, it is replayed from the round's base.
    struct AuditedSlot {
        bool begun = false;
        bool replayed = false;
        std::vector<std::uint32_t> units;      ///< claimed_units()
        std::vector<worker::UnitParts> parts;  ///< of the first of them, in order
        /// State that the next unit begins with: the computed end of the unit before, or the start that was
        /// served.
        std::optional<StateFiles> start;
        base::Hash256 start_root;
        bool misplaced = false;  ///< the run's start cannot be a state of that boundary; all its units then
                                 ///< have one root
        bool diverged = false;   ///< computed in this run: the state stays `start_root`

        [[nodiscard]] bool complete() const { return begun && parts.size() == units.size(); }
        [[nodiscard]] std::uint32_t unit() const { return units[parts.size()]; }
        /// Whether the next unit goes on from the one before.
        [[nodiscard]] bool goes_on() const {
            return !parts.empty() && units[parts.size() - 1] + 1 == units[parts.size()];
        }
    };
    /// One audit under way. Audits of several jobs run side by side; the worker takes one unit at a time.
    struct Audit {
        struct Todo {
            contracts::AssignedSlot slot;
            AuditedSlot at;
        };
        bool begun = false;
        std::deque<Todo> todo;             ///< a slot that waits goes to the back
        std::set<std::uint32_t> replayed;  ///< slots whose starts are not served, though their miners opened
                                           ///< them
        SealedAudit found;                 ///< of slots, ascending; not sealed yet

        [[nodiscard]] bool complete() const { return begun && todo.empty(); }
        [[nodiscard]] const contracts::AssignedSlot& slot() const { return todo.front().slot; }
        [[nodiscard]] AuditedSlot& at() { return todo.front().at; }
        [[nodiscard]] const AuditedSlot& at() const { return todo.front().at; }
    };
    using MergeKey = std::pair<base::Hash256, std::uint32_t>;  ///< job, round
    /// One merge under way. The ledger names the root of each accepted update; where its bytes come from does
    /// not matter. The slot's verifiers, which recomputed it, or its miner serve them. Training the slot
    /// again also gives them if the whole slot was computed honestly. The verifier does that once nobody
    /// served them or a quarter of the window is over, so that a slow holder cannot hold up the merge.
    /// Without all updates it seals no merge, and goes on asking until the phase is over.
    struct MergeWork {
        std::map<std::uint32_t, SharedDescriptor> updates;  ///< by slot, root checked
        std::set<std::uint32_t> recompute;                  ///< slots whose served update was wrong or
                                                            ///< missing
        std::set<std::uint32_t> elsewhere;       ///< slots whose update training here does not give
        std::set<std::uint32_t> false_files;     ///< slots whose named blob is not the accepted update
        std::optional<SharedDescriptor> base;    ///< merged
        base::Bytes slots;                       ///< whose updates are in it
        std::vector<std::uint32_t> clips;        ///< one for each of them, if the job has a norm bound
        base::Hash256 root;                      ///< of it
        std::optional<std::uint32_t> loss_bits;  ///< of `base` over the drawn held-out text
        std::optional<contracts::MergeClaim> claim;
        bool compared = false;  ///< with the merge that stands
        bool given_up = false;  ///< the merge cannot be done here; none is sealed this round
    };

    void plan() override;
    bool forget_work_of(const std::string& device) override;
    /// Takes a note out of what is sealed next, but keeps it: its seal may be on its way to the ledger, and a
    /// verifier that cannot open a seal pays for all of it.
    bool set_aside(const std::string& file);
    /// The note that matches the ledger's seal, whether it was set aside or not.
    template <class Record>
    std::optional<Record> kept_as_sealed(const std::string& file,
                                         const std::function<bool(const Record&)>& is_sealed);
    /// Adds both names of the note, set aside and not, to those that stay.
    static void keep_note(std::set<std::string>& needed, const std::string& file);
    /// Registers `take` for the last answer of the request that is submitted next. There is one such request
    /// at a time. The answer is ignored if forget_work_of() was called meanwhile.
    RequestId on_answer(std::function<void(const WorkerAnswered&)> take);
    /// Whether the worker is at work for anything of ours.
    [[nodiscard]] bool is_busy() const { return computing_ || games_.computing() || challenger_.computing(); }
    /// Ends what the worker does for the role, which asks for it again.
    void give_way(const std::string& why);
    /// Lets games and challenges have the worker; `first`: before the work of the rounds.
    void compute_games(bool first);
    /// Share of others' settled slots that it picks now: none while its owner has it take on nothing.
    [[nodiscard]] double challenge_rate() const;
    /// What still needs this process; empty: nothing.
    std::string still_needed_for();
    /// Ends the role if it drains and nothing needs it.
    void end_if_drained();
    void plan_bidding(const contracts::Job& job);
    /// What to lock for the job; nothing when the stake or the limit does not reach.
    std::optional<base::Amount> lock_for(const contracts::Job& job);
    /// Whether enlisting needs no trust in the buyer, because all that the work needs is here already.
    /// Otherwise fetches what is missing.
    bool checked_before_enlisting(const contracts::Job& job);
    /// Whether the store has room for what the job can make it keep, in addition to what is pinned and other
    /// jobs may take (room_to_keep.hpp). Logs it once for each job.
    bool can_keep(const contracts::Job& job);
    /// Why the store, with this room, has too little; nothing: it has enough.
    [[nodiscard]] std::optional<std::string> lacks_room(const contracts::Job& job,
                                                        const StoreRoom& room) const;
    /// PlayerTold::has_room.
    [[nodiscard]] bool has_room_beside(const contracts::Job& job) const;
    /// Decides what follows when the worker did not do `what`: it is asked again later, or the piece of work
    /// is given up, and the verifier is silent about it. Silence in a merge costs this round's attendance,
    /// and in an audit as much as a lost accusation. A root that was not computed would cost the same and
    /// would also keep a slot out of its merge. Only an unsound machine ends the role.
    void on_not_done(const base::Hash256& job, const std::string& what, const WorkerAnswered& answer,
                     bool& given_up);
    void plan_round(const contracts::Job& job);
    void open_links(const contracts::Job& job);

    void plan_audit(const contracts::Job& job, contracts::Stage stage);
    void audit_next(const contracts::Job& job, const AuditKey& key, const SharedDescriptor& base);
    void replay(const contracts::Job& job, const AuditKey& key, const SharedDescriptor& base);
    void on_replayed(const AuditKey& key, const WorkerAnswered& answer);
    void on_computed(Audit& audit, const contracts::Job& job, const WorkerAnswered& answer,
                     const worker::UnitParts& parts);
    void on_misplaced(Audit& audit, const contracts::Job& job, const worker::Replayed& replayed);
    /// Takes the next unit if its result needs no computing: after a divergence, or in a run whose start
    /// cannot be a state of its boundary.
    static bool follows_without_work(AuditedSlot& at, const program::JobSpec& spec);
    /// Begins the slot at hand again, from the round's base.
    void replay_slot(Audit& audit, const contracts::Job& job, const std::string& why);
    static void finish_slot(Audit& audit);
    /// Adds the claim about a finished slot to what is found, in the order of slots.
    static void note_found(Audit& audit, contracts::SlotClaim claim, ComputedSlot computed);
    /// Whether what is found has to be sealed now, to be in time.
    [[nodiscard]] bool must_seal(const contracts::Job& job, const contracts::AuditPosting& posting) const;
    /// Leaves the present slot out of the seal. That costs as much as silence about it, and nothing for the
    /// seal's other slots.
    void leave_out(Audit& audit, const contracts::Job& job, const std::string& why);
    void leave_out_rest(Audit& audit, const contracts::Job& job);
    /// Moves the present slot, which waits, behind the others.
    static void let_others_go_first(Audit& audit);
    /// Advances the audit as far as nothing has to be computed or fetched.
    void advance(Audit& audit, const contracts::Job& job);
    /// Whether the state that the next unit begins with is here. If not, it is being fetched, or the slot was
    /// begun again.
    bool has_start(const contracts::Job& job, contracts::Stage stage, Audit& audit);
    /// The state that a unit starts from, or some of its arrays, and who serves it.
    struct StartFiles {
        BlobId blob;
        std::span<const program::StateArray> arrays;
        base::Hash256 root;
        std::vector<Endpoint> holders;
        base::PublicKey owed_by = {};
    };
    /// The start of a run that begins with `unit`; nothing when it begins at the base with nothing carried.
    std::optional<StartFiles> start_of(const contracts::Job& job, std::uint32_t slot, std::uint32_t unit);
    /// The nearest start at or before a disputed unit that the slot's miner opened, if it is here.
    std::optional<ServedState> served_start(const contracts::Job& job, const dispute::UnitClaim& unit);
    std::optional<StateFiles> want(const StartFiles& files, const program::JobSpec& spec);
    std::vector<BlobId> known_files(const StartFiles& files, const program::JobSpec& spec);
    /// Whether bytes that the miner owes count as not served: it was asked, and had enough time. `waited`:
    /// heights of the phase that have passed. After `longest`, a miner that still sends slowly has not served
    /// either.
    [[nodiscard]] bool waited_enough(const std::vector<BlobId>& blobs, const base::PublicKey& owed_by,
                                     std::uint64_t waited, std::uint64_t longest) const;
    /// The start does not have the root that was opened. That is the miner's fault, unless our own disk
    /// changed it since.
    void on_unfit_start(const contracts::Job& job, Audit& audit, const std::string& why);
    [[nodiscard]] bool conducts(Misconduct conduct) const { return options_.conducts(conduct); }
    /// What a verifier with its misconduct claims about a slot that it does not compute; nothing: it computes
    /// the slot. `heads`: true for every second of its slots.
    [[nodiscard]] std::optional<contracts::SlotClaim> said_without_work(const contracts::Job& job,
                                                                        const contracts::AssignedSlot& slot,
                                                                        bool heads) const;
    /// Whether a verifier with its misconduct leaves the present slot out of its seal on purpose.
    [[nodiscard]] bool leaves_out(const contracts::Job& job, const Audit& audit) const;
    [[nodiscard]] contracts::SlotClaim copied(const contracts::Job& job,
                                              const contracts::AssignedSlot& slot) const;
    [[nodiscard]] contracts::SlotClaim made_up(const contracts::Job& job,
                                               const contracts::AssignedSlot& slot) const;
    [[nodiscard]] std::optional<contracts::SlotClaim> told_by_accomplice(
        const contracts::Job& job, const contracts::AssignedSlot& slot) const;
    [[nodiscard]] contracts::CarriedIn carried_in(const contracts::Job& job, std::uint32_t slot) const;
    void ask_for_starts(const contracts::Job& job, const Audit& audit);
    /// Once the traces are open: reports where they differ from what was computed here.
    void tell_findings(const contracts::Job& job);
    void tell_findings_of(const contracts::Job& job, const contracts::SlotClaim& claim,
                          const ComputedSlot& computed);
    void open_audit(const contracts::Job& job, contracts::Stage stage);
    void record_finding(const Finding& finding);
    void forget_old_rounds(const contracts::Job& job);
    void forget_ended_jobs();

    void plan_merge(const contracts::Job& job, const contracts::Round& round);
    /// Doubts each merge that stands, is of the same slots as ours, and differs from it.
    void doubt_merges();
    void merge_next(const contracts::Job& job, const SharedDescriptor& base);
    /// Once everything is sealed and opened: serves what was computed here to those who merge it or go on
    /// from it. Earlier, a party that asked for it would learn what this verifier is about to claim.
    void serve_recomputed(const contracts::Job& job, const contracts::Round& round);

    /// What slots have submitted, stored here for the round: checked, and posted to the ledger as a bitmap.
    struct StoreWork {
        std::set<std::uint32_t> ends;        ///< slots whose handed-on state is here, root checked
        std::set<std::uint32_t> false_ends;  ///< slots whose named blob is not the state that they hand on
        std::optional<base::Bytes> bits;     ///< as posted
        bool given_up = false;               ///< it cannot be checked here
    };
    void plan_storage(const contracts::Job& job, const contracts::Round& round);
    /// Whether a slot's bytes are here.
    enum class Holding : std::uint8_t { kHeld, kAwaited, kNotServed };
    Holding hold(const contracts::Job& job, std::uint32_t slot);
    Holding hold_update(const contracts::Job& job, const contracts::SlotRound& slot,
                        const contracts::Reveal& reveal);
    /// The part that this verifier fetches of a slot that several store. Nothing when it stores the slot
    /// alone, or has to ask the miner for all of it.
    [[nodiscard]] std::optional<BlobShare> share_of(const contracts::Job& job,
                                                    const contracts::SlotRound& slot) const;
    /// Whether the slot's bytes count as not served before the bitmap is due.
    [[nodiscard]] bool not_served(const contracts::Job& job, const std::vector<BlobId>& blobs,
                                  const base::PublicKey& miner) const;
    /// The other verifiers, beginning with another one each time, then the miner.
    [[nodiscard]] std::vector<Endpoint> store_holders(const contracts::Job& job,
                                                      const contracts::SlotRound& slot,
                                                      const BlobId& blob) const;
    Holding hold_end(const contracts::Job& job, const contracts::SlotRound& slot,
                     const contracts::Reveal& reveal);
    void check_end(const contracts::Job& job, std::uint32_t slot, const base::Hash256& root,
                   const StateFiles& files);
    /// Fetches or trains the slot's update; true while it is not here yet.
    bool missing_update(const contracts::Job& job, std::uint32_t slot, const SharedDescriptor& base);
    /// Whether a missing update is trained again: nobody served it, or a quarter of the window is over.
    [[nodiscard]] bool trains_again(const contracts::Job& job, const BlobId& update,
                                    const base::PublicKey& miner) const;
    void check_update(const MergeKey& key, std::uint32_t slot, const base::Hash256& root,
                      const SharedDescriptor& file);
    /// Root of the update that training a slot again must give, and root of the state that the slot goes on
    /// with.
    struct Retraining {
        base::Hash256 update;
        base::Hash256 carried_in;
    };
    void train_again(const MergeKey& key, std::uint32_t slot, const Retraining& roots,
                     std::vector<SharedDescriptor> start);
    /// Computes the loss over the held-out sequences that the round's beacon draws.
    void evaluate(const contracts::Job& job, const base::Hash256& beacon, const SharedDescriptor& merged);
    /// Stores the merged state and claims it; does nothing while the store does not take it.
    void claim_merge(const contracts::Job& job, MergeWork& work);
    void open_merge(const contracts::Job& job, const contracts::Round& round);

    template <class Record>
    std::optional<Record> kept(const std::string& file);
    template <class Record>
    bool keep(const std::string& file, const Record& record);

    VerifierOptions options_;
    JobBench bench_;
    GamePlayer games_;
    Challenger challenger_;
    Quarreller quarreller_;
    OrderWatch orders_;
    /// While it drains: the height at which the ledger still needed it.
    std::optional<std::uint64_t> waits_for_block_ = std::nullopt;
    std::map<AuditKey, Audit> audits_;
    std::map<MergeKey, MergeWork> merges_;
    /// Blobs of running rounds that the ledger does not name yet.
    void keep_own(std::set<BlobId>& needed);
    /// Removes the seals' notes of every round that no job of the state is in, whichever process wrote them.
    void forget_notes();

    struct Recomputed {
        StateFiles files;              ///< files of a state, or the one of an update
        base::Hash256 root;            ///< of the update, or of the state
        std::optional<BlobId> served;  ///< its blob, once it is in the store
    };
    /// What was computed in audits: job, round, slot.
    using RecomputedFiles = std::map<std::tuple<base::Hash256, std::uint32_t, std::uint32_t>, Recomputed>;
    RecomputedFiles own_updates_;
    /// The states at the last boundary, in jobs that carry state. The files are closed once they are served.
    RecomputedFiles own_ends_;
    std::map<MergeKey, StoreWork> stores_;
    std::uint64_t admitted_at_ = 0;       ///< height at which holders' calls were last admitted
    std::set<AuditKey> told_;             ///< audits whose findings were reported
    std::set<base::Hash256> left_alone_;  ///< jobs that ask for more than we lock, said once each
    std::set<base::Hash256> no_room_;     ///< jobs for which the store is too small, the same
    bool computing_ = false;              ///< a request of ours is at work in the worker
    RequestId at_work_ = 0;               ///< that request
    std::uint64_t forgotten_ = 0;         ///< how often forget_work_of was called
};

/// Name of the note that holds the sealed roots of a stage.
std::string audit_file(const base::Hash256& job, std::uint32_t round, contracts::Stage stage);

/// Name of the note that holds a sealed merge.
std::string merge_file(const base::Hash256& job, std::uint32_t round);

}  // namespace assay::node
