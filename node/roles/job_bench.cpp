// SPDX-License-Identifier: Apache-2.0
#include "node/roles/job_bench.hpp"

#include <algorithm>

#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/roster.hpp"
#include "node/roles/following_role.hpp"

namespace assay::node {

namespace frames = worker;

namespace {
constexpr std::uint64_t kRetryPauseNs = 1'000'000'000;
/// Before verifiers that fetch other parts are asked again.
constexpr std::uint64_t kPartsPauseNs = kRetryPauseNs / 4;
constexpr std::uint64_t kLongestPauseNs = 60 * kRetryPauseNs;
constexpr std::uint64_t kRestNs = 10 * kRetryPauseNs;
constexpr std::uint64_t kForgottenNs = 600 * kRetryPauseNs;

/// Blobs that a role computes from: those of the spec, and the state that the running round starts from.
std::vector<BlobId> blobs_of(const contracts::Job& job) {
    const program::JobSpec& spec = job.spec;
    return {spec.data.train, spec.data.held_out, spec.initial_blob, job.base_blob};
}
}  // namespace

FetchTerms base_state_terms(const program::JobSpec& spec, Pin pin) {
    return {.size = program::file_sizes(spec).base_state, .pin = pin, .traffic = Traffic::kBase};
}

FetchTerms update_terms(const program::JobSpec& spec) {
    return {.size = std::nullopt,
            .most = program::file_sizes(spec).update,
            .pin = Pin::kPinned,
            .traffic = Traffic::kUpdate};
}

bool BlobWants::here(const BlobId& id, const std::vector<Endpoint>& holders, const FetchTerms& terms) {
    if (files_.has(id)) {
        if (terms.pin == Pin::kEvictable) return true;
        if (files_.is_evictable(id) && !keep(id)) return false;
        forget_bidding(id);
        return true;
    }
    const AttemptKey key{id, terms.pin, terms.owed_by};
    Attempt& attempt = attempts_[key];
    attempt.wanted_ns = seams_.clock.mono_ns();
    if (attempt.under_way || seams_.clock.mono_ns() < attempt.not_before_ns) return false;
    attempt.under_way = true;
    const RequestId request =
        requests_.on_blob([this, key](const BlobFetched& fetched) { on_fetched(key, fetched); },
                          [this, key] { attempts_[key].asked_at_ns = seams_.clock.mono_ns(); },
                          [this, key] { on_arriving(attempts_[key]); });
    seams_.blobs.fetch(request, id, terms, holders);
    return false;
}

// Its owner may have been gone for a while before. It is believed once: else whoever gives a chunk of each
// attempt would never have failed.
void BlobWants::on_arriving(Attempt& attempt) {
    if (!std::exchange(attempt.forgiven, true)) attempt.unserved = attempt.busy = 0;
}

void BlobWants::on_fetched(const AttemptKey& key, const BlobFetched& fetched) {
    Attempt& ended = attempts_[key];
    ended.under_way = false;
    ended.asked_at_ns.reset();
    if (fetched.result.ok()) {
        ended.pause_ns = 0;
        ended.said.clear();
        return;
    }
    const FetchFault fault = fetched.result.error().fault;
    ++ended.failed;
    if (fault == FetchFault::kNotServed) ++ended.unserved;
    if (fault == FetchFault::kBusy) ++ended.busy;
    // Work waits for its blob; for bidding, a blob that nobody serves is asked for less and less.
    const bool longer = std::get<Pin>(key) == Pin::kEvictable && ended.pause_ns > 0;
    ended.pause_ns = longer ? std::min(2 * ended.pause_ns, kLongestPauseNs) : kRetryPauseNs;
    if (fault == FetchFault::kPartsLacking) ended.pause_ns = kPartsPauseNs;
    ended.not_before_ns = seams_.clock.mono_ns() + ended.pause_ns;
    log_once(ended, "blob " + fetched.id.brief() + " not fetched: " + fetched.result.error().what);
}

bool BlobWants::keep(const BlobId& id) {
    const auto kept = files_.set_pin(id, Pin::kPinned);
    if (!kept.ok()) {
        log_once(attempts_[{id, Pin::kPinned, {}}],
                 "blob " + id.brief() + " not pinned: " + kept.error().what);
    }
    return kept.ok();
}

// What the work has taken over is the work's: once unpinned it is served until its room is needed.
void BlobWants::forget_bidding(const BlobId& id) {
    const auto found = attempts_.find({id, Pin::kEvictable, {}});
    if (found != attempts_.end() && !found->second.under_way) attempts_.erase(found);
}

void BlobWants::log_once(Attempt& attempt, const std::string& text) {
    if (attempt.said != text) seams_.log.warn(text);
    attempt.said = text;
}

std::optional<SharedDescriptor> BlobWants::want(const BlobId& id, const std::vector<Endpoint>& holders,
                                                const FetchTerms& terms) {
    if (!here(id, holders, terms)) return std::nullopt;
    return open(id);
}

std::vector<BlobId> BlobWants::known_files(const BlobId& head, const StateTerms& terms) {
    std::vector<BlobId> known{head};
    const std::vector<BlobId> arrays = named_arrays(files_, head, terms);
    known.insert(known.end(), arrays.begin(), arrays.end());
    return known;
}

std::optional<StateFiles> BlobWants::want_state(const BlobId& head, const std::vector<Endpoint>& holders,
                                                const StateTerms& terms) {
    const auto file = want(head, holders, terms.file_terms(terms.head_bytes));
    if (!file) return std::nullopt;
    StateFiles all{*file};
    const std::vector<BlobId> arrays = named_arrays(files_, head, terms);
    for (const BlobId& array : arrays) {
        const auto one = want(array, holders, terms.file_terms(terms.array_bytes));
        if (one) all.push_back(*one);
    }
    if (all.size() <= arrays.size()) return std::nullopt;
    return all;
}

std::optional<SharedDescriptor> BlobWants::open(const BlobId& id) {
    auto file = files_.open(id);
    if (file.ok()) return std::move(file).value();
    seams_.log.error(file.error());
    return std::nullopt;
}

BlobWants::Tries BlobWants::tries(const BlobId& id, const base::PublicKey& owed_by) const {
    const auto found = attempts_.find({id, Pin::kPinned, owed_by});
    if (found == attempts_.end()) return {};
    Tries tries{found->second.unserved, found->second.busy, found->second.failed, {}};
    if (!found->second.under_way) return tries;
    // Its blobs come one after the other: one that it gives slowly holds up those behind it.
    const auto seen = [&](const Attempt& attempt) {
        if (!attempt.under_way || !attempt.asked_at_ns) return;
        const std::uint64_t ns = seams_.clock.mono_ns() - *attempt.asked_at_ns;
        tries.asked_ns = std::max(ns, tries.asked_ns.value_or(0));
    };
    seen(found->second);
    for (const auto& [key, attempt] : attempts_) {
        if (!owed_by.is_zero() && std::get<base::PublicKey>(key) == owed_by) seen(attempt);
    }
    return tries;
}

std::optional<BlobId> BlobWants::put(const SharedDescriptor& file, const std::string& what, Serving serving) {
    Attempt& attempt = puts_[what];
    if (seams_.clock.mono_ns() < attempt.not_before_ns) return std::nullopt;
    auto blob = files_.put(file, serving);
    if (blob.ok()) {
        puts_.erase(what);
        return *blob;
    }
    attempt.not_before_ns = seams_.clock.mono_ns() + kRetryPauseNs;
    log_once(attempt, what + " not stored: " + blob.error().what);
    return std::nullopt;
}

std::optional<BlobId> BlobWants::put_state(const StateFiles& files, const std::string& what,
                                           Serving serving) {
    for (std::size_t i = 1; i < files.size(); ++i) {
        if (!put(files[i], what + ", array " + std::to_string(i), serving)) return std::nullopt;
    }
    return put(files.front(), what, serving);
}

void BlobWants::drop_all_but(const std::set<BlobId>& needed) {
    const std::uint64_t now = seams_.clock.mono_ns();
    std::erase_if(puts_, [&](const auto& entry) { return now >= entry.second.not_before_ns + kForgottenNs; });
    std::erase_if(attempts_, [&](const auto& entry) {
        const auto& [id, pin, owed_by] = entry.first;
        if (entry.second.under_way) return false;
        // Whoever still waits for it asks at every event.
        if (pin == Pin::kPinned) return now >= entry.second.wanted_ns + kForgottenNs;
        if (needed.contains(id)) return false;
        if (!files_.has(id) || files_.is_evictable(id)) files_.drop(id);
        return true;
    });
}

bool JobBench::gather_data(const contracts::StateView& state, const contracts::Job& job, Pin pin) {
    const auto holders = holders_of_base(state, job);
    const program::JobSpec& spec = job.spec;
    const auto tokens_here = [&](const BlobId& id, std::uint64_t tokens) {
        return wants_.here(id, holders,
                           {.size = program::token_file_size(tokens, spec.model.vocabulary),
                            .pin = pin,
                            .traffic = Traffic::kData});
    };
    const bool train = tokens_here(spec.data.train, spec.data.train_tokens);
    return tokens_here(spec.data.held_out, spec.data.held_out_tokens) && train;
}

bool JobBench::gather_earlier(const contracts::StateView& state, const contracts::Job& job,
                              const BlobId& named, Pin pin) {
    const bool data = gather_data(state, job, pin);
    if (named.is_zero()) return data;
    return wants_.here(named, holders_of_base(state, job), base_state_terms(job.spec, pin)) && data;
}

bool JobBench::may_ask(const base::Hash256& job) const {
    if (asking_) return false;
    const auto pause = not_before_ns_.find(job);
    return pause == not_before_ns_.end() || seams_.clock.mono_ns() >= pause->second;
}

bool JobBench::opened(const contracts::StateView& state, const contracts::Job& job, Pin pin) {
    if (refused_.contains(job.id) || !gather_data(state, job, pin) || !may_ask(job.id)) return false;
    if (open_job_ != job.id) open_in_worker(job);
    return open_job_ == job.id;
}

std::optional<SharedDescriptor> JobBench::ready(const contracts::StateView& state,
                                                const contracts::Job& job) {
    return earlier_base(state, job, job.base_blob, Pin::kPinned);
}

std::optional<SharedDescriptor> JobBench::prepared(const contracts::StateView& state,
                                                   const contracts::Job& job) {
    return earlier_base(state, job, job.base_blob, Pin::kEvictable);
}

bool JobBench::vouched(const contracts::StateView& state, const contracts::Job& job, Worker worker) {
    if (job.spec.initial_blob.is_zero() || initial_blobs_.contains(job.id)) return true;
    if (worker == Worker::kFree) return prepared(state, job).has_value();
    if (!refused_.contains(job.id)) (void)gather(state, job, Pin::kEvictable);
    return false;
}

bool JobBench::fits(const contracts::StateView& state, const contracts::Job& job, Worker worker) {
    if (refused_.contains(job.id)) return false;
    if (fitting_.contains(job.id) || worker == Worker::kAtWork) return true;
    if (!gather_data(state, job, Pin::kEvictable) || !may_ask(job.id)) return false;
    open_in_worker(job);
    return false;
}

std::optional<SharedDescriptor> JobBench::base_in_open_job(const contracts::StateView& state,
                                                           const contracts::Job& job, const BlobId& named,
                                                           Pin pin) {
    if (open_job_ != job.id) {
        open_in_worker(job);
        return std::nullopt;
    }
    const auto blob = stored_base(job, named);
    const bool is_made = named == job.spec.initial_blob && named.is_zero();
    if (!blob || (is_made && !files_.has(*blob))) {
        ask_initial(job, pin);
        return std::nullopt;
    }
    return wants_.want(*blob, holders_of_base(state, job), base_state_terms(job.spec, pin));
}

std::optional<SharedDescriptor> JobBench::earlier_base(const contracts::StateView& state,
                                                       const contracts::Job& job, const BlobId& named,
                                                       Pin pin) {
    // The worker turns to a job only when nothing is missing any more: two jobs that wait for bytes would
    // otherwise take it from each other for ever.
    const bool here = !refused_.contains(job.id) && gather_earlier(state, job, named, pin);
    if (!here || !may_ask(job.id)) return std::nullopt;
    return base_in_open_job(state, job, named, pin);
}

std::optional<BlobId> JobBench::base_blob(const contracts::Job& job) const {
    return stored_base(job, job.base_blob);
}

bool JobBench::drop_changed_base(const contracts::Job& job, const BlobId& named) {
    const auto blob = stored_base(job, named);
    if (!blob || !files_.has(*blob) || files_.is_intact(*blob)) return false;
    files_.drop(*blob);
    std::erase_if(initial_blobs_, [&](const auto& entry) { return entry.second == *blob; });
    seams_.log.warn("the base state " + blob->brief() + " of job " + job.id.brief() +
                    " has changed on our disk; it is fetched or made again");
    return true;
}

std::optional<BlobId> JobBench::stored_base(const contracts::Job& job, const BlobId& named) const {
    // What a merge made, a majority of the stake has attested. A first state is asked for, or checked, here.
    if (named != job.spec.initial_blob) return named;
    const auto found = initial_blobs_.find(job.id);
    if (found == initial_blobs_.end()) return std::nullopt;
    return found->second;
}

void JobBench::open_in_worker(const contracts::Job& job) {
    const auto train = wants_.open(job.spec.data.train);
    const auto held_out = wants_.open(job.spec.data.held_out);
    if (!train || !held_out) return;
    // The worker drops its job before it looks at the next one, and may refuse that.
    open_job_.reset();
    asking_ = true;
    const RequestId request = requests_.on_worker([this, job](const WorkerAnswered& answer) {
        asking_ = false;
        on_opened(job, answer);
    });
    seams_.worker.submit(request, frames::OpenJob{.chain_id = chain_id_, .spec = job.spec},
                         {*train, *held_out});
}

void JobBench::on_opened(const contracts::Job& job, const WorkerAnswered& answer) {
    if (const auto* refusal = std::get_if<frames::Refusal>(&answer.message)) {
        return on_refusal(job, "it cannot be opened: ", *refusal);
    }
    if (const auto* opened = std::get_if<frames::Opened>(&answer.message)) {
        seams_.log.info("job " + job.id.brief() + " is open: " + std::to_string(opened->parameters) +
                        " parameters, a step takes " + step_memory(*opened));
        open_job_ = job.id;
        fitting_.insert(job.id);
        return;
    }
    rest(job.id);  // a frame of another kind: the worker is not of our build
}

void JobBench::ask_initial(const contracts::Job& job, Pin pin) {
    std::vector<SharedDescriptor> bulk;
    if (!job.spec.initial_blob.is_zero()) {
        const auto file = wants_.open(job.spec.initial_blob);
        if (!file) return;
        bulk.push_back(*file);
    }
    asking_ = true;
    const RequestId request = requests_.on_worker([this, job, pin](const WorkerAnswered& answer) {
        asking_ = false;
        on_initial(job, pin, answer);
    });
    seams_.worker.submit(request, frames::Initial{}, std::move(bulk));
}

void JobBench::on_initial(const contracts::Job& job, Pin pin, const WorkerAnswered& answer) {
    if (const auto* refusal = std::get_if<frames::Refusal>(&answer.message)) {
        return on_refusal(job, "it has no first state: ", *refusal);
    }
    const auto* initial = std::get_if<frames::BaseStateFrame>(&answer.message);
    if (initial == nullptr || answer.bulk.empty()) return rest(job.id);
    if (initial->root != job.spec.initial_root) {
        return refuse(job.id, "its initial state has the root " + initial->root.brief() + ", the job names " +
                                  job.spec.initial_root.brief());
    }
    if (!job.spec.initial_blob.is_zero()) {
        initial_blobs_[job.id] = job.spec.initial_blob;
        return;
    }
    const auto blob = wants_.put(answer.bulk.front(), "the first state of job " + job.id.brief());
    if (!blob) return rest(job.id);
    if (pin == Pin::kEvictable) (void)files_.set_pin(*blob, pin);
    initial_blobs_[job.id] = *blob;
}

Remedy JobBench::after_refusal(const base::Hash256& job, const frames::Refusal& refusal) {
    const Remedy remedy = remedy_for(refusal);
    if (refusal.reason == frames::RefusalReason::kNoJob) open_job_.reset();
    if (remedy != Remedy::kNever) {
        std::uint64_t& until = not_before_ns_[job];  // a longer rest goes on
        until = std::max(until, seams_.clock.mono_ns() + kRetryPauseNs);
    }
    return remedy;
}

void JobBench::rest(const base::Hash256& job) { not_before_ns_[job] = seams_.clock.mono_ns() + kRestNs; }

void JobBench::on_refusal(const contracts::Job& job, const std::string& what,
                          const frames::Refusal& refusal) {
    if (after_refusal(job.id, refusal) == Remedy::kNever) return refuse(job.id, what + with_fix(refusal));
    seams_.log.warn("job " + job.id.brief() + ": " + what + with_fix(refusal) + "; it is tried again");
}

void JobBench::refuse(const base::Hash256& job, const std::string& why) {
    seams_.log.error("job " + job.brief() + " is refused: " + why);
    // Its blobs keep their pins: it may name some that are here for other jobs, to have them dropped.
    refused_.insert(job);
}

void JobBench::tidy(const contracts::StateView& state, std::uint64_t height, const base::PublicKey& me,
                    const Keep& keep, const Keep& borrowed) {
    if (height == tidied_at_) return;
    tidied_at_ = height;
    std::set<BlobId> needed;
    if (borrowed) borrowed(needed);
    Rounds rounds;
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        const bool in_rounds = job->phase == contracts::JobPhase::kRounds;
        std::vector<std::uint32_t> kept = open_rounds(state, *job, me);
        // Whoever enlisted has promised to audit, before there is a round.
        const bool works = takes_part(*job, me);
        if (works && (kept.empty() || kept.back() < job->round)) kept.push_back(job->round);
        if (!kept.empty()) rounds.emplace_back(id, std::move(kept));
        // A job with places left is one to join.
        const bool of_others = in_rounds && !works && contracts::open_places(state, *job) == 0;
        if (of_others || refused_.contains(id)) continue;
        for (const BlobId& blob : blobs_of(*job)) needed.insert(blob);
    }
    if (tidied_for_ != rounds) {
        const auto ended = [&](const base::Hash256& id) { return contracts::has_ended(state, id); };
        std::erase_if(refused_, ended);
        std::erase_if(fitting_, ended);
        std::erase_if(not_before_ns_, [&](const auto& entry) { return ended(entry.first); });
        pin_needed(state, me, rounds, keep);
        tidied_for_ = std::move(rounds);
    }
    wants_.drop_all_but(needed);
}

void JobBench::pin_needed(const contracts::StateView& state, const base::PublicKey& me, const Rounds& rounds,
                          const Keep& keep) {
    std::set<BlobId> needed;
    open_.forget_all_but(rounds);
    std::set<BlobId> open;
    for (const auto& [id, numbers] : rounds) {
        const auto job = contracts::read_job(state, id);
        add_running(state, *job, needed);
        for (const std::uint32_t number : numbers) {
            add_open(state, *job, number, me, refused_.contains(id) ? needed : open);
        }
    }
    // What came without a pin, or lost it.
    for (const BlobId& blob : open) {
        if (files_.is_evictable(blob)) (void)wants_.keep(blob);
    }
    needed.merge(open);
    if (keep) keep(needed);
    add_arrays(files_, needed);
    if (const auto unpinned = files_.pin_only(needed); !unpinned.ok()) seams_.log.error(unpinned.error());
}

void JobBench::add_running(const contracts::StateView& state, const contracts::Job& job,
                           std::set<BlobId>& needed) {
    for (const BlobId& blob : blobs_of(job)) needed.insert(blob);
    needed.insert(job.spec.data.tokenizer);
    needed.insert(job.spec.data.manifest);
    if (const auto first = initial_blobs_.find(job.id); first != initial_blobs_.end()) {
        if (job.round == 0 || job.base_blob == job.spec.initial_blob) needed.insert(first->second);
    }
    for (std::uint32_t slot = 0; slot < job.spec.slots; ++slot) {
        if (const auto serve = contracts::read_serve(state, job.id, job.round, slot)) {
            for (const contracts::RunStart& start : serve->starts) needed.insert(start.blob);
        }
        if (const auto reveal = contracts::read_reveal(state, job.id, job.round, slot)) {
            needed.insert(reveal->update_blob);
            needed.insert(reveal->carried_blob);
        }
    }
}

void JobBench::add_open(const contracts::StateView& state, const contracts::Job& job, std::uint32_t round,
                        const base::PublicKey& me, std::set<BlobId>& needed) {
    const KeptRound kept = open_.kept(state, job, round, me);
    needed.insert(kept.blobs.begin(), kept.blobs.end());
    // A state that follows from the seed alone is made again where its name is not known.
    if (const auto base = stored_base(job, kept.base)) needed.insert(*base);
}

void JobBench::keep_open_rounds(const contracts::StateView& state, const base::PublicKey& me,
                                std::set<BlobId>& needed) {
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        for (const std::uint32_t round : open_rounds(state, *job, me))
            add_open(state, *job, round, me, needed);
    }
}

}  // namespace assay::node
