// SPDX-License-Identifier: Apache-2.0
#include "node/roles/job_bench.hpp"

#include "node/roles/following_role.hpp"
#include "node/runtime/log.hpp"
#include "node/worker/worker_client.hpp"

namespace assay::node {

namespace frames = trainer::worker;

namespace {
constexpr std::uint64_t kRetryPauseNs = 1'000'000'000;
}

std::optional<SharedDescriptor> BlobWants::want(const BlobId& id, const std::vector<Endpoint>& holders) {
    if (files_.has(id)) {
        auto file = files_.open(id);
        if (file.ok()) return std::move(file).value();
        log_error(file.error());
        return std::nullopt;
    }
    Attempt& attempt = attempts_[id];
    if (attempt.under_way || seams_.clock.mono_ns() < attempt.not_before_ns) return std::nullopt;
    attempt.under_way = true;
    const RequestId request = requests_.on_blob([this](const BlobFetched& fetched) {
        Attempt& ended = attempts_[fetched.id];
        ended.under_way = false;
        if (fetched.result.ok()) return;
        ++ended.failures;
        ended.not_before_ns = seams_.clock.mono_ns() + kRetryPauseNs;
        log_warn("blob " + fetched.id.brief() + " not fetched: " + fetched.result.error().what);
    });
    seams_.blobs.fetch(request, id, holders);
    return std::nullopt;
}

std::uint32_t BlobWants::failures(const BlobId& id) const {
    const auto found = attempts_.find(id);
    return found == attempts_.end() ? 0 : found->second.failures;
}

bool JobBench::gather(const contracts::StateView& state, const contracts::Job& job) {
    const auto holders = holders_of_base(state, job);
    bool here = wants_.want(job.spec.data.train, holders).has_value();
    here = wants_.want(job.spec.data.held_out, holders).has_value() && here;
    if (!job.base_blob.is_zero()) here = wants_.want(job.base_blob, holders).has_value() && here;
    return here;
}

std::optional<SharedDescriptor> JobBench::ready(const contracts::StateView& state,
                                                const contracts::Job& job) {
    // The worker turns to a job only when nothing is missing any more: two jobs that wait for bytes would
    // otherwise take it from each other for ever.
    if (asking_ || refused_.contains(job.id) || !gather(state, job)) return std::nullopt;
    if (open_job_ != job.id) {
        open_in_worker(state, job);
        return std::nullopt;
    }
    const auto blob = base_blob(job);
    if (!blob) {
        ask_initial(state, job);
        return std::nullopt;
    }
    return wants_.want(*blob, holders_of_base(state, job));
}

bool JobBench::vouched(const contracts::StateView& state, const contracts::Job& job) {
    if (job.spec.initial_blob.is_zero() || initial_blobs_.contains(job.id)) return true;
    return ready(state, job).has_value();
}

std::optional<BlobId> JobBench::base_blob(const contracts::Job& job) const {
    // What a merge made, two verifiers have agreed on. A first state is asked for, or checked, here.
    if (job.base_blob != job.spec.initial_blob) return job.base_blob;
    const auto found = initial_blobs_.find(job.id);
    if (found == initial_blobs_.end()) return std::nullopt;
    return found->second;
}

void JobBench::open_in_worker(const contracts::StateView& state, const contracts::Job& job) {
    const auto holders = holders_of_base(state, job);
    const auto train = wants_.want(job.spec.data.train, holders);
    const auto held_out = wants_.want(job.spec.data.held_out, holders);
    if (!train || !held_out) return;
    asking_ = true;
    const RequestId request = requests_.on_worker([this, id = job.id](const WorkerAnswered& answer) {
        asking_ = false;
        if (const auto* refusal = std::get_if<frames::Refusal>(&answer.message)) {
            return refuse(id, "it cannot be opened: " + refusal->text +
                                  (refusal->fix.empty() ? "" : "; " + refusal->fix));
        }
        if (const auto* opened = std::get_if<frames::Opened>(&answer.message)) {
            log_info("job " + id.brief() + " is open: " + std::to_string(opened->parameters) +
                     " parameters, a step takes " + step_memory(*opened));
        }
        open_job_ = id;
    });
    seams_.worker.submit(request, frames::OpenJob{.chain_id = chain_id_, .spec = job.spec},
                         {*train, *held_out});
}

void JobBench::ask_initial(const contracts::StateView& state, const contracts::Job& job) {
    std::vector<SharedDescriptor> bulk;
    if (!job.spec.initial_blob.is_zero()) {
        const auto file = wants_.want(job.spec.initial_blob, holders_of_base(state, job));
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
    if (const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
        refusal != nullptr && refusal->reason == frames::RefusalReason::kBadBytes) {
        return refuse(job.id, refusal->text);
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

void JobBench::refuse(const base::Hash256& job, const std::string& why) {
    log_error("job " + job.brief() + " is refused: " + why);
    refused_.insert(job);
}

}  // namespace assay::node
