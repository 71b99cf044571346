// SPDX-License-Identifier: Apache-2.0
// Gives roles JobBench, which prepares everything that a worker needs to compute for a round: the job's data,
// the job open in the worker, and the base state that the round starts from.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/roles/open_rounds.hpp"
#include "node/roles/requests.hpp"
#include "node/roles/state_blobs.hpp"
#include "node/roles/worker_refusals.hpp"
#include "node/seams/blob_files.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// Terms of a job's files, each of the size that the spec's model gives: the base state of a round, and the
/// update of a slot.
FetchTerms base_state_terms(const program::JobSpec& spec, Pin pin = Pin::kPinned);
FetchTerms update_terms(const program::JobSpec& spec);

/// Fetches blobs that are wanted, once for each party that owes them. When nobody served a blob, tries again
/// after a pause: a second for work; for bidding twice as long each time, up to a minute. Attempts are
/// counted by blob and by the party that owes it, because a reveal can name any blob, also another party's.
class BlobWants {
public:
    BlobWants(const Seams& seams, BlobFiles& files, Requests& requests)
        : seams_(seams), files_(files), requests_(requests) {}

    /// Whether the blob is here, pinned if `terms` say so. If not, starts to fetch it on these terms.
    bool here(const BlobId& id, const std::vector<Endpoint>& holders, const FetchTerms& terms = {});
    /// The blob's file when it is here; otherwise as here().
    std::optional<SharedDescriptor> want(const BlobId& id, const std::vector<Endpoint>& holders,
                                         const FetchTerms& terms = {});
    /// As want(), for a slot's state: its head first, then the wanted arrays. A blob that is no head of such
    /// a state comes alone.
    std::optional<StateFiles> want_state(const BlobId& head, const std::vector<Endpoint>& holders,
                                         const StateTerms& terms);
    /// The blobs of a state that are known to be wanted: its head and, once that is here, arrays.
    std::vector<BlobId> known_files(const BlobId& head, const StateTerms& terms);
    /// The file of a blob that is here; nothing, and an error in the log, when it cannot be opened.
    std::optional<SharedDescriptor> open(const BlobId& id);
    /// Attempts to fetch this blob for work from the party that owes it.
    struct Tries {
        /// Attempts since the party that owes it last gave chunks: no holder gave it, none was busy, and the
        /// fault was not ours.
        std::uint32_t unserved = 0;
        std::uint32_t busy = 0;    ///< since then: a holder was busy
        std::uint32_t failed = 0;  ///< for any cause
        /// While the blob is awaited: for how long the party that owes it has been asked for it, or for
        /// another of its blobs before it.
        std::optional<std::uint64_t> asked_ns;
    };
    [[nodiscard]] Tries tries(const BlobId& id, const base::PublicKey& owed_by = {}) const;
    /// Stores a file that we made, pinned. Returns nothing when the store does not take it: this is logged
    /// once, and the same `what` is not tried again for a second.
    std::optional<BlobId> put(const SharedDescriptor& file, const std::string& what,
                              Serving serving = Serving::kServed);
    /// The same for all files of a state, its head last. Returns the head's blob.
    std::optional<BlobId> put_state(const StateFiles& files, const std::string& what,
                                    Serving serving = Serving::kServed);
    /// Pins the blob, which is here. False, with the error in the log, when the disk refuses.
    bool keep(const BlobId& id);
    /// Drops every blob that was fetched only for bidding and is not among these, and what unfinished
    /// attempts at such blobs left. Forgets attempts for work that were not asked for in the last ten
    /// minutes.
    void drop_all_but(const std::set<BlobId>& needed);
    /// Number of attempts and failed puts that are remembered.
    [[nodiscard]] std::size_t remembered() const { return attempts_.size() + puts_.size(); }

private:
    struct Attempt {
        bool under_way = false;
        std::uint32_t unserved = 0;
        std::uint32_t busy = 0;
        std::uint32_t failed = 0;
        bool forgiven = false;                     ///< what had failed before chunks came was forgotten
        std::optional<std::uint64_t> asked_at_ns;  ///< of the one under way
        std::uint64_t pause_ns = 0;                ///< before the next one
        std::uint64_t not_before_ns = 0;
        std::uint64_t wanted_ns = 0;  ///< when it was last asked for here
        std::string said;             ///< the last failure in the log
    };
    void forget_bidding(const BlobId& id);
    void log_once(Attempt& attempt, const std::string& text);
    Seams seams_;
    BlobFiles& files_;
    Requests& requests_;
    /// A blob for bidding and the same blob for work are asked of different holders and do not wait for each
    /// other. Neither do attempts at one blob that two parties owe.
    using AttemptKey = std::tuple<BlobId, Pin, base::PublicKey>;
    void on_fetched(const AttemptKey& key, const BlobFetched& fetched);
    static void on_arriving(Attempt& attempt);
    std::map<AttemptKey, Attempt> attempts_;
    std::map<std::string, Attempt> puts_;  ///< that the store did not take, by what they are
};

/// Whether the worker is free for a job that has not been won yet.
enum class Worker : std::uint8_t { kFree, kAtWork };

class JobBench {
public:
    JobBench(const Seams& seams, BlobFiles& files, Requests& requests, std::string chain_id)
        : seams_(seams),
          files_(files),
          requests_(requests),
          wants_(seams, files, requests),
          open_(files),
          chain_id_(std::move(chain_id)) {}

    /// Returns the base state of the job's running round when the worker is ready to compute from it;
    /// otherwise starts whatever is missing. Pins the job's blobs. REQUIRES that the worker is at work on no
    /// request of the caller, or only on requests of this job, which is open then.
    std::optional<SharedDescriptor> ready(const contracts::StateView& state, const contracts::Job& job);

    /// As ready(), for a job that may go to others: nothing is pinned.
    std::optional<SharedDescriptor> prepared(const contracts::StateView& state, const contracts::Job& job);

    /// As ready(), for the base state of an earlier round of the job, which the round's record names
    /// (Round::base_blob). With Pin::kEvictable nothing is pinned.
    std::optional<SharedDescriptor> earlier_base(const contracts::StateView& state, const contracts::Job& job,
                                                 const BlobId& named, Pin pin = Pin::kPinned);

    /// Whether the job's data is here, and the base state of its round unless that is computed from the seed.
    /// Whatever is missing is being fetched. Refuses a blob described with another size than the spec gives.
    /// Asks nothing of the worker.
    bool gather(const contracts::StateView& state, const contracts::Job& job, Pin pin = Pin::kPinned) {
        return gather_earlier(state, job, job.base_blob, pin);
    }
    /// The same for the base state of an earlier round, which the round's record names: all that
    /// earlier_base() needs but the worker.
    bool gather_earlier(const contracts::StateView& state, const contracts::Job& job, const BlobId& named,
                        Pin pin = Pin::kPinned);

    /// Before bidding: whether the job's first state is what its spec says. True at once for a job that
    /// starts from its seed. For a job that starts from a file, the data and the file are fetched, the job is
    /// opened in the worker, and the file is checked against the root that the spec names. False until that
    /// is done, and for ever when it fails. Fetching goes on while the worker is at work. Nothing is pinned
    /// for a job that may go to others, so the blobs may be dropped again.
    bool vouched(const contracts::StateView& state, const contracts::Job& job, Worker worker);

    /// Before bidding: whether the worker can open the job. It refuses when its memory is too small; the log
    /// then names what is needed and what there is. False until that is known, and for ever when the job does
    /// not fit. True while the worker is at work, when it cannot be asked.
    bool fits(const contracts::StateView& state, const contracts::Job& job, Worker worker);

    /// Whether the worker has this job open, as far as is known, so that it computes for this job. If not,
    /// starts whatever is missing for that, except the base state. REQUIRES that the worker is at work on no
    /// request of the caller, or only on requests of this job, which is open then.
    bool opened(const contracts::StateView& state, const contracts::Job& job, Pin pin = Pin::kPinned);
    /// Whether the worker has the job open, as far as is known. Starts nothing.
    [[nodiscard]] bool has_open(const base::Hash256& job) const { return open_job_ == job; }
    /// Whether the worker opens a job or makes a first state, so that it cannot be asked for another job.
    [[nodiscard]] bool is_opening() const { return asking_; }
    /// Whether the job is computed no more: its data, its first state or this machine does not fit it.
    [[nodiscard]] bool refuses(const base::Hash256& job) const { return refused_.contains(job); }

    /// Blob id of the base state file of the running round, once ready() gave it.
    [[nodiscard]] std::optional<BlobId> base_blob(const contracts::Job& job) const;

    /// Drops the base state that a round record names if the disk does not hold it any more as it was stored.
    /// Returns whether it did; ready() and earlier_base() then fetch it, or make it, again.
    bool drop_changed_base(const contracts::Job& job, const BlobId& named);

    /// The blob under which the base state that a round record names is stored here: the named one, or for
    /// round 0 the one that was made or checked here.
    [[nodiscard]] std::optional<BlobId> stored_base(const contracts::Job& job, const BlobId& named) const;

    /// What to do about a request for the job that the worker refused. With kAgain, ready() and vouched()
    /// give nothing for a pause, and then open the job again if the worker has lost it.
    Remedy after_refusal(const base::Hash256& job, const worker::Refusal& refusal);
    /// Asks the worker nothing for this job for ten seconds, because a result could not be stored.
    void rest(const base::Hash256& job);

    /// Adds the role's own blobs that it still needs.
    using Keep = std::function<void(std::set<BlobId>& needed)>;

    /// Once a height: drops the blobs that were fetched for bidding and that no job needs any more, because
    /// the job has ended or was refused, or its rounds run without `me`. At the start, and whenever a round
    /// was settled or its last claim closed: pins what the jobs of `me` and `keep` need, and nothing else.
    /// The rest is served until its room is needed. A job needs the blobs of its running round, and those of
    /// earlier rounds with open claims, which a replay or a dispute may need (open_rounds.hpp). `borrowed`
    /// adds blobs that are neither pinned nor dropped.
    void tidy(const contracts::StateView& state, std::uint64_t height, const base::PublicKey& me,
              const Keep& keep = {}, const Keep& borrowed = {});

    /// Adds what rounds with open claims need, base states included.
    void keep_open_rounds(const contracts::StateView& state, const base::PublicKey& me,
                          std::set<BlobId>& needed);

    BlobWants& wants() { return wants_; }
    [[nodiscard]] const BlobWants& wants() const { return wants_; }

private:
    /// Whether both token files are here; a missing one is being fetched.
    bool gather_data(const contracts::StateView& state, const contracts::Job& job, Pin pin);
    /// Whether the worker may be asked something for this job now.
    [[nodiscard]] bool may_ask(const base::Hash256& job) const;
    /// The base state `named`, when the worker has the job open.
    std::optional<SharedDescriptor> base_in_open_job(const contracts::StateView& state,
                                                     const contracts::Job& job, const BlobId& named, Pin pin);
    void open_in_worker(const contracts::Job& job);
    void on_opened(const contracts::Job& job, const WorkerAnswered& answer);
    void ask_initial(const contracts::Job& job, Pin pin);
    void on_initial(const contracts::Job& job, Pin pin, const WorkerAnswered& answer);
    void on_refusal(const contracts::Job& job, const std::string& what, const worker::Refusal& refusal);
    void refuse(const base::Hash256& job, const std::string& why);
    /// The jobs that `me` works for, or has a claim in, each with the rounds whose blobs it keeps: those with
    /// open claims, and the running one if it works for the job.
    using Rounds = OpenRounds::Rounds;
    void pin_needed(const contracts::StateView& state, const base::PublicKey& me, const Rounds& rounds,
                    const Keep& keep);
    void add_running(const contracts::StateView& state, const contracts::Job& job, std::set<BlobId>& needed);
    void add_open(const contracts::StateView& state, const contracts::Job& job, std::uint32_t round,
                  const base::PublicKey& me, std::set<BlobId>& needed);

    Seams seams_;
    BlobFiles& files_;
    Requests& requests_;
    BlobWants wants_;
    OpenRounds open_;
    std::string chain_id_;
    std::optional<base::Hash256> open_job_;          ///< in the worker, as far as is known
    bool asking_ = false;                            ///< an OpenJob or Initial request is under way
    std::map<base::Hash256, BlobId> initial_blobs_;  ///< job -> base state of round 0, checked
    std::set<base::Hash256> fitting_;                ///< jobs that the worker has opened
    std::set<base::Hash256> refused_;  ///< jobs whose data or initial root are not what they say
    std::map<base::Hash256, std::uint64_t> not_before_ns_;  ///< job -> when the worker is asked again
    std::uint64_t tidied_at_ = 0;                           ///< height
    std::optional<Rounds> tidied_for_;                      ///< what was kept then
};

}  // namespace assay::node
