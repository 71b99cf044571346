// SPDX-License-Identifier: Apache-2.0
// Gives a process VerifierRole, which enlists for jobs, opens its beacon links, recomputes the units it is
// drawn for and posts the roots it computed, holds what slots submit, and computes merges.
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
#include "node/roles/quarreller.hpp"

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
    /// False: it enlists for no job, and only challenges.
    bool enlists = true;
    /// Share of the settled slots of others that it computes again on its own account, to challenge what is
    /// false; 0 to 1. It takes free stake for a bond.
    double challenge = 0;
    Misconducts conducts;  ///< drills of the role; none of an honest one
    /// Misconduct::kColludingPanel: a note of its miner, by name (slot_note()); nothing: there is none.
    std::function<std::optional<base::Bytes>(const std::string& note)> accomplice_note = nullptr;
    /// Node key of the miner that it stands with in disputes; nothing: with none.
    std::optional<base::PublicKey> accomplice = std::nullopt;
};

/// What a verifier computed of one slot: of claimed_units(), in that order.
struct ComputedSlot {
    std::vector<worker::UnitParts> units;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.units);
    }
};
/// A verifier's sealed words, on disk before the seal is sent: without them it could not open it. What it
/// computed says where a trace that is opened later is false.
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
    /// The slot at hand. A start that is not served makes it a replay from the round's base.
    struct AuditedSlot {
        bool begun = false;
        bool replayed = false;
        std::vector<std::uint32_t> units;      ///< claimed_units()
        std::vector<worker::UnitParts> parts;  ///< of the first of them, in order
        /// Computed end of the last of these, or the start that was served: what the next unit begins with.
        std::optional<StateFiles> start;
        base::Hash256 start_root;
        bool misplaced = false;  ///< the run's start cannot stand there: its units are all one root
        bool diverged = false;   ///< computed in this run: the state stays `start_root`

        [[nodiscard]] bool complete() const { return begun && parts.size() == units.size(); }
        [[nodiscard]] std::uint32_t unit() const { return units[parts.size()]; }
        /// Whether the next unit goes on from the one before.
        [[nodiscard]] bool goes_on() const {
            return !parts.empty() && units[parts.size() - 1] + 1 == units[parts.size()];
        }
    };
    /// One audit under way. Audits of several jobs stand side by side; the worker takes one unit at a time.
    struct Audit {
        struct Todo {
            contracts::AssignedSlot slot;
            AuditedSlot at;
        };
        bool begun = false;
        std::deque<Todo> todo;             ///< one that waits lets the others go first
        std::set<std::uint32_t> replayed;  ///< whose starts are not served, though their miners opened them
        SealedAudit found;                 ///< of slots, ascending; not sealed yet

        [[nodiscard]] bool complete() const { return begun && todo.empty(); }
        [[nodiscard]] const contracts::AssignedSlot& slot() const { return todo.front().slot; }
        [[nodiscard]] AuditedSlot& at() { return todo.front().at; }
        [[nodiscard]] const AuditedSlot& at() const { return todo.front().at; }
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
        base::Bytes slots;                       ///< whose updates are in it
        std::vector<std::uint32_t> clips;        ///< of each of them, where the job has a norm bound
        base::Hash256 root;                      ///< of it
        std::optional<std::uint32_t> loss_bits;  ///< of `base` over the drawn held-out text
        std::optional<contracts::MergeClaim> claim;
        bool compared = false;  ///< with the one that stands
        bool given_up = false;  ///< it cannot be done here: this round's merge is left out
    };

    void plan() override;
    bool forget_work_of(const std::string& device) override;
    /// Takes a note out of what is sealed next. It stays beside it: its seal may be on its way to the ledger,
    /// and whoever cannot open a seal pays for all of it.
    bool set_aside(const std::string& file);
    /// The note that the ledger's seal is of, whether it was set aside or not.
    template <class Record>
    std::optional<Record> kept_as_sealed(const std::string& file,
                                         const std::function<bool(const Record&)>& is_sealed);
    /// The note's names, set aside and not, are among those that stay.
    static void keep_note(std::set<std::string>& needed, const std::string& file);
    /// Of the request that is submitted next, one at a time: `take` gets its last answer, unless all was
    /// forgotten meanwhile that it belongs to (forget_work_of).
    RequestId on_answer(std::function<void(const WorkerAnswered&)> take);
    /// Whether the worker is at work for anything of ours.
    [[nodiscard]] bool is_busy() const { return computing_ || games_.computing() || challenger_.computing(); }
    /// Lets games and challenges have the worker; `first`: before the work of the rounds.
    void compute_games(bool first);
    void plan_bidding(const contracts::Job& job);
    /// What to lock for the job; nothing when the stake or the limit does not reach.
    std::optional<base::Amount> lock_for(const contracts::Job& job);
    /// Whether enlisting needs no trust in the buyer: all that the work needs is here already. Otherwise what
    /// is missing is fetched.
    bool checked_before_enlisting(const contracts::Job& job);
    /// Whether the store holds what the job can make it keep, beside what is pinned and other jobs may take
    /// (room_to_keep.hpp). Says so once for each job.
    bool can_keep(const contracts::Job& job);
    /// What follows when the worker did not do `what`: it is asked again later, or the piece of work is given
    /// up, which is silence. Silence in a merge costs this round's attendance, and in an audit what a lost
    /// accusation costs: a word that was not computed would cost the same, and keep a slot from its merge.
    /// Only a machine that is not sound ends the role.
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
    /// What is known of the next unit without computing it: behind a divergence, or in a run whose start
    /// cannot stand at its place.
    static bool follows_without_work(AuditedSlot& at, const program::JobSpec& spec);
    /// Begins the slot at hand again, from the round's base.
    void replay_slot(Audit& audit, const contracts::Job& job, const std::string& why);
    static void finish_slot(Audit& audit);
    /// The slot at hand is done: what was found goes where its slot belongs.
    static void note_found(Audit& audit, contracts::SlotClaim claim, ComputedSlot computed);
    /// Whether what is found has to be sealed now, to be in time.
    [[nodiscard]] bool must_seal(const contracts::Job& job, const contracts::AuditPosting& posting) const;
    /// Nothing is sealed of the slot at hand: it costs what silence costs, and the others of the seal
    /// nothing.
    void leave_out(Audit& audit, const contracts::Job& job, const std::string& why);
    void leave_out_rest(Audit& audit, const contracts::Job& job);
    /// The slot at hand waits.
    static void let_others_go_first(Audit& audit);
    /// Takes the audit on as far as nothing has to be computed or fetched.
    void advance(Audit& audit, const contracts::Job& job);
    /// Whether the state from which the next unit begins is here; otherwise it is being fetched, or the slot
    /// was begun again.
    bool has_start(const contracts::Job& job, contracts::Stage stage, Audit& audit);
    /// A state of a party that a unit starts from, or some arrays of one.
    struct StartFiles {
        BlobId blob;
        std::span<const program::StateArray> arrays;
        base::Hash256 root;
        std::vector<Endpoint> holders;
        base::PublicKey owed_by = {};
    };
    /// Of a run that begins with `unit`; nothing: it begins at the base with nothing carried.
    std::optional<StartFiles> start_of(const contracts::Job& job, std::uint32_t slot, std::uint32_t unit);
    /// The start of a disputed unit as its miner claims it, where it was served to us and is still here.
    StateFiles served_start(const contracts::Job& job, const dispute::UnitClaim& unit);
    std::optional<StateFiles> want(const StartFiles& files, const program::JobSpec& spec);
    std::vector<BlobId> known_files(const StartFiles& files, const program::JobSpec& spec);
    /// Whether bytes that the miner owes may be called not served: it was asked, and time was given. So many
    /// heights of the phase have gone by; after `longest` whoever still trickles has not served either.
    [[nodiscard]] bool waited_enough(const std::vector<BlobId>& blobs, const base::PublicKey& owed_by,
                                     std::uint64_t waited, std::uint64_t longest) const;
    /// The start has not the root that was opened: the miner's doing, unless our own disk changed it since.
    void on_unfit_start(const contracts::Job& job, Audit& audit, const std::string& why);
    [[nodiscard]] bool conducts(Misconduct conduct) const { return options_.conducts(conduct); }
    /// What a verifier of such a conduct says of a slot that it does not compute; nothing: it computes it.
    /// `heads`: every second of its slots.
    [[nodiscard]] std::optional<contracts::SlotClaim> said_without_work(const contracts::Job& job,
                                                                        const contracts::AssignedSlot& slot,
                                                                        bool heads) const;
    /// Whether a verifier of such a conduct leaves the slot at hand out of its seal on purpose.
    [[nodiscard]] bool leaves_out(const contracts::Job& job, const Audit& audit) const;
    [[nodiscard]] contracts::SlotClaim copied(const contracts::Job& job,
                                              const contracts::AssignedSlot& slot) const;
    [[nodiscard]] contracts::SlotClaim made_up(const contracts::Job& job,
                                               const contracts::AssignedSlot& slot) const;
    [[nodiscard]] std::optional<contracts::SlotClaim> told_by_accomplice(
        const contracts::Job& job, const contracts::AssignedSlot& slot) const;
    [[nodiscard]] contracts::CarriedIn carried_in(const contracts::Job& job, std::uint32_t slot) const;
    void ask_for_starts(const contracts::Job& job, const Audit& audit);
    /// Once the traces are open: says where those differ that are not what was computed here.
    void tell_findings(const contracts::Job& job);
    void tell_findings_of(const contracts::Job& job, const contracts::SlotClaim& claim,
                          const ComputedSlot& computed);
    void open_audit(const contracts::Job& job, contracts::Stage stage);
    void record_finding(const Finding& finding);
    void forget_old_rounds(const contracts::Job& job);
    void forget_ended_jobs();

    void plan_merge(const contracts::Job& job, const contracts::Round& round);
    /// Merges that stand, of the same slots as ours, and are others.
    void doubt_merges();
    void merge_next(const contracts::Job& job, const SharedDescriptor& base);
    /// Once everything is sealed and opened: what was computed here is served to those who merge or go on
    /// from it. Before, whoever asks for it would learn what this verifier is about to say.
    void serve_recomputed(const contracts::Job& job, const contracts::Round& round);

    /// What slots have submitted, held here for the round: checked, and said on the ledger in a bitmap.
    struct StoreWork {
        std::set<std::uint32_t> ends;        ///< slots whose handed-on state is here, root checked
        std::set<std::uint32_t> false_ends;  ///< whose named blob is not what they hand on
        std::optional<base::Bytes> bits;     ///< as posted
        bool given_up = false;               ///< it cannot be checked here
    };
    void plan_storage(const contracts::Job& job, const contracts::Round& round);
    /// Where a slot's bytes stand.
    enum class Holding : std::uint8_t { kHeld, kAwaited, kNotServed };
    Holding hold(const contracts::Job& job, std::uint32_t slot);
    Holding hold_update(const contracts::Job& job, const contracts::SlotRound& slot,
                        const contracts::Reveal& reveal);
    /// Who of those who store the slot this one is; nothing when it stores it alone, or when who owes the
    /// bytes is to be asked for all of them.
    [[nodiscard]] std::optional<BlobShare> share_of(const contracts::Job& job,
                                                    const contracts::SlotRound& slot) const;
    /// Whether the slot's bytes may be called not served before the bitmap is due.
    [[nodiscard]] bool not_served(const contracts::Job& job, const std::vector<BlobId>& blobs,
                                  const base::PublicKey& miner) const;
    /// Others, another one first each time, then the miner.
    [[nodiscard]] std::vector<Endpoint> store_holders(const contracts::Job& job,
                                                      const contracts::SlotRound& slot,
                                                      const BlobId& blob) const;
    Holding hold_end(const contracts::Job& job, const contracts::SlotRound& slot,
                     const contracts::Reveal& reveal);
    void check_end(const contracts::Job& job, std::uint32_t slot, const base::Hash256& root,
                   const StateFiles& files);
    /// Starts what brings the slot's update here; true when something had to be started or waited for.
    bool missing_update(const contracts::Job& job, std::uint32_t slot, const SharedDescriptor& base);
    /// Whether an update that is not here is trained again: nobody gave it, or a quarter of the window is
    /// over.
    [[nodiscard]] bool trains_again(const contracts::Job& job, const BlobId& update,
                                    const base::PublicKey& miner) const;
    void check_update(const MergeKey& key, std::uint32_t slot, const base::Hash256& root,
                      const SharedDescriptor& file);
    /// Roots of the update that training a slot again must give, and of what the slot goes on with.
    struct Retraining {
        base::Hash256 update;
        base::Hash256 carried_in;
    };
    void train_again(const MergeKey& key, std::uint32_t slot, const Retraining& roots,
                     std::vector<SharedDescriptor> start);
    /// Over the held-out sequences that the round's beacon draws.
    void evaluate(const contracts::Job& job, const base::Hash256& beacon, const SharedDescriptor& merged);
    /// Stores the merged state and claims it; nothing while the store does not take it.
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
    std::map<AuditKey, Audit> audits_;
    std::map<MergeKey, MergeWork> merges_;
    /// Blobs of running rounds that the ledger does not name yet.
    void keep_own(std::set<BlobId>& needed);
    /// Removes the seals' notes of every round that no job of the state is in, whichever process wrote them.
    void forget_notes();

    struct Recomputed {
        StateFiles files;              ///< of a state, or the update's one
        base::Hash256 root;            ///< of the update, or of the state
        std::optional<BlobId> served;  ///< as this blob, once it is in the store
    };
    /// What was computed in audits: job, round, slot.
    using RecomputedFiles = std::map<std::tuple<base::Hash256, std::uint32_t, std::uint32_t>, Recomputed>;
    RecomputedFiles own_updates_;
    /// The states at the last boundary, in jobs that carry; the files are let go once they are served.
    RecomputedFiles own_ends_;
    std::map<MergeKey, StoreWork> stores_;
    std::uint64_t admitted_at_ = 0;       ///< height at which holders' calls were last admitted
    std::set<AuditKey> told_;             ///< audits whose findings were told
    std::set<base::Hash256> left_alone_;  ///< jobs that ask for more than we lock, said once each
    std::set<base::Hash256> no_room_;     ///< jobs for which the store is too small, the same
    bool computing_ = false;              ///< a request of ours is at work in the worker
    std::uint64_t forgotten_ = 0;         ///< how often forget_work_of was called
};

/// The note that holds sealed words of a stage.
std::string audit_file(const base::Hash256& job, std::uint32_t round, contracts::Stage stage);

/// The note that holds a sealed merge.
std::string merge_file(const base::Hash256& job, std::uint32_t round);

}  // namespace assay::node
