// SPDX-License-Identifier: Apache-2.0
#include "node/roles/job_bench.hpp"

#include "contracts/program/tensors.hpp"
#include "node/roles/following_role.hpp"
#include "node/runtime/log.hpp"
#include "node/worker/worker_client.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/state_bytes.hpp"

namespace assay::node {

namespace frames = trainer::worker;

namespace {
constexpr std::uint64_t kRetryPauseNs = 1'000'000'000;

std::string with_fix(const frames::Refusal& refusal) {
    return refusal.text + (refusal.fix.empty() ? "" : "; " + refusal.fix);
}

/// Blobs that a role computes from: those of the spec, and the state that the running round starts from.
std::vector<BlobId> blobs_of(const contracts::Job& job) {
    const program::JobSpec& spec = job.spec;
    return {spec.data.train, spec.data.held_out, spec.initial_blob, job.base_blob};
}
}  // namespace

bool BlobWants::here(const BlobId& id, const std::vector<Endpoint>& holders, const FetchTerms& terms) {
    if (files_.has(id)) {
        if (terms.pin == Pin::kPinned && files_.is_evictable(id)) files_.set_pin(id, Pin::kPinned);
        return true;
    }
    Attempt& attempt = attempts_[{id, terms.pin}];
    if (attempt.under_way || seams_.clock.mono_ns() < attempt.not_before_ns) return false;
    attempt.under_way = true;
    const RequestId request = requests_.on_blob([this, pin = terms.pin](const BlobFetched& fetched) {
        Attempt& ended = attempts_[{fetched.id, pin}];
        ended.under_way = false;
        if (fetched.result.ok()) return;
        ++ended.failures;
        ended.not_before_ns = seams_.clock.mono_ns() + kRetryPauseNs;
        log_warn("blob " + fetched.id.brief() + " not fetched: " + fetched.result.error().what);
    });
    seams_.blobs.fetch(request, id, terms, holders);
    return false;
}

std::optional<SharedDescriptor> BlobWants::want(const BlobId& id, const std::vector<Endpoint>& holders,
                                                const FetchTerms& terms) {
    if (!here(id, holders, terms)) return std::nullopt;
    return open(id);
}

std::optional<SharedDescriptor> BlobWants::open(const BlobId& id) {
    auto file = files_.open(id);
    if (file.ok()) return std::move(file).value();
    log_error(file.error());
    return std::nullopt;
}

std::uint32_t BlobWants::failures(const BlobId& id) const {
    const auto found = attempts_.find({id, Pin::kPinned});
    return found == attempts_.end() ? 0 : found->second.failures;
}

void BlobWants::drop_all_but(const std::set<BlobId>& needed) {
    for (const BlobId& id : files_.evictable()) {
        if (!needed.contains(id)) files_.drop(id);
    }
    std::erase_if(attempts_, [&](const auto& entry) {
        const auto& [id, pin] = entry.first;
        if (pin == Pin::kPinned || entry.second.under_way || needed.contains(id)) return false;
        if (!files_.has(id)) files_.drop(id);
        return true;
    });
}

bool JobBench::gather(const contracts::StateView& state, const contracts::Job& job, Pin pin) {
    const auto holders = holders_of_base(state, job);
    const program::JobSpec& spec = job.spec;
    const auto here = [&](const BlobId& id, std::uint64_t size) {
        return wants_.here(id, holders, {.size = size, .pin = pin});
    };
    const auto tokens_here = [&](const BlobId& id, std::uint64_t tokens) {
        return here(id, trainer::token_file_size(tokens, spec.model.vocabulary));
    };
    bool all = tokens_here(spec.data.train, spec.data.train_tokens);
    all = tokens_here(spec.data.held_out, spec.data.held_out_tokens) && all;
    if (job.base_blob.is_zero()) return all;
    return here(job.base_blob, trainer::base_state_bytes(program::parameter_count(spec.model))) && all;
}

std::optional<SharedDescriptor> JobBench::ready(const contracts::StateView& state,
                                                const contracts::Job& job) {
    return prepare(state, job, Pin::kPinned);
}

bool JobBench::vouched(const contracts::StateView& state, const contracts::Job& job, Worker worker) {
    if (job.spec.initial_blob.is_zero() || initial_blobs_.contains(job.id)) return true;
    if (worker == Worker::kFree) return prepare(state, job, Pin::kEvictable).has_value();
    if (!refused_.contains(job.id)) (void)gather(state, job, Pin::kEvictable);
    return false;
}

std::optional<SharedDescriptor> JobBench::prepare(const contracts::StateView& state,
                                                  const contracts::Job& job, Pin pin) {
    // The worker turns to a job only when nothing is missing any more: two jobs that wait for bytes would
    // otherwise take it from each other for ever.
    if (refused_.contains(job.id) || !gather(state, job, pin) || asking_) return std::nullopt;
    const auto pause = not_before_ns_.find(job.id);
    if (pause != not_before_ns_.end() && seams_.clock.mono_ns() < pause->second) return std::nullopt;
    if (open_job_ != job.id) {
        open_in_worker(job);
        return std::nullopt;
    }
    const auto blob = base_blob(job);
    if (!blob) {
        ask_initial(job);
        return std::nullopt;
    }
    return wants_.want(*blob, holders_of_base(state, job), {.size = {}, .pin = pin});
}

std::optional<BlobId> JobBench::base_blob(const contracts::Job& job) const {
    // What a merge made, two verifiers have agreed on. A first state is asked for, or checked, here.
    if (job.base_blob != job.spec.initial_blob) return job.base_blob;
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
        log_info("job " + job.id.brief() + " is open: " + std::to_string(opened->parameters) +
                 " parameters, a step takes " + step_memory(*opened));
        open_job_ = job.id;
    }
}

void JobBench::ask_initial(const contracts::Job& job) {
    std::vector<SharedDescriptor> bulk;
    if (!job.spec.initial_blob.is_zero()) {
        const auto file = wants_.open(job.spec.initial_blob);
        if (!file) return;
        bulk.push_back(*file);
    }
    asking_ = true;
    const RequestId request = requests_.on_worker([this, job](const WorkerAnswered& answer) {
        asking_ = false;
        on_initial(job, answer);
    });
    seams_.worker.submit(request, frames::Initial{}, std::move(bulk));
}

void JobBench::on_initial(const contracts::Job& job, const WorkerAnswered& answer) {
    if (const auto* refusal = std::get_if<frames::Refusal>(&answer.message)) {
        return on_refusal(job, "it has no first state: ", *refusal);
    }
    const auto* initial = std::get_if<frames::BaseState>(&answer.message);
    if (initial == nullptr || answer.bulk.empty()) return;
    if (initial->root != job.spec.initial_root) {
        return refuse(job.id, "its initial state has the root " + initial->root.brief() + ", the job names " +
                                  job.spec.initial_root.brief());
    }
    if (!job.spec.initial_blob.is_zero()) {
        initial_blobs_[job.id] = job.spec.initial_blob;
        return;
    }
    auto blob = files_.put(answer.bulk.front());
    if (!blob.ok()) return log_error(blob.error());
    initial_blobs_[job.id] = *blob;
}

bool JobBench::refused_for_good(const base::Hash256& job, const frames::Refusal& refusal) {
    using enum frames::RefusalReason;
    if (refusal.reason == kBadBytes || refusal.reason == kBadRequest || refusal.reason == kMachine) {
        return true;
    }
    if (refusal.reason == kNoJob) open_job_.reset();
    not_before_ns_[job] = seams_.clock.mono_ns() + kRetryPauseNs;
    return false;
}

void JobBench::on_refusal(const contracts::Job& job, const std::string& what,
                          const frames::Refusal& refusal) {
    if (refused_for_good(job.id, refusal)) return refuse(job.id, what + with_fix(refusal));
    log_warn("job " + job.id.brief() + ": " + what + with_fix(refusal) + "; it is tried again");
}

void JobBench::refuse(const base::Hash256& job, const std::string& why) {
    log_error("job " + job.brief() + " is refused: " + why);
    // Its blobs keep their pins: it may name some that are here for other jobs, to have them dropped.
    refused_.insert(job);
}

void JobBench::tidy(const contracts::StateView& state, std::uint64_t height, const base::PublicKey& me) {
    if (height == tidied_at_) return;
    tidied_at_ = height;
    std::set<BlobId> needed;
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        const bool of_others = job->phase == contracts::JobPhase::kRounds && !takes_part(*job, me);
        if (of_others || refused_.contains(id)) continue;
        for (const BlobId& blob : blobs_of(*job)) needed.insert(blob);
    }
    wants_.drop_all_but(needed);
}

}  // namespace assay::node
