// SPDX-License-Identifier: Apache-2.0
// Gives a process MinerRole, which asks a price for jobs, trains the slots that it is dealt, commits, serves
// the starts of drawn runs, reveals, and serves its updates.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/roles/following_role.hpp"
#include "node/roles/game_player.hpp"
#include "node/roles/job_bench.hpp"
#include "node/roles/lot_trader.hpp"
#include "node/roles/miner_power.hpp"
#include "node/roles/misconduct.hpp"
#include "node/roles/order_watch.hpp"
#include "node/roles/quarreller.hpp"
#include "node/roles/seal_notes.hpp"
#include "node/roles/working_hours.hpp"

namespace assay::node {

/// A fault that a devnet miner plants on purpose; in every round if no round is given.
struct PlannedDrill {
    std::optional<std::uint32_t> round;
    worker::Drill drill;
};

struct MinerOptions {
    base::Amount ask;  ///< the least it works for, base units per work unit
    std::vector<PlannedDrill> drills;
    Misconducts conducts;  ///< drills of the role; none of an honest one
    /// The most that a job may lock for one slot, and for all slots that it could deal to this miner in a
    /// round. A job that could lock more gets no ask, because a miner that is silent, or loses a
    /// game, loses its bonds.
    base::Amount lock_slot = base::units(20 * base::kUnitsPerToken);
    base::Amount lock_job = base::units(60 * base::kUnitsPerToken);
    WorkingHours hours = {};                         ///< in which it takes on work
    std::optional<PowerTerms> power = std::nullopt;  ///< nothing: as an earlier process noted it
    /// If set, it offers its machine in the market between jobs and asks in no job's own auction. Its price
    /// is `ask`, or what its owner orders meanwhile (price_order.hpp). Nothing: it asks in the jobs' auctions
    /// and offers no lot.
    std::optional<LotTerms> trade = std::nullopt;
};

/// What a miner keeps of one slot's round. It is on disk before the miner sends anything about it to the
/// ledger.
struct SlotWork {
    base::Hash256 job;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    program::TraceRecord trace;  ///< so far, or complete
    std::vector<BlobId> boundary_blobs;
    BlobId update_blob;              ///< zero until complete, and when diverged
    base::Hash256 salt;              ///< of the slot's seal and of every leaf of its trace
    program::FirstStateParts start;  ///< of its first state, once complete
    bool complete = false;
    std::vector<std::string> devices;  ///< the devices that trained any of it, each once

    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.slot, self.trace, self.boundary_blobs, self.update_blob, self.salt,
              self.start, self.complete, self.devices);
    }
};

/// Decodes a SlotWork from its note; nothing when the bytes are none.
std::optional<SlotWork> slot_work_of(base::ByteView note);

/// The update that a slot's reveal named. Kept on disk because the ledger's state forgets it with the round.
struct NamedUpdate {
    std::uint32_t slot = 0;
    base::Hash256 root;
    BlobId blob;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.slot, self.root, self.blob);
    }
};
struct NamedUpdates {
    std::vector<NamedUpdate> updates;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.updates);
    }
};

/// Name of the note that keeps a SlotWork.
std::string slot_note(const base::Hash256& job, std::uint32_t round, std::uint32_t slot);

class MinerRole final : public FollowingRole {
public:
    MinerRole(const RoleParts& parts, MinerOptions options);

private:
    using SlotKey = std::tuple<base::Hash256, std::uint32_t, std::uint32_t>;

    void plan() override;
    bool forget_work_of(const std::string& device) override;
    /// Reads what its owner wants, at each block and by the clock.
    void look_at_order();
    /// Whether it may ask for jobs and places: its owner allows it, and the time is within the working hours.
    bool takes_on_work();
    /// The same for this job: a slot also ends within these hours, if its time is known.
    bool takes_on(const contracts::Job& job);
    /// The pace that it measured, as this or an earlier process noted it.
    MinerPace& pace_note();
    void keep_pace();
    /// Notes ask and cost of power once, where the commands of the home find them.
    void note_terms();
    /// Notes that the whole slot was trained here in `ns`.
    void measure_slot(const SlotWork& work, std::uint64_t ns);
    /// Logs, once for each job, what an hour of its work brings at the price and what its power costs.
    void say_what_it_brings(const contracts::Job& job, base::Amount price);
    /// The work that still needs this process; empty: none.
    std::string still_needed_for();
    /// Ends the role if it drains and no work needs it.
    void end_if_drained();
    /// What it does in the market between jobs, and for the job that leases it.
    void plan_trade();
    /// The terms on offer now. Nothing when it offers no lot: it does not trade, its owner allows no work
    /// that lasts as long as a lot, or a job with its own auction counts on it.
    std::optional<LotTerms> lot_on_offer();
    /// Whether the free stake covers a sealed lot's deposit; logs it once when it does not.
    bool covers_lot_deposit();
    void seal_lot(const LotTerms& terms);
    void open_lot();
    [[nodiscard]] base::Hash256 seal_of(const SealedLot& lot) const;
    /// Fetches the data of the job that leases this machine, and opens the job if the worker is free.
    void prepare_leased();
    /// Whether a slot of its own, of any job, waits for the worker.
    [[nodiscard]] bool has_slot_to_train() const;
    void plan_bidding(const contracts::Job& job);
    /// The price that it seals: its ask, or with Misconduct::kSnipingBidder another.
    [[nodiscard]] base::Amount sealed_price() const;
    /// Whether it opens its sealed ask at this height. An honest miner always does.
    [[nodiscard]] bool opens_ask(const contracts::Job& job) const;
    /// Whether what the job could lock is within the limits; says so once, in the log.
    bool locks_within_limits(const contracts::Job& job);
    /// Whether the free stake covers a slot of this job in addition to what other jobs may lock in which it
    /// has asked or has a place. An ask without that stake wins nothing and risks its deposit. Logs it once
    /// for each job.
    bool can_hold(const contracts::Job& job);
    /// Whether the store has room for what the job can make it keep, in addition to what is pinned and other
    /// jobs may take (room_to_keep.hpp). Logs it once for each job.
    bool can_keep(const contracts::Job& job);
    /// The most bytes that the job can make it keep. Its stake limits them, since every open claim locks a
    /// bond.
    [[nodiscard]] std::uint64_t most_kept(const contracts::Job& job) const;
    /// Whether an ask needs no trust in the buyer. If it does, starts what is missing.
    bool checked_before_asking(const contracts::Job& job);
    void plan_round(const contracts::Job& job);
    /// Takes an open place of the job, once everything is here that its next round needs.
    void plan_join(const contracts::Job& job);
    /// Whether it has a place in another job that is not over, or asked for one.
    bool has_place_beside(const base::Hash256& id);
    void plan_slot(const contracts::Job& job, const contracts::Round& round,
                   const contracts::SlotRound& slot);

    /// What a slot is trained from: the base state, and the state that it goes on with, if any.
    struct SlotStart {
        SharedDescriptor base;
        base::Hash256 carried_root;
        std::optional<StateFiles> carried;
    };
    /// The state that a slot goes on with, once it is here. Fetched from the verifiers that recomputed it or
    /// the miner that handed it on.
    std::optional<StateFiles> carried_files(const contracts::CarriedIn& carried, const contracts::Job& job,
                                            std::uint32_t slot);
    /// A slot at work in the worker.
    struct Training {
        RequestId request = 0;
        std::uint64_t began_ns = 0;
        std::size_t from = 0;                     ///< boundaries that existed when it began
        std::optional<std::uint64_t> segment_ns;  ///< time of one segment on its device
        bool gives_way = false;                   ///< it was cancelled for a game
    };
    /// Ends the training of one slot, or of all where a game's job has to be opened for it. Slots go on from
    /// their last boundary.
    void give_way(const base::Hash256& job, const std::string& why);
    void train(const contracts::Job& job, const contracts::SlotRound& slot, const SlotStart& start);
    /// Number of the role's own requests in the worker.
    [[nodiscard]] std::size_t requests_at_work() const { return training_.size() + (making_base_ ? 1 : 0); }
    /// Whether a device of the worker is free of the role's own requests.
    [[nodiscard]] bool has_free_device() const;
    /// Whether a slot of this job can begin next to what is at work.
    [[nodiscard]] bool may_begin(const contracts::Job& job) const;
    /// Its slots of the running round, those nearest to their end first.
    std::vector<contracts::SlotRound> own_slots(const contracts::Job& job);
    /// Measures the time of a slot's segments, after one of them.
    void measure(const SlotWork& work);
    void note_pace();
    /// The least time of a block, by this round's pace. A network may make blocks more slowly than its ledger
    /// allows, and giving up a slot too soon costs more than training one in vain.
    [[nodiscard]] std::uint64_t block_ns() const;
    /// Nanoseconds until the earliest end of the round's phase, at the quickest pace of blocks since the
    /// devices began to work, but never quicker than the ledger allows. Nothing when heights tell no time.
    [[nodiscard]] std::optional<std::uint64_t> time_left(const contracts::Round& round) const;
    [[nodiscard]] std::uint64_t segments_left(const contracts::Job& job, const SlotWork& work) const;
    /// Whether the slot can be done before the round's commits end, at the time of this round's quickest
    /// segment; logs it once when it cannot.
    bool in_time(const contracts::Job& job, const contracts::Round& round, const SlotWork& work);
    /// Takes a slot that will be late from its device if a quicker device is free, once for each slot.
    void move_late_slots(const contracts::Job& job, const contracts::Round& round);
    /// Whether the base state of the running round is being made here, or its updates are being fetched. This
    /// is done when the previous base state and the names of the updates are here, until one of the updates
    /// is not served.
    bool makes_base(const contracts::Job& job);
    bool make_base(const contracts::Job& job);
    /// Notes the names of the round's updates, for the merge of the accepted ones.
    void note_updates(const contracts::Job& job, const contracts::Round& round);
    /// The names that this or an earlier process noted; null: none.
    const NamedUpdates* updates_of(const base::Hash256& job, std::uint32_t round);
    /// Reads the notes of earlier processes, once. Removes those of rounds that are over.
    void take_over_notes();
    void forget_updates(const std::function<bool(const base::Hash256& job, std::uint32_t round)>& is_over);
    /// The request for a merge, and the blobs of its updates in the same order.
    struct OwnMerge {
        worker::Merge request;
        std::vector<BlobId> updates;
    };
    /// Nothing when the updates' names are not here, or one of the updates was not served.
    std::optional<OwnMerge> own_merge(const contracts::Job& job, const contracts::Round& before);
    [[nodiscard]] bool may_make_base(const contracts::Job& job) const;
    void on_base_made(const base::Hash256& id, std::uint32_t round, const WorkerAnswered& answer);
    void on_train_frame(const SlotKey& key, const WorkerAnswered& answer);
    void on_boundary(SlotWork& work, const WorkerAnswered& answer);
    /// `whole`: the slot was trained in one piece.
    void on_trained(SlotWork& work, const WorkerAnswered& answer, bool whole);
    /// Stops training for a while, because the store did not take what was trained.
    void stop_training(const SlotWork& work);
    /// Whether the store has every state that the miner may have to serve.
    [[nodiscard]] bool can_be_served(const SlotWork& work);
    /// Gives the slot up. False when the disk does not take the note of it.
    bool lose(SlotWork& work, const std::string& why);
    /// The same for a slot whose worker refused the boundary that it should go on from. Drops the files of
    /// its last boundary that have changed on the disk.
    void lose_boundaries(SlotWork& work, const std::string& why);
    /// Whether the trace begins with the round's base. The ledger would refuse to open any other trace, so
    /// the miner must not commit it: the slot is trained again once, and then given up.
    bool begins_rightly(const contracts::Job& job, SlotWork& work);
    void commit(const contracts::Job& job, const contracts::SlotRound& slot, const SlotWork& work);
    /// Opens the starts of the drawn runs, and lets peers have those states. Peers get nothing else of the
    /// slot before everything about it is sealed and opened.
    void serve(const contracts::Job& job, const contracts::SlotRound& slot, const SlotWork& work);
    /// Lets peers have these arrays of the state at a boundary, and its head. False when the disk refuses.
    bool serve_state(const contracts::Job& job, const BlobId& head,
                     std::span<const program::StateArray> arrays);
    void reveal(const contracts::Job& job, const SlotWork& work);
    /// Lets peers have what the merge needs, and what the slot hands on.
    bool serve_result(const contracts::Job& job, const SlotWork& work);

    SlotWork& work_of(const SlotKey& key);
    /// Keeps complete work, whose commit may be on its way, beside the slot's own note. False: a note failed.
    bool set_aside(const SlotWork& work);
    /// What is set aside of the slot.
    std::vector<SlotWork>& doubted_of(const SlotKey& key);
    void forget_doubted(const SlotKey& key);
    /// The work that the slot's commit seals: the slot's own, or one that is set aside, which is then its
    /// own.
    const SlotWork& sealed_work(const contracts::Job& job, const contracts::SlotRound& slot);
    [[nodiscard]] contracts::CommitStatement statement_of(const contracts::Job& job, const SlotWork& work);
    bool store(const SlotWork& work);
    /// Blobs of the running rounds' own slots, whether revealed or not.
    void keep_own(std::set<BlobId>& needed);
    /// Whether a request of its own is at work in the worker.
    [[nodiscard]] bool is_working() const { return requests_at_work() > 0; }
    /// The faults that it plants in a round.
    [[nodiscard]] std::vector<worker::Drill> drills_of(std::uint32_t round) const;
    [[nodiscard]] bool conducts(Misconduct conduct) const { return options_.conducts(conduct); }
    void forget_ended_jobs();
    void forget_old_rounds(const contracts::Job& job);

    MinerOptions options_;
    JobBench bench_;
    GamePlayer games_;
    Quarreller quarreller_;
    std::map<SlotKey, SlotWork> works_;
    std::map<SlotKey, std::vector<SlotWork>> doubted_;
    std::map<SlotKey, Training> training_;
    std::map<std::pair<base::Hash256, std::uint32_t>, std::uint64_t>
        segment_ns_;  ///< the least, by job and round
    /// The last height, and the quickest that blocks have come since the devices began to work.
    struct Pace {
        std::uint64_t height = 0;
        std::uint64_t ns = 0;  ///< when that height was seen
        std::uint64_t gaps = 0;
        std::uint64_t quickest_ns = UINT64_MAX;  ///< of them
    };
    Pace pace_;
    std::set<SlotKey> late_;  ///< the log has said so
    std::set<SlotKey> moved_;
    std::optional<RequestId> making_base_;                                     ///< at work in the worker
    std::map<std::pair<base::Hash256, std::uint32_t>, NamedUpdates> updates_;  ///< by job and round
    std::set<std::pair<base::Hash256, std::uint32_t>> base_not_made_;  ///< job, round: fetched instead
    bool notes_taken_over_ = false;
    std::uint64_t lent_at_ = 0;  ///< height at which calls were last lent
    OrderWatch orders_;
    bool in_hours_ = true;
    std::optional<MinerPace> own_pace_;
    bool terms_noted_ = false;
    std::set<base::Hash256> too_long_;  ///< jobs whose slots do not end within the hours; the log has said so
    std::set<base::Hash256> priced_;    ///< jobs of which the log has said what they bring
    std::optional<base::Amount> ask_order_;  ///< what its owner asks for lots in place of the flag
    bool ask_unread_ = false;                ///< it cannot be read, and the log has said so
    std::set<SlotKey> failed_;               ///< given up
    std::set<SlotKey> begun_again_;          ///< they were trained from something else than the round's base
    std::set<base::Hash256> weighed_;        ///< jobs whose locks the log has named
    std::set<base::Hash256> short_of_;       ///< jobs for which stake was missing, and the log has said so
    std::set<base::Hash256> no_room_;        ///< jobs for which the store was too small, the same
    std::optional<base::Hash256> joining_;   ///< the job that it asked for a place last
    std::set<base::Hash256> leased_for_;     ///< jobs that lease it; the log has said so
    bool deposit_short_ = false;             ///< stake is missing for a lot, and the log has said so
    bool seal_lost_ = false;                 ///< a sealed lot cannot be opened, the same
};

}  // namespace assay::node
