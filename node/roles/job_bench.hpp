// SPDX-License-Identifier: Apache-2.0
// Gives roles JobBench, everything that they need before a worker can compute for a round: the job's data,
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

/// The terms of a job's files, each as long as the spec's model makes it: what a round starts from, what a
/// slot submits.
FetchTerms base_state_terms(const program::JobSpec& spec, Pin pin = Pin::kPinned);
FetchTerms update_terms(const program::JobSpec& spec);

/// Blobs that are wanted, fetched once from each party that owes them, tried again after a pause when nobody
/// served them: a second for work, and for bidding twice as long each time, up to a minute. Attempts are
/// counted by blob and by who owes it: a reveal can name any blob, another party's too.
class BlobWants {
public:
    BlobWants(const Seams& seams, BlobFiles& files, Requests& requests)
        : seams_(seams), files_(files), requests_(requests) {}

    /// Whether the blob is here, and stays where `terms` pin it; otherwise sees to it that it is being
    /// fetched on these terms.
    bool here(const BlobId& id, const std::vector<Endpoint>& holders, const FetchTerms& terms = {});
    /// The blob's file when it is here; otherwise as here().
    std::optional<SharedDescriptor> want(const BlobId& id, const std::vector<Endpoint>& holders,
                                         const FetchTerms& terms = {});
    /// As want(), of a slot's state: its head first, then the wanted arrays. A head that is none of such a
    /// state comes alone.
    std::optional<StateFiles> want_state(const BlobId& head, const std::vector<Endpoint>& holders,
                                         const StateTerms& terms);
    /// The blobs of a state that are known to be wanted: its head and, once that is here, arrays.
    std::vector<BlobId> known_files(const BlobId& head, const StateTerms& terms);
    /// The file of a blob that is here; nothing, and an error in the log, when it cannot be opened.
    std::optional<SharedDescriptor> open(const BlobId& id);
    /// Attempts to have this blob, and keep it, of who owes it.
    struct Tries {
        std::uint32_t unserved = 0;  ///< in which no holder gave it, neither busy nor for a fault of our own
        std::uint32_t busy = 0;      ///< in which a holder had no room for us
        std::uint32_t failed = 0;    ///< whoever's fault it was
        /// While it is awaited: for how long who owes it has been asked for it, or for another of its blobs
        /// that came first.
        std::optional<std::uint64_t> asked_ns;
    };
    [[nodiscard]] Tries tries(const BlobId& id, const base::PublicKey& owed_by = {}) const;
    /// Stores a file of our own making, pinned. Nothing when the store does not take it: the log says so
    /// once, and the same `what` is not tried again for a second.
    std::optional<BlobId> put(const SharedDescriptor& file, const std::string& what,
                              Serving serving = Serving::kServed);
    /// The same for all files of a state, its head last; gives the head's blob.
    std::optional<BlobId> put_state(const StateFiles& files, const std::string& what,
                                    Serving serving = Serving::kServed);
    /// The blob, which is here, stays from now on; false, and the error in the log, when the disk refuses.
    bool keep(const BlobId& id);
    /// Drops every blob that was fetched for bidding alone and is not among these, and what unfinished
    /// attempts at such left. Forgets the attempts of work that has not asked for ten minutes.
    void drop_all_but(const std::set<BlobId>& needed);
    /// Attempts and failed puts that are remembered.
    [[nodiscard]] std::size_t remembered() const { return attempts_.size() + puts_.size(); }

private:
    struct Attempt {
        bool under_way = false;
        std::uint32_t unserved = 0;
        std::uint32_t busy = 0;
        std::uint32_t failed = 0;
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
    /// A blob for bidding and the same one for work are asked of different holders, and do not wait for each
    /// other; nor do those of two who owe it.
    using AttemptKey = std::tuple<BlobId, Pin, base::PublicKey>;
    void on_fetched(const AttemptKey& key, const BlobFetched& fetched);
    std::map<AttemptKey, Attempt> attempts_;
    std::map<std::string, Attempt> puts_;  ///< that the store did not take, by what they are
};

/// Whether the worker is free to be asked something for a job that has not been won yet.
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

    /// The base state of the job's running round when the worker is ready to compute from it; otherwise
    /// starts whatever is missing. Pins the job's blobs. REQUIRES that no request of the caller is at work in
    /// the worker but of this job, which is open then.
    std::optional<SharedDescriptor> ready(const contracts::StateView& state, const contracts::Job& job);

    /// As ready(), for a job that may go to others: nothing is pinned.
    std::optional<SharedDescriptor> prepared(const contracts::StateView& state, const contracts::Job& job);

    /// As ready(), the state that an earlier round of the job started from, by the name of its record
    /// (Round::base_blob).
    std::optional<SharedDescriptor> earlier_base(const contracts::StateView& state, const contracts::Job& job,
                                                 const BlobId& named);

    /// The job's data, and the state that its round starts from unless that is computed from the seed: true
    /// when all of it is here, otherwise it is being fetched. The spec says how large each blob is; one that
    /// is described with another size is not taken. Leaves the worker alone.
    bool gather(const contracts::StateView& state, const contracts::Job& job, Pin pin = Pin::kPinned);

    /// Before bidding: whether the job's first state is all that its spec says. True at once for a job that
    /// starts from its seed. For one that starts from a file the buyer's word is not enough: data and file
    /// are fetched, the job is opened in the worker, and the file is checked against the root that the spec
    /// names; false until that is done, and for ever when it fails. Blobs go on coming while the worker is at
    /// work, and may be dropped again: nothing is pinned for a job that may go to others.
    bool vouched(const contracts::StateView& state, const contracts::Job& job, Worker worker);

    /// Before bidding: whether the worker could open the job, which it refuses where its memory is too small:
    /// the log then names what is needed and what there is. False until that is known, and for ever when it
    /// does not fit. While the worker is at work it is not known, and this is true.
    bool fits(const contracts::StateView& state, const contracts::Job& job, Worker worker);

    /// True when the worker has this job open, as far as is known: what it computes is then of this job.
    /// Otherwise starts whatever is missing for that, the base state apart. REQUIRES that no request of the
    /// caller is at work in the worker but of this job, which is open then.
    bool opened(const contracts::StateView& state, const contracts::Job& job);
    /// Whether it has, as far as is known.
    [[nodiscard]] bool has_open(const base::Hash256& job) const { return open_job_ == job; }

    /// Blob id of the base state file of the running round, once ready() gave it.
    [[nodiscard]] std::optional<BlobId> base_blob(const contracts::Job& job) const;

    /// Under which name the base state that a round record names is stored: its own, or for the state of
    /// round 0 that of the one that was asked for or checked here.
    [[nodiscard]] std::optional<BlobId> stored_base(const contracts::Job& job, const BlobId& named) const;

    /// What follows when the worker did not do a request for the job. With kAgain, ready() and vouched() give
    /// nothing for a pause, and open the job again if the worker has lost it.
    Remedy after_refusal(const base::Hash256& job, const worker::Refusal& refusal);
    /// Nothing is asked of the worker for this job for ten seconds: what came of it could not be stored.
    void rest(const base::Hash256& job);

    /// Adds the blobs of its own that a role still needs.
    using Keep = std::function<void(std::set<BlobId>& needed)>;

    /// Once a height: drops the blobs that were fetched for bidding and that no job needs any more, because
    /// it has ended or was refused, or its rounds run without `me`. At the start, and whenever a job's round
    /// was settled or the last claim of one closed: of all that is stored, what the jobs of `me` need, `keep`
    /// included, is pinned, and nothing else. The rest is served until its room is needed. A job needs what
    /// its running round does, and until its last claim is closed what a round needs to be replayed and
    /// disputed (open_rounds.hpp).
    void tidy(const contracts::StateView& state, std::uint64_t height, const base::PublicKey& me,
              const Keep& keep = {});

    /// Adds what rounds with open claims need, base states included.
    void keep_open_rounds(const contracts::StateView& state, const base::PublicKey& me,
                          std::set<BlobId>& needed);

    BlobWants& wants() { return wants_; }
    [[nodiscard]] const BlobWants& wants() const { return wants_; }

private:
    /// Whether both token files are here; otherwise they are being fetched.
    bool gather_data(const contracts::StateView& state, const contracts::Job& job, Pin pin);
    /// Whether the worker may be asked something for this job now.
    [[nodiscard]] bool may_ask(const base::Hash256& job) const;
    std::optional<SharedDescriptor> prepare(const contracts::StateView& state, const contracts::Job& job,
                                            Pin pin);
    /// The base of this name, when the worker has the job open.
    std::optional<SharedDescriptor> base_in_open_job(const contracts::StateView& state,
                                                     const contracts::Job& job, const BlobId& named, Pin pin);
    void open_in_worker(const contracts::Job& job);
    void on_opened(const contracts::Job& job, const WorkerAnswered& answer);
    void ask_initial(const contracts::Job& job);
    void on_initial(const contracts::Job& job, const WorkerAnswered& answer);
    void on_refusal(const contracts::Job& job, const std::string& what, const worker::Refusal& refusal);
    void refuse(const base::Hash256& job, const std::string& why);
    /// The jobs that `me` works for, enlisted or in their rounds, or has a claim in, each with the rounds of
    /// which it keeps bytes: those with open claims, and where it works for the job the running one.
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
    bool asking_ = false;                            ///< OpenJob or Initial is at work
    std::map<base::Hash256, BlobId> initial_blobs_;  ///< job -> base state of round 0, checked
    std::set<base::Hash256> fitting_;                ///< jobs that the worker has opened
    std::set<base::Hash256> refused_;  ///< jobs whose data or initial root are not what they say
    std::map<base::Hash256, std::uint64_t> not_before_ns_;  ///< job -> when the worker is asked again
    std::uint64_t tidied_at_ = 0;                           ///< height
    std::optional<Rounds> tidied_for_;                      ///< what was kept then
};

}  // namespace assay::node
